"""Stores of chunks: read without a query, through a search's filter, and by words."""

from oprag.stores.bm25 import Bm25
from oprag.stores.chroma_chunks import ChromaChunks
from oprag.stores.llamaindex_nodes import NODE_CONTENT, read_node, rewrite_node
from oprag.stores.postgres_conditions import match_wanted
from oprag.stores.qdrant_chunks import QdrantChunks
from oprag.stores.search_filters import (
    SearchFilter,
    combine_filters,
    inner_retrievers,
    is_unchanged,
)
from oprag.stores.searched_chunks import ChunkKey, SearchedChunks, chunk_key
from oprag.stores.stored_chunks import (
    ChunkStore,
    StoredChunk,
    Wanted,
    is_own,
    make_hit,
    name_of_key,
    select_chunks,
    unknown_store,
)

__all__ = [
    "NODE_CONTENT",
    "Bm25",
    "ChromaChunks",
    "ChunkKey",
    "ChunkStore",
    "QdrantChunks",
    "SearchFilter",
    "SearchedChunks",
    "StoredChunk",
    "Wanted",
    "chunk_key",
    "combine_filters",
    "inner_retrievers",
    "is_own",
    "is_unchanged",
    "make_hit",
    "match_wanted",
    "name_of_key",
    "read_node",
    "rewrite_node",
    "select_chunks",
    "unknown_store",
]
