"""From retrieved chunks to ordered passages within a budget: start at `assembly`."""

from oprag.context.assembly import arrange, order_context
from oprag.context.columns import HEAD_JOINT, Columns
from oprag.context.counting import SentText
from oprag.context.fetching import FetchPlan, chunks_for_units, unfilled_message
from oprag.context.options import ContextOptions, Order, SourceTexts
from oprag.context.presets import check_preset, with_preset
from oprag.context.rendering import marked_texts, numbering, render
from oprag.context.results import Arranged, Rebuilt
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
    "Arranged",
    "Columns",
    "ContextOptions",
    "FetchPlan",
    "Order",
    "Overflow",
    "Rebuilt",
    "Selection",
    "SentText",
    "SourceTexts",
    "arrange",
    "candidates_for",
    "check_preset",
    "chunks_for_units",
    "extract_segments",
    "fill_budget",
    "marked_texts",
    "numbering",
    "order_context",
    "render",
    "too_small",
    "unfilled_message",
    "with_preset",
]
