"""Documents and positions of chunks, read from the metadata of any framework."""

from oprag.positions.errors import not_located
from oprag.positions.keys import (
    OF_A_PLACE,
    PART_KEYS,
    DocumentKey,
    PositionKeys,
    as_number,
    document_metadata,
    document_name,
    known_document,
    read_documents,
)
from oprag.positions.llamaindex_nodes import NODE_CONTENT, read_node, rewritten
from oprag.positions.parts import (
    Part,
    SourceText,
    group_parts,
    part_numbers,
    parts_named,
)
from oprag.positions.place import Place, is_unchanged, place_of, placed, read_spans
from oprag.positions.reader import read_by_others, read_chunks
from oprag.positions.stamps import (
    Stamp,
    qualified_name,
    splitter_settings,
    stamp_chunks,
    texts_in_chunks,
)
from oprag.positions.validity import (
    check_positions,
    divided_files,
    within_one_version,
    without_duplicates,
    without_place,
)

__all__ = [
    "NODE_CONTENT",
    "OF_A_PLACE",
    "PART_KEYS",
    "DocumentKey",
    "Part",
    "Place",
    "PositionKeys",
    "SourceText",
    "Stamp",
    "as_number",
    "check_positions",
    "divided_files",
    "document_metadata",
    "document_name",
    "group_parts",
    "is_unchanged",
    "known_document",
    "not_located",
    "part_numbers",
    "parts_named",
    "place_of",
    "placed",
    "qualified_name",
    "read_by_others",
    "read_chunks",
    "read_documents",
    "read_node",
    "read_spans",
    "rewritten",
    "splitter_settings",
    "stamp_chunks",
    "texts_in_chunks",
    "within_one_version",
    "without_duplicates",
    "without_place",
]
