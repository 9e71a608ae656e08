"""Whole documents: from where an application keeps them, or out of a store's chunks."""

from oprag.documents.annotating import (
    POSITION_KEYS,
    SourcePart,
    annotate_chunks,
    replaced,
)
from oprag.documents.bm25 import Bm25, no_words
from oprag.documents.copies import Copies, StoredCopies, is_own
from oprag.documents.entries import (
    as_texts_by_name,
    check_entries,
    check_entry,
    check_listed,
    check_passages,
)
from oprag.documents.folders import count_files, read_folder
from oprag.documents.rebuilding import (
    StoreSource,
    are_all_there,
    by_version,
    read_versions,
    rebuild,
)
from oprag.documents.search_filters import (
    SearchFilter,
    inner_retrievers,
    is_unchanged,
    one_filter,
    unknown_filter,
    unseen_filter,
)
from oprag.documents.searched_chunks import ChunkKey, SearchedChunks, chunk_key
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
    chroma_numbered,
    chroma_rows,
    no_store,
    qdrant_ids,
    qdrant_place,
    stored_hit,
    unknown_store,
)

__all__ = [
    "POSITION_KEYS",
    "Bm25",
    "ChunkKey",
    "ChunkStore",
    "Copies",
    "DocumentSource",
    "ReadTexts",
    "SearchFilter",
    "SearchedChunks",
    "SourceLike",
    "SourcePart",
    "StoreSource",
    "StoredChunk",
    "StoredCopies",
    "annotate_chunks",
    "are_all_there",
    "as_texts_by_name",
    "by_version",
    "check_entries",
    "check_entry",
    "check_listed",
    "check_passages",
    "checked_text",
    "chroma_numbered",
    "chroma_rows",
    "chunk_key",
    "count_files",
    "document_source",
    "exact_text",
    "given_documents",
    "inner_retrievers",
    "is_own",
    "is_unchanged",
    "no_store",
    "no_words",
    "not_found",
    "one_filter",
    "qdrant_ids",
    "qdrant_place",
    "read_folder",
    "read_versions",
    "rebuild",
    "refuse_strangers",
    "replaced",
    "stored_hit",
    "unknown_filter",
    "unknown_store",
    "unseen_filter",
]
