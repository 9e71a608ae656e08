"""Whole documents: from where an application keeps them, or out of a store's chunks."""

from oprag.documents.annotation import SourcePart, annotate_chunks, replaced
from oprag.documents.bm25 import Bm25
from oprag.documents.chroma_chunks import ChromaChunks
from oprag.documents.copies import ForeignChunks, is_own, name_of_key
from oprag.documents.entries import check_entries
from oprag.documents.folders import count_files, read_folder
from oprag.documents.qdrant_chunks import QdrantChunks
from oprag.documents.search_filters import (
    SearchFilter,
    inner_retrievers,
    is_unchanged,
    one_filter,
)
from oprag.documents.searched_chunks import ChunkKey, SearchedChunks, chunk_key
from oprag.documents.sources import (
    DocumentSource,
    SourceLike,
    checked_text,
    document_source,
    exact_text,
    not_found,
    refuse_strangers,
)
from oprag.documents.store_source import StoreSource
from oprag.documents.stored_chunks import (
    ChunkStore,
    StoredChunk,
    Wanted,
    stored_hit,
    unknown_store,
    wanted_of,
)
from oprag.documents.whole_text import by_version, rebuild

__all__ = [
    "Bm25",
    "ChromaChunks",
    "ChunkKey",
    "ChunkStore",
    "DocumentSource",
    "ForeignChunks",
    "QdrantChunks",
    "SearchFilter",
    "SearchedChunks",
    "SourceLike",
    "SourcePart",
    "StoreSource",
    "StoredChunk",
    "Wanted",
    "annotate_chunks",
    "by_version",
    "check_entries",
    "checked_text",
    "chunk_key",
    "count_files",
    "document_source",
    "exact_text",
    "inner_retrievers",
    "is_own",
    "is_unchanged",
    "name_of_key",
    "not_found",
    "one_filter",
    "read_folder",
    "rebuild",
    "refuse_strangers",
    "replaced",
    "stored_hit",
    "unknown_store",
    "wanted_of",
]
