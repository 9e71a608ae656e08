"""Chunks of LangChain's `InMemoryVectorStore`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document

from oprag.documents import ChunkStore, StoredChunk

if TYPE_CHECKING:  # importing it imports numpy
    from langchain_core.vectorstores import InMemoryVectorStore


class InMemoryChunks(ChunkStore):
    """Reads the store's dictionary."""

    is_embedded = True

    def __init__(self, store: InMemoryVectorStore) -> None:
        self.name = type(store).__name__
        self._store = store

    def scan(self) -> Iterator[StoredChunk]:
        """Yield all chunks, as they are now."""
        # A copy: others may add while this is read.
        return self._found(list(self._store.store.values()))

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Return some chunks by their ids."""
        return list(self._found([*filter(None, map(self._store.store.get, ids))]))

    def count(self) -> int:
        """Return the number of entries."""
        return len(self._store.store)

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is a function of a `Document`."""
        return callable(where)

    def _found(self, entries: Collection[dict[str, Any]]) -> Iterator[StoredChunk]:
        for entry in entries:
            chunk = StoredChunk(entry["text"], entry["metadata"], entry["id"])
            if not self.filters or self._is_admitted(chunk):
                yield chunk

    def _is_admitted(self, chunk: StoredChunk) -> bool:
        text, metadata, chunk_id = chunk
        document = Document(text, id=chunk_id, metadata=dict(metadata))
        return all(admits(document) for admits in self.filters)
