"""Chunks of LangChain's `InMemoryVectorStore`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
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
        """All chunks, as they are now."""
        # A copy: others may add while this is read.
        return self._found(list(self._store.store.values()))

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Some chunks by their ids."""
        entries = map(self._store.store.get, ids)
        return list(self._found([entry for entry in entries if entry is not None]))

    def count(self) -> int:
        """Entries of the dictionary."""
        return len(self._store.store)

    def _found(self, entries: Collection[dict[str, Any]]) -> Iterator[StoredChunk]:
        for entry in entries:
            chunk = _chunk(entry)
            if not self.filters or self._is_admitted(chunk):
                yield chunk

    def takes_filter(self, where: Any) -> bool:
        """A function of a `Document`."""
        return callable(where)

    def _is_admitted(self, chunk: StoredChunk) -> bool:
        text, metadata, chunk_id = chunk
        document = Document(text, id=chunk_id, metadata=dict(metadata))
        return all(admits(document) for admits in self.filters)


def _chunk(entry: Mapping[str, Any]) -> StoredChunk:
    return StoredChunk(entry["text"], entry["metadata"], entry["id"])
