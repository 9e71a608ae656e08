"""Chunks of `langchain_qdrant.QdrantVectorStore`, local or on a server."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from oprag.documents import ChunkStore, StoredChunk, qdrant_place
from oprag.metadata import DOC_KEY

_PAGE = 10_000
"""Chunks per call. Large, because a local Qdrant looks at all chunks for each page:
20,000 of them took a minute by 256."""


class QdrantChunks(ChunkStore):
    """Scrolls through a collection."""

    def __init__(self, store: Any) -> None:
        self.name = f"Qdrant collection {store.collection_name!r}"
        self.place = qdrant_place(store.client, store.collection_name)
        self._store = store

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in no order."""
        models = _models()
        key = f"{self._store.metadata_payload_key}.{DOC_KEY}"
        wanted = models.FieldCondition(key=key, match=models.MatchValue(value=doc_key))
        return list(self._pages(wanted))

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in no order."""
        return self._pages()

    def takes_filter(self, where: Any) -> bool:
        """A `Filter` of qdrant-client."""
        return isinstance(where, _models().Filter)

    def _pages(self, *conditions: Any) -> Iterator[StoredChunk]:
        store = self._store
        must = [*conditions, *self.filters]
        text_key, metadata_key = store.content_payload_key, store.metadata_payload_key
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
            for point in points:
                payload = point.payload or {}
                text, metadata = payload.get(text_key), payload.get(metadata_key)
                yield StoredChunk(text or "", metadata or {}, str(point.id))
            if offset is None:
                return


def _models() -> Any:
    return importlib.import_module("qdrant_client.models")
