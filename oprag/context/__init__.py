"""From retrieved chunks to ordered passages within a budget; `arrange` does it."""

from oprag.context.assembly import Arranged, arrange, with_texts
from oprag.context.budget import FetchPlan, too_small
from oprag.context.fields import OwnErrors
from oprag.context.from_texts import order_context
from oprag.context.neighbours import ALONE, Neighbours, Widening, check_widening
from oprag.context.numbers import Numbers
from oprag.context.options import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
    OnProblem,
    Order,
    OrderingKeywords,
    Selection,
    Widen,
    check_option,
)
from oprag.context.passages import read_passages, single_passage
from oprag.context.places import find_places
from oprag.context.problems import Problems, warn
from oprag.context.ranks import by_rank
from oprag.context.results import result_id, result_metadata, write_place
from oprag.context.seen import Seen
from oprag.context.text import cited_text, headers, numbered_text, render

__all__ = [
    "ALONE",
    "DEFAULTS",
    "DESCRIPTIONS",
    "Arranged",
    "ContextKeywords",
    "ContextOptions",
    "FetchPlan",
    "Neighbours",
    "Numbers",
    "OnProblem",
    "Order",
    "OrderingKeywords",
    "OwnErrors",
    "Problems",
    "Seen",
    "Selection",
    "Widen",
    "Widening",
    "arrange",
    "by_rank",
    "check_option",
    "check_widening",
    "cited_text",
    "find_places",
    "headers",
    "numbered_text",
    "order_context",
    "read_passages",
    "render",
    "result_id",
    "result_metadata",
    "single_passage",
    "too_small",
    "warn",
    "with_texts",
    "write_place",
]
