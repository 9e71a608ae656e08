"""LongRAG: documents grouped into long units, found by chunks, read in two calls."""

from oprag.units.grouping_documents import LongUnit, group_documents
from oprag.units.long_prompts import (
    DIRECT_PROMPT,
    LONG_PROMPT,
    PROMPT_VARIABLES,
    SHORT_PROMPT,
    format_examples,
)
from oprag.units.long_reading import Reading, read_long
from oprag.units.unit_index import (
    FoundUnit,
    UnitIndex,
    document_names,
    reading_order,
    unit_metadata,
)

__all__ = [
    "DIRECT_PROMPT",
    "LONG_PROMPT",
    "PROMPT_VARIABLES",
    "SHORT_PROMPT",
    "FoundUnit",
    "LongUnit",
    "Reading",
    "UnitIndex",
    "document_names",
    "format_examples",
    "group_documents",
    "read_long",
    "reading_order",
    "unit_metadata",
]
