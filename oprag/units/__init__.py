"""LongRAG: documents grouped into long units, found by chunks, read in two calls."""

from oprag.units.choice import (
    UNIT_DESCRIPTIONS,
    ChosenUnits,
    UnitKeywords,
    choose_units,
    choose_with_texts,
    chunks_for_units,
    read_units,
)
from oprag.units.document_groups import LongUnit, group_documents
from oprag.units.long_prompts import (
    DIRECT_PROMPT,
    LONG_PROMPT,
    PROMPT_VARIABLES,
    SHORT_PROMPT,
)
from oprag.units.long_reader import (
    READER_DESCRIPTIONS,
    LongAnswer,
    check_reader_option,
    read_long,
)
from oprag.units.unit_index import UnitIndex, order_units

__all__ = [
    "DIRECT_PROMPT",
    "LONG_PROMPT",
    "PROMPT_VARIABLES",
    "READER_DESCRIPTIONS",
    "SHORT_PROMPT",
    "UNIT_DESCRIPTIONS",
    "ChosenUnits",
    "LongAnswer",
    "LongUnit",
    "UnitIndex",
    "UnitKeywords",
    "check_reader_option",
    "choose_units",
    "choose_with_texts",
    "chunks_for_units",
    "group_documents",
    "order_units",
    "read_long",
    "read_units",
]
