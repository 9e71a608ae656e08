"""From retrieved chunks to ordered passages within a budget; `arrange` does it."""

from oprag.context.assembly import OrderedContext, arrange, load_texts_then
from oprag.context.budget import SHORT_CHUNK, count_seeds, too_small
from oprag.context.fields import OpragErrorsMixin
from oprag.context.from_texts import order_context
from oprag.context.neighbours import (
    NO_NEIGHBOURS,
    CandidateTail,
    NeighbourSearch,
    check_widening,
)
from oprag.context.numbers import CitationNumbers
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
from oprag.context.ordinals import count_unnumbered
from oprag.context.passages import read_passages, single_passage
from oprag.context.places import locate_hits
from oprag.context.problems import Problems, warn
from oprag.context.ranks import sort_by_rank
from oprag.context.results import result_id, result_metadata, write_place
from oprag.context.seen import Seen
from oprag.context.text import cite_text, headers, number_text, render

__all__ = [
    "DEFAULTS",
    "DESCRIPTIONS",
    "NO_NEIGHBOURS",
    "SHORT_CHUNK",
    "CandidateTail",
    "CitationNumbers",
    "ContextKeywords",
    "ContextOptions",
    "NeighbourSearch",
    "OnProblem",
    "OpragErrorsMixin",
    "Order",
    "OrderedContext",
    "OrderingKeywords",
    "Problems",
    "Seen",
    "Selection",
    "Widen",
    "arrange",
    "check_option",
    "check_widening",
    "cite_text",
    "count_seeds",
    "count_unnumbered",
    "headers",
    "load_texts_then",
    "locate_hits",
    "number_text",
    "order_context",
    "read_passages",
    "render",
    "result_id",
    "result_metadata",
    "single_passage",
    "sort_by_rank",
    "too_small",
    "warn",
    "write_place",
]
