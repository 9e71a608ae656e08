"""Whole documents: from where an application keeps them, or out of a store's chunks."""

from oprag.documents.annotating import (
    POSITION_KEYS,
    SourcePart,
    annotate_chunks,
    replaced,
)
from oprag.documents.bm25 import Bm25, no_words
from oprag.documents.chroma_chunks import ChromaChunks, chroma_rows
from oprag.documents.copies import ForeignChunks, is_own, name_of_key
from oprag.documents.entries import check_entries
from oprag.documents.folders import count_files, read_folder
from oprag.documents.qdrant_chunks import QdrantChunks
from oprag.documents.rebuilding import are_all_there, by_version, read_versions, rebuild
from oprag.documents.search_filters import (
    NO_FILTER,
    SearchFilter,
    inner_retrievers,
    is_unchanged,
    one_filter,
    refused_filter,
)
from oprag.documents.searched_chunks import ChunkKey, SearchedChunks, chunk_key
from oprag.documents.sources import (
    DocumentSource,
    SourceLike,
    checked_text,
    document_source,
    exact_text,
    given_documents,
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

__all__ = [
    "NO_FILTER",
    "POSITION_KEYS",
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
    "are_all_there",
    "by_version",
    "check_entries",
    "checked_text",
    "chroma_rows",
    "chunk_key",
    "count_files",
    "document_source",
    "exact_text",
    "given_documents",
    "inner_retrievers",
    "is_own",
    "is_unchanged",
    "name_of_key",
    "no_words",
    "not_found",
    "one_filter",
    "read_folder",
    "read_versions",
    "rebuild",
    "refuse_strangers",
    "refused_filter",
    "replaced",
    "stored_hit",
    "unknown_store",
    "wanted_of",
]
