"""Whole documents: from where an application keeps them, or out of a store's chunks."""

from oprag.documents.copies import Copies, StoredCopies, is_own
from oprag.documents.entries import (
    as_texts_by_name,
    check_entries,
    check_entry,
    check_listed,
    check_passages,
)
from oprag.documents.folders import count_files, read_folder
from oprag.documents.rebuilding import StoreSource, read_versions, rebuild
from oprag.documents.search_filters import (
    SearchFilter,
    inner_retrievers,
    is_unchanged,
    one_filter,
)
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
    no_store,
    qdrant_place,
    stored_hit,
    unknown_store,
)

__all__ = [
    "ChunkStore",
    "Copies",
    "DocumentSource",
    "ReadTexts",
    "SearchFilter",
    "SourceLike",
    "StoreSource",
    "StoredChunk",
    "StoredCopies",
    "as_texts_by_name",
    "check_entries",
    "check_entry",
    "check_listed",
    "check_passages",
    "checked_text",
    "count_files",
    "document_source",
    "exact_text",
    "given_documents",
    "inner_retrievers",
    "is_own",
    "is_unchanged",
    "no_store",
    "not_found",
    "one_filter",
    "qdrant_place",
    "read_folder",
    "read_versions",
    "rebuild",
    "refuse_strangers",
    "stored_hit",
    "unknown_store",
]
