"""A vector store that holds documents as they are now."""

from oprag.indexing.chunks import Framework, Piece
from oprag.indexing.flat import UnsupportedMetadata
from oprag.indexing.given import (
    Documents,
    GivenNames,
    Named,
    check_given,
    named_documents,
    source_scope,
    wanted_document,
)
from oprag.indexing.plan import (
    RemoveMissing,
    Replace,
    RunOptions,
    WantedChunk,
    WantedDocument,
)
from oprag.indexing.progress import ShowProgress
from oprag.indexing.report import (
    REFUSALS,
    FailedDocument,
    IndexingReport,
    Readable,
    SkippedFile,
)
from oprag.indexing.run import Part
from oprag.indexing.stored import StoredBefore
from oprag.indexing.update import (
    IndexingKeywords,
    aindex_target,
    aupdate_index,
    index_target,
    update_index,
    write_part,
)
from oprag.indexing.writer import ChunkWriter, IndexTarget, Snapshot, in_thread

__all__ = [
    "REFUSALS",
    "ChunkWriter",
    "Documents",
    "FailedDocument",
    "Framework",
    "GivenNames",
    "IndexTarget",
    "IndexingKeywords",
    "IndexingReport",
    "Named",
    "Part",
    "Piece",
    "Readable",
    "RemoveMissing",
    "Replace",
    "RunOptions",
    "ShowProgress",
    "SkippedFile",
    "Snapshot",
    "StoredBefore",
    "UnsupportedMetadata",
    "WantedChunk",
    "WantedDocument",
    "aindex_target",
    "aupdate_index",
    "check_given",
    "in_thread",
    "index_target",
    "named_documents",
    "source_scope",
    "update_index",
    "wanted_document",
    "write_part",
]
