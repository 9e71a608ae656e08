"""The chunks of LangChain's vector stores, in their stored form."""

from __future__ import annotations

from typing import Any

from langchain_core.vectorstores import VectorStore

from langchain_oprag._chunk_stores.chroma import ChromaChunks
from langchain_oprag._chunk_stores.faiss import FaissChunks
from langchain_oprag._chunk_stores.in_memory import InMemoryChunks
from langchain_oprag._chunk_stores.postgres import PostgresChunks
from langchain_oprag._chunk_stores.postgres_collections import PostgresCollectionChunks
from langchain_oprag._chunk_stores.qdrant import QdrantChunks
from oprag.stores import ChunkStore, unknown_store

_KNOWN = {
    ("langchain_core", "InMemoryVectorStore"): InMemoryChunks,
    ("langchain_chroma", "Chroma"): ChromaChunks,
    ("langchain_community", "FAISS"): FaissChunks,
    ("langchain_qdrant", "QdrantVectorStore"): QdrantChunks,
    ("langchain_postgres", "PGVectorStore"): PostgresChunks,
    ("langchain_postgres", "PGVector"): PostgresCollectionChunks,
}
"""Readers by package and class name; a subclass is read as its base."""


def chunk_store(vectorstore: VectorStore | ChunkStore) -> ChunkStore:
    """Read a vector store's own chunks, without a query.

    Args:
        vectorstore: An `InMemoryVectorStore`, `Chroma`, `FAISS` (of
            langchain-community), `QdrantVectorStore`, `PGVectorStore` or `PGVector`, or
            a subclass; or a `ChunkStore`, which is returned unchanged.

    Returns:
        A store whose `read()` gives the chunks, not verified. Nothing is read yet.

    Raises:
        InvalidOptionError: It is another store. `VectorStore` has no common way to read
            chunks.
    """
    if isinstance(vectorstore, ChunkStore):
        return vectorstore
    # `OrderPreservingVectorStore`, which need not be imported here.
    inner = getattr(vectorstore, "vectorstore", None)
    if isinstance(vectorstore, VectorStore) and isinstance(inner, VectorStore):
        return chunk_store(inner)
    for base in type(vectorstore).__mro__:
        reader: Any = _KNOWN.get((base.__module__.partition(".")[0], base.__name__))
        if reader is not None:
            made: ChunkStore = reader(vectorstore)
            return made
    instead = "the store that is searched"
    if isinstance(vectorstore, VectorStore):
        instead = "an oprag.ChunkStore"
    elif isinstance(inner, VectorStore):
        instead = "retriever.vectorstore"
    raise unknown_store(vectorstore, [name for _, name in _KNOWN], instead)
