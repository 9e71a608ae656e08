"""A vector store that holds documents as they are now."""

from oprag.indexing.flat import (
    UnsupportedMetadata,
    check_unsupported_metadata,
    flat_metadata,
)
from oprag.indexing.plan import WantedChunk, WantedDocument, check_documents
from oprag.indexing.steps import IndexingReport, Readable
from oprag.indexing.updating import ChunkWriter, Snapshot, aupdate_index, update_index

__all__ = [
    "ChunkWriter",
    "IndexingReport",
    "Readable",
    "Snapshot",
    "UnsupportedMetadata",
    "WantedChunk",
    "WantedDocument",
    "aupdate_index",
    "check_documents",
    "check_unsupported_metadata",
    "flat_metadata",
    "update_index",
]
