"""From retrieved chunks to ordered passages within a budget: start at `assembly`."""

from oprag.context.assembly import assemble, falling_scores, order_context
from oprag.context.columns import HEAD_JOINT, plain_case
from oprag.context.counting import SentText
from oprag.context.fetching import FetchPlan, chunks_for_units, unfilled_message
from oprag.context.options import ContextOptions, Order, SourceTexts
from oprag.context.presets import check_preset, with_preset
from oprag.context.rendering import marked_texts, numbering, render
from oprag.context.segments import extract_segments
from oprag.context.selection import (
    Overflow,
    Selection,
    candidates_for,
    fill_budget,
    too_small,
)

__all__ = [
    "HEAD_JOINT",
    "ContextOptions",
    "FetchPlan",
    "Order",
    "Overflow",
    "Selection",
    "SentText",
    "SourceTexts",
    "assemble",
    "candidates_for",
    "check_preset",
    "chunks_for_units",
    "extract_segments",
    "falling_scores",
    "fill_budget",
    "marked_texts",
    "numbering",
    "order_context",
    "plain_case",
    "render",
    "too_small",
    "unfilled_message",
    "with_preset",
]
