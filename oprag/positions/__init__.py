"""Which document a chunk is of and where it stands, read out of any metadata."""

from oprag.positions.contradictions import check_positions, without_duplicates
from oprag.positions.identity import (
    PART_KEYS,
    SECTION_KEYS,
    DocumentKey,
    MissingDocument,
    look_up,
    read_documents,
)
from oprag.positions.llamaindex_nodes import NODE_CONTENT, read_node, rewritten
from oprag.positions.reading import MissingPosition, PositionKeys, read_chunks
from oprag.positions.schemes import SCHEMES, as_number

__all__ = [
    "NODE_CONTENT",
    "PART_KEYS",
    "SCHEMES",
    "SECTION_KEYS",
    "DocumentKey",
    "MissingDocument",
    "MissingPosition",
    "PositionKeys",
    "as_number",
    "check_positions",
    "look_up",
    "read_chunks",
    "read_documents",
    "read_node",
    "rewritten",
    "without_duplicates",
]
