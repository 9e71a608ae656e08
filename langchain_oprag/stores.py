"""The chunks of LangChain's vector stores, as they are stored."""

from __future__ import annotations

from typing import Any

from langchain_core.vectorstores import VectorStore

from langchain_oprag._chunk_stores.chroma import ChromaChunks
from langchain_oprag._chunk_stores.faiss import FaissChunks
from langchain_oprag._chunk_stores.in_memory import InMemoryChunks
from langchain_oprag._chunk_stores.postgres import PostgresChunks
from langchain_oprag._chunk_stores.qdrant import QdrantChunks
from oprag.documents import ChunkStore
from oprag.errors import InvalidOptionError

_KNOWN = {
    ("langchain_core", "InMemoryVectorStore"): InMemoryChunks,
    ("langchain_chroma", "Chroma"): ChromaChunks,
    ("langchain_community", "FAISS"): FaissChunks,
    ("langchain_qdrant", "QdrantVectorStore"): QdrantChunks,
    ("langchain_postgres", "PGVectorStore"): PostgresChunks,
}
"""By package and class name; a subclass is read as its base."""


def chunk_store(vectorstore: VectorStore | ChunkStore) -> ChunkStore:
    """Read a vector store's own chunks, without a query.

    Args:
        vectorstore: An `InMemoryVectorStore`, `Chroma`, `FAISS` (of
            langchain-community), `QdrantVectorStore` or `PGVectorStore`, or a
            subclass; or a `ChunkStore`, which is returned as it is.

    Returns:
        Its chunks by `fetch(doc_key)` and `scan()`, not verified. Nothing is read
        yet.

    Raises:
        InvalidOptionError: It is another store. `VectorStore` has no way to read
            chunks that all stores share.
    """
    if isinstance(vectorstore, ChunkStore):
        return vectorstore
    for base in type(vectorstore).__mro__:
        reader: Any = _KNOWN.get((base.__module__.partition(".")[0], base.__name__))
        if reader is not None:
            made: ChunkStore = reader(vectorstore)
            return made
    raise _unknown(vectorstore)


def _unknown(vectorstore: object) -> InvalidOptionError:
    known = ", ".join(name for _, name in _KNOWN)
    message = (
        f"How the chunks of a {type(vectorstore).__name__} are read is not known: "
        "LangChain's VectorStore has no call for it, and a search may leave chunks out "
        f"without a word. Known are {known}. Give the full texts as "
        "documents= by a function of your own, such as\n"
        "    def full_text(name):\n"
        "        return Path(folder, name).read_text(encoding='utf-8')\n"
        "or say how its chunks are read with an `oprag.documents.ChunkStore`."
    )
    return InvalidOptionError(message, option="vectorstore", value=vectorstore)
