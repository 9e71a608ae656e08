"""A vector store that holds documents as they are now."""

from oprag.indexing.flat import UnsupportedMetadata
from oprag.indexing.given import Documents, Framework, Piece, wanted_documents
from oprag.indexing.plan import Replace, WantedChunk, WantedDocument
from oprag.indexing.updating import (
    ChunkWriter,
    IndexingReport,
    Snapshot,
    aupdate_index,
    update_index,
)

__all__ = [
    "ChunkWriter",
    "Documents",
    "Framework",
    "IndexingReport",
    "Piece",
    "Replace",
    "Snapshot",
    "UnsupportedMetadata",
    "WantedChunk",
    "WantedDocument",
    "aupdate_index",
    "update_index",
    "wanted_documents",
]
