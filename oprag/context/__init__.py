"""From retrieved chunks to ordered passages within a budget: start at `assembly`."""

from oprag.context.assembly import arrange, order_context
from oprag.context.budgeting import SentText
from oprag.context.columns import HEAD_JOINT, Columns
from oprag.context.docstrings import described, documented, list_options
from oprag.context.options import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
    Order,
    OrderingKeywords,
    ReadingKeywords,
    SourceTexts,
    check_option,
    refuse_unknown,
)
from oprag.context.rendering import marked_texts, numbering, render
from oprag.context.results import Arranged, Rebuilt
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

__all__ = [
    "DEFAULTS",
    "DESCRIPTIONS",
    "HEAD_JOINT",
    "Arranged",
    "Columns",
    "ContextKeywords",
    "ContextOptions",
    "FetchPlan",
    "Order",
    "OrderingKeywords",
    "Overflow",
    "ReadingKeywords",
    "Rebuilt",
    "Selection",
    "SentText",
    "SourceTexts",
    "arrange",
    "candidates_for",
    "check_option",
    "chunks_for_units",
    "described",
    "documented",
    "extract_segments",
    "fill_budget",
    "list_options",
    "marked_texts",
    "numbering",
    "order_context",
    "refuse_unknown",
    "render",
    "too_small",
    "unfilled_message",
]
