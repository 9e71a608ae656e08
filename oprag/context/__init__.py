"""From retrieved chunks to ordered passages within a budget; `arrange` does it."""

from oprag.context.assembly import Arranged, arrange, with_texts
from oprag.context.budget import FetchPlan, too_small
from oprag.context.conversations import Conversations
from oprag.context.evidence import (
    NOTHING_FOUND,
    Evidence,
    gather_evidence,
    search_description,
)
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
from oprag.context.text import headers, numbered_text, render
from oprag.context.tool_texts import show_in_place

__all__ = [
    "ALONE",
    "DEFAULTS",
    "DESCRIPTIONS",
    "NOTHING_FOUND",
    "Arranged",
    "ContextKeywords",
    "ContextOptions",
    "Conversations",
    "Evidence",
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
    "find_places",
    "gather_evidence",
    "headers",
    "numbered_text",
    "order_context",
    "read_passages",
    "render",
    "result_id",
    "result_metadata",
    "search_description",
    "show_in_place",
    "single_passage",
    "too_small",
    "warn",
    "with_texts",
    "write_place",
]
