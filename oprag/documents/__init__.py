"""Whole documents: from where an application keeps them, or out of a store's chunks."""

from oprag.documents.copies import Copies, StoredCopies, is_own
from oprag.documents.entries import as_texts_by_name, check_entries, check_entry
from oprag.documents.folders import count_files, read_folder
from oprag.documents.rebuilding import StoreSource, read_versions, rebuild
from oprag.documents.search_filters import (
    SearchFilter,
    inner_retrievers,
    is_unchanged,
    one_filter,
    unknown_filter,
    unseen_filter,
)
from oprag.documents.searched_chunks import SearchedChunks
from oprag.documents.sources import (
    DocumentSource,
    ReadTexts,
    SourceLike,
    checked_text,
    document_source,
    exact_text,
    given_documents,
    not_found,
    refuse_strangers,
)
from oprag.documents.stored_chunks import (
    ChunkStore,
    StoredChunk,
    qdrant_place,
    stored_hit,
)

__all__ = [
    "ChunkStore",
    "Copies",
    "DocumentSource",
    "ReadTexts",
    "SearchFilter",
    "SearchedChunks",
    "SourceLike",
    "StoreSource",
    "StoredChunk",
    "StoredCopies",
    "as_texts_by_name",
    "check_entries",
    "check_entry",
    "checked_text",
    "count_files",
    "document_source",
    "exact_text",
    "given_documents",
    "inner_retrievers",
    "is_own",
    "is_unchanged",
    "not_found",
    "one_filter",
    "qdrant_place",
    "read_folder",
    "read_versions",
    "rebuild",
    "refuse_strangers",
    "stored_hit",
    "unknown_filter",
    "unseen_filter",
]
