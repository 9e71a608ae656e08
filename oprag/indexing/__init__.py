"""A vector store that holds documents as they are now."""

from oprag.indexing.chunking import Framework, Piece
from oprag.indexing.flat import UnsupportedMetadata
from oprag.indexing.given import (
    Documents,
    Named,
    check_given,
    named_documents,
    source_scope,
    wanted_document,
    wanted_documents,
)
from oprag.indexing.names import GivenNames
from oprag.indexing.plan import Replace, WantedChunk, WantedDocument
from oprag.indexing.progress import Counted, ShowProgress
from oprag.indexing.reporting import (
    REFUSALS,
    FailedDocument,
    IndexingReport,
    Readable,
    SkippedFile,
)
from oprag.indexing.run_options import RemoveMissing, RunOptions
from oprag.indexing.sharing import WrittenPart, lacking
from oprag.indexing.updating import (
    aupdate_index,
    update_from_parts,
    update_index,
    write_part,
)
from oprag.indexing.writing import ChunkWriter, IndexTarget, Snapshot, in_thread

__all__ = [
    "REFUSALS",
    "ChunkWriter",
    "Counted",
    "Documents",
    "FailedDocument",
    "Framework",
    "GivenNames",
    "IndexTarget",
    "IndexingReport",
    "Named",
    "Piece",
    "Readable",
    "RemoveMissing",
    "Replace",
    "RunOptions",
    "ShowProgress",
    "SkippedFile",
    "Snapshot",
    "UnsupportedMetadata",
    "WantedChunk",
    "WantedDocument",
    "WrittenPart",
    "aupdate_index",
    "check_given",
    "in_thread",
    "lacking",
    "named_documents",
    "source_scope",
    "update_from_parts",
    "update_index",
    "wanted_document",
    "wanted_documents",
    "write_part",
]
