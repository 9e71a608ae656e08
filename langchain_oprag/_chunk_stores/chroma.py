"""Chunks of `langchain_chroma.Chroma`, embedded or on a server."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import starmap
from typing import Any

from oprag.documents import (
    ChunkStore,
    StoredChunk,
    chroma_numbered,
    chroma_rows,
    is_chroma_embedded,
)
from oprag.metadata import DOC_KEY


class ChromaChunks(ChunkStore):
    """Reads a collection: page by page."""

    def __init__(self, store: Any) -> None:
        collection = getattr(getattr(store, "_collection", None), "name", "")
        self.name = f"Chroma collection {collection!r}"
        if known := getattr(getattr(store, "_collection", None), "id", None):
            self.place = f"Chroma {known}"
        self.is_embedded = is_chroma_embedded(getattr(store, "_collection", None))
        self._store = store

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in the order in which they were added."""
        return list(self._chunks({DOC_KEY: doc_key}))

    def fetch_chunks(self, wanted: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Some chunks of some documents, in one query."""
        rows = chroma_numbered(self._store.get, wanted, self.filters)
        return list(starmap(_chunk, rows))

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
        self, *conditions: Any, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        every = [*conditions, *self.filters]
        return starmap(_chunk, chroma_rows(self._store.get, every, ids=ids))


def _chunk(text: str | None, metadata: Any, chunk_id: str) -> StoredChunk:
    return StoredChunk(text or "", metadata or {}, chunk_id)
