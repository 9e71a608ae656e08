"""Chunks of `langchain_qdrant.QdrantVectorStore`, local or on a server."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from oprag.documents import (
    ChunkStore,
    StoredChunk,
    is_qdrant_embedded,
    qdrant_ids,
    qdrant_place,
)
from oprag.metadata import CHUNK_INDEX, DOC_KEY

_PAGE = 10_000
"""Chunks per call. Large, because a local Qdrant looks at all chunks for each page:
20,000 of them took a minute by 256."""


class QdrantChunks(ChunkStore):
    """Scrolls through a collection."""

    def __init__(self, store: Any) -> None:
        self.name = f"Qdrant collection {store.collection_name!r}"
        self.place = qdrant_place(store.client, store.collection_name)
        self.is_embedded = is_qdrant_embedded(store.client)
        self._store = store

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in no order."""
        return list(self._pages(self._of(doc_key)))

    def fetch_chunks(self, wanted: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Some chunks of some documents, in one query."""
        models = _models()
        each = [
            models.Filter(
                must=[
                    self._of(doc_key),
                    self._holds(CHUNK_INDEX, models.MatchAny(any=[*indexes])),
                ]
            )
            for doc_key, indexes in wanted.items()
        ]
        return list(self._pages(models.Filter(should=each)))

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Some chunks by their ids, in one query."""
        return list(self._pages(_models().HasIdCondition(has_id=qdrant_ids(ids))))

    def count(self) -> int:
        """Points of the collection."""
        number: int = self._store.client.count(self._store.collection_name).count
        return number

    def _of(self, doc_key: str) -> Any:
        return self._holds(DOC_KEY, _models().MatchValue(value=doc_key))

    def _holds(self, key: str, match: Any) -> Any:
        key = f"{self._store.metadata_payload_key}.{key}"
        return _models().FieldCondition(key=key, match=match)

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in no order."""
        return self._pages()

    def takes_filter(self, where: Any) -> bool:
        """A `Filter` of qdrant-client."""
        return isinstance(where, _models().Filter)

    def _pages(self, *conditions: Any) -> Iterator[StoredChunk]:
        store = self._store
        must = [*conditions, *self.filters]
        offset = None
        while True:
            points, offset = store.client.scroll(
                store.collection_name,
                scroll_filter=_models().Filter(must=must) if must else None,
                limit=_PAGE,
                offset=offset,
                with_payload=True,
                with_vectors=False,
            )
            yield from map(self._chunk, points)
            if offset is None:
                return

    def _chunk(self, point: Any) -> StoredChunk:
        payload = point.payload or {}
        text = payload.get(self._store.content_payload_key)
        metadata = payload.get(self._store.metadata_payload_key)
        return StoredChunk(text or "", metadata or {}, str(point.id))


def _models() -> Any:
    return importlib.import_module("qdrant_client.models")
