"""Chunks of LangChain's `InMemoryVectorStore`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document

from oprag.stores import ChunkStore, StoredChunk, Wanted, select_chunks

if TYPE_CHECKING:  # importing it imports numpy
    from langchain_core.vectorstores import InMemoryVectorStore


class InMemoryChunks(ChunkStore):
    """Reads the store's dictionary."""

    is_embedded = True

    def __init__(self, store: InMemoryVectorStore) -> None:
        self.name = type(store).__name__
        self._store = store

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        """Yield the current chunks."""
        kept = self._store.store
        # A copy: others may add while this is read.
        found = kept.values() if ids is None else filter(None, map(kept.get, ids))
        return select_chunks(self._make_chunks(list(found)), wanted)

    def count(self) -> int:
        """Return the number of entries."""
        return len(self._store.store)

    def sample(self) -> Iterator[StoredChunk]:
        """Yield its chunks."""
        return self.read()

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is a function of a `Document`."""
        return callable(where)

    def _make_chunks(
        self, entries: Collection[dict[str, Any]]
    ) -> Iterator[StoredChunk]:
        for entry in entries:
            text, metadata, chunk_id = entry["text"], entry["metadata"], entry["id"]
            if self.filters:
                document = Document(text, id=chunk_id, metadata=dict(metadata))
                if not all(admits(document) for admits in self.filters):
                    continue
            yield StoredChunk(text, metadata, chunk_id)
