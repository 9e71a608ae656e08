"""A vector store that is kept up to date with its documents."""

from oprag.indexing.chunks import Framework
from oprag.indexing.flat import UnsupportedMetadata
from oprag.indexing.given import (
    Documents,
    GivenNames,
    check_given,
    read_documents,
    source_scope,
    split_document,
)
from oprag.indexing.plan import (
    RemoveMissing,
    Replace,
    RunOptions,
    WantedChunk,
    WantedDocument,
)
from oprag.indexing.report import FailedDocument, IndexingReport, ShowProgress
from oprag.indexing.stored import StoredBefore
from oprag.indexing.update import (
    IndexingKeywords,
    aindex_target,
    index_target,
    update_by_workers,
    update_index,
    write_part,
)
from oprag.indexing.vectors import VectorCheck
from oprag.indexing.workers import WorkerResult
from oprag.indexing.writer import ChunkWriter, IndexTarget, finish_in_thread

__all__ = [
    "ChunkWriter",
    "Documents",
    "FailedDocument",
    "Framework",
    "GivenNames",
    "IndexTarget",
    "IndexingKeywords",
    "IndexingReport",
    "RemoveMissing",
    "Replace",
    "RunOptions",
    "ShowProgress",
    "StoredBefore",
    "UnsupportedMetadata",
    "VectorCheck",
    "WantedChunk",
    "WantedDocument",
    "WorkerResult",
    "aindex_target",
    "check_given",
    "finish_in_thread",
    "index_target",
    "read_documents",
    "source_scope",
    "split_document",
    "update_by_workers",
    "update_index",
    "write_part",
]
