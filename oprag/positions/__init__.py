"""Documents and positions of chunks, read from the metadata of any framework."""

from oprag.positions.chained import PageKey, Unplaced
from oprag.positions.counted import PageNumbers
from oprag.positions.errors import report_not_located
from oprag.positions.identity import (
    POSITION_METADATA,
    DocumentKey,
    Identity,
    derive_identity,
    document_metadata,
    document_name,
    identify_document,
)
from oprag.positions.keys import PART_KEYS, SECTION_KEYS, PositionKeys, look_up
from oprag.positions.place import Place, place_of, read_citation
from oprag.positions.position import read_own_place, read_position, read_spans
from oprag.positions.reader import identify_documents, read_chunks
from oprag.positions.schemes import CHARACTER_KEYS, read_by_others
from oprag.positions.shared_names import (
    are_indexed_versions,
    are_of_one_file,
    find_shared_names,
    keep_one_version,
    separate_by_facts,
    separate_by_positions,
)
from oprag.positions.validity import check_positions, deduplicate, drop_place

__all__ = [
    "CHARACTER_KEYS",
    "PART_KEYS",
    "POSITION_METADATA",
    "SECTION_KEYS",
    "DocumentKey",
    "Identity",
    "PageKey",
    "PageNumbers",
    "Place",
    "PositionKeys",
    "Unplaced",
    "are_indexed_versions",
    "are_of_one_file",
    "check_positions",
    "deduplicate",
    "derive_identity",
    "document_metadata",
    "document_name",
    "drop_place",
    "find_shared_names",
    "identify_document",
    "identify_documents",
    "keep_one_version",
    "look_up",
    "place_of",
    "read_by_others",
    "read_chunks",
    "read_citation",
    "read_own_place",
    "read_position",
    "read_spans",
    "report_not_located",
    "separate_by_facts",
    "separate_by_positions",
]
