"""Chunks of `langchain_chroma.Chroma`, embedded or on a server."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from oprag.documents import ChunkStore, StoredChunk, chroma_rows
from oprag.metadata import CHUNK_INDEX, DOC_KEY


class ChromaChunks(ChunkStore):
    """Reads a collection: page by page."""

    def __init__(self, store: Any) -> None:
        collection = getattr(getattr(store, "_collection", None), "name", "")
        self.name = f"Chroma collection {collection!r}"
        if known := getattr(getattr(store, "_collection", None), "id", None):
            self.place = f"Chroma {known}"
        self._store = store

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in the order in which they were added."""
        return list(self._chunks({DOC_KEY: doc_key}))

    def fetch_chunks(self, doc_key: str, indexes: Collection[int]) -> list[StoredChunk]:
        """Some chunks of one document, in one query."""
        wanted = {CHUNK_INDEX: {"$in": [*indexes]}}
        return list(self._chunks({DOC_KEY: doc_key}, wanted, paged=False))

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Some chunks by their ids, in one query."""
        return list(self._chunks(ids=[*ids]))

    def count(self) -> int:
        """Chunks of the collection."""
        number: int = self._store._collection.count()  # noqa: SLF001 -- nothing public tells
        return number

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in the order in which they were added."""
        return self._chunks()

    def takes_filter(self, where: Any) -> bool:
        """A dictionary, as Chroma has them."""
        return isinstance(where, dict)

    def _chunks(
        self, *conditions: Any, paged: bool = True, ids: list[str] | None = None
    ) -> Iterator[StoredChunk]:
        every = [*conditions, *self.filters]
        rows = chroma_rows(self._store.get, every, paged=paged, ids=ids)
        return (
            StoredChunk(text or "", metadata or {}, chunk_id)
            for text, metadata, chunk_id in rows
        )
