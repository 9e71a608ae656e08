"""From retrieved chunks to ordered passages within a budget; `arrange` does it."""

from oprag.context.assembly import arrange, order_context
from oprag.context.awaiting import with_texts
from oprag.context.budgeting import SentText
from oprag.context.columns import HEAD_JOINT, Columns
from oprag.context.docstrings import described, documented, list_options
from oprag.context.evidence import Evidence, gather_evidence
from oprag.context.options import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
    OnProblem,
    Order,
    OrderingKeywords,
    ReadingKeywords,
    check_locating,
    check_option,
)
from oprag.context.plain_errors import PlainErrors, refusal, unnamed
from oprag.context.problems import Problems, warn
from oprag.context.rendering import marked_texts, numbering, render
from oprag.context.results import Result, place_metadata, put_place, single_passage
from oprag.context.returned import read_passages, result_of
from oprag.context.seen import Seen, SeenLike
from oprag.context.segments import extract_segments
from oprag.context.selection import (
    FetchPlan,
    Overflow,
    Selection,
    candidates_for,
    chunks_for_units,
    fill_budget,
    too_small,
    unfilled_message,
)
from oprag.context.showing import PlainRepr, shown
from oprag.context.unknown import (
    BUDGET_WORDS,
    COUNT_WORDS,
    GONE,
    knows_its_options,
    refuse_unknown,
)

__all__ = [
    "BUDGET_WORDS",
    "COUNT_WORDS",
    "DEFAULTS",
    "DESCRIPTIONS",
    "GONE",
    "HEAD_JOINT",
    "Columns",
    "ContextKeywords",
    "ContextOptions",
    "Evidence",
    "FetchPlan",
    "OnProblem",
    "Order",
    "OrderingKeywords",
    "Overflow",
    "PlainErrors",
    "PlainRepr",
    "Problems",
    "ReadingKeywords",
    "Result",
    "Seen",
    "SeenLike",
    "Selection",
    "SentText",
    "arrange",
    "candidates_for",
    "check_locating",
    "check_option",
    "chunks_for_units",
    "described",
    "documented",
    "extract_segments",
    "fill_budget",
    "gather_evidence",
    "knows_its_options",
    "list_options",
    "marked_texts",
    "numbering",
    "order_context",
    "place_metadata",
    "put_place",
    "read_passages",
    "refusal",
    "refuse_unknown",
    "render",
    "result_of",
    "shown",
    "single_passage",
    "too_small",
    "unfilled_message",
    "unnamed",
    "warn",
    "with_texts",
]
