"""The chunks of LlamaIndex's stores, in their stored form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from llama_index.core.indices.base import BaseIndex
from llama_index.core.storage.docstore.types import BaseDocumentStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from llamaindex_oprag._chunk_stores.chroma import ChromaChunks
from llamaindex_oprag._chunk_stores.docstore import DocstoreChunks
from llamaindex_oprag._chunk_stores.postgres import PostgresChunks
from llamaindex_oprag._chunk_stores.qdrant import QdrantChunks
from oprag.errors import InvalidOptionError
from oprag.stores import ChunkStore, unknown_store

StoreLike: TypeAlias = (
    BaseIndex[Any] | BasePydanticVectorStore | BaseDocumentStore | ChunkStore
)
"""Sources that `chunk_store` accepts."""

_KNOWN: dict[tuple[str, str], Callable[[Any], ChunkStore]] = {
    ("llama_index.vector_stores.chroma", "ChromaVectorStore"): ChromaChunks,
    ("llama_index.vector_stores.postgres", "PGVectorStore"): PostgresChunks,
    ("llama_index.vector_stores.qdrant", "QdrantVectorStore"): QdrantChunks,
}
"""Readers by package and class name; a subclass is read as its base."""


def chunk_store(store: StoreLike) -> ChunkStore:
    """Read a store's own chunks, without a query.

    Args:
        store: An index; a docstore that holds its nodes; a `ChromaVectorStore`,
            `QdrantVectorStore` or `PGVectorStore`, or a subclass; or a `ChunkStore`,
            which is returned unchanged. The chunks of an index are in the vector store
            if that keeps texts, else in the docstore, as with `SimpleVectorStore` and
            FAISS. Chunks that were deleted from the index are left out, as far as the
            vector store tells.

    Returns:
        A store whose `read()` gives the chunks, not verified. Nothing is read yet.

    Raises:
        InvalidOptionError: It is a vector store that keeps no texts, or one that is
            not known.
    """
    if isinstance(store, ChunkStore):
        return store
    if isinstance(store, BaseDocumentStore):
        return DocstoreChunks(store)
    if isinstance(store, BaseIndex):
        return _open_index(store)
    reader = _reader(store)
    if reader is None:
        raise _refuse_store(store)
    return reader(store)


def _open_index(index: BaseIndex[Any]) -> ChunkStore:
    vector_store = getattr(index, "vector_store", None)  # not every index has one
    if vector_store is None or not vector_store.stores_text:
        return DocstoreChunks(index.docstore, vector_store)
    reader = _reader(vector_store)
    if reader is not None:
        return reader(vector_store)
    # With store_nodes_override any index has its nodes in the docstore.
    if index.docstore.docs:
        return DocstoreChunks(index.docstore, vector_store)
    raise _refuse_store(vector_store)


def _reader(store: object) -> Callable[[Any], ChunkStore] | None:
    for base in type(store).__mro__:
        for (package, name), reader in _KNOWN.items():
            if base.__name__ == name and base.__module__.startswith(package):
                return reader
    return None


def _refuse_store(store: object) -> InvalidOptionError:
    known = [*(name for _, name in _KNOWN), "every docstore"]
    if not isinstance(store, BasePydanticVectorStore):
        return unknown_store(store, known, "the index that is searched")
    if store.stores_text:
        return unknown_store(store, known, "an oprag.ChunkStore")
    message = (
        f"A {type(store).__name__} holds vectors and no texts; its chunks are in the "
        "docstore of the index. Give the index, or index.docstore."
    )
    return InvalidOptionError(message, option="store", value=store)
