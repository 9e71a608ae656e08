"""A vector store that holds documents as they are now."""

from oprag.indexing.chunking import Framework, Piece
from oprag.indexing.flat import UnsupportedMetadata
from oprag.indexing.given import Documents, source_scope, wanted_documents
from oprag.indexing.plan import Replace, WantedChunk, WantedDocument
from oprag.indexing.progress import ShowProgress
from oprag.indexing.reporting import FailedDocument, IndexingReport, SkippedFile
from oprag.indexing.run_options import RemoveMissing
from oprag.indexing.updating import aupdate_index, update_index
from oprag.indexing.writing import ChunkWriter, Snapshot, in_thread

__all__ = [
    "ChunkWriter",
    "Documents",
    "FailedDocument",
    "Framework",
    "IndexingReport",
    "Piece",
    "RemoveMissing",
    "Replace",
    "ShowProgress",
    "SkippedFile",
    "Snapshot",
    "UnsupportedMetadata",
    "WantedChunk",
    "WantedDocument",
    "aupdate_index",
    "in_thread",
    "source_scope",
    "update_index",
    "wanted_documents",
]
