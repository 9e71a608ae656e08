"""Chunks of LlamaIndex's `QdrantVectorStore`, local or on a server."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.documents import ChunkStore, StoredChunk, qdrant_place
from oprag.metadata import DOC_KEY

_PAGE = 10_000
"""Chunks per call. Large, because a local Qdrant looks at all chunks for each page."""


class QdrantChunks(ChunkStore):
    """Scrolls through a collection."""

    def __init__(self, store: Any) -> None:
        self.name = f"Qdrant collection {store.collection_name!r}"
        client = store.client or store._aclient  # noqa: SLF001 -- nothing public gives it
        self.place = qdrant_place(client, store.collection_name)
        self._store = store

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in no order."""
        return [chunk for page in self._pages(_of(doc_key)) for chunk in page]

    async def afetch(self, doc_key: str) -> list[StoredChunk]:
        """Async version of `fetch`, by the store's async client where it has one."""
        if self._store._aclient is None:  # noqa: SLF001 -- nothing public gives it
            return await super().afetch(doc_key)
        offset, chunks = None, []
        name = self._store.collection_name
        if not await self._store._aclient.collection_exists(name):  # noqa: SLF001 -- as above
            return []
        while True:
            points, offset = await self._store._aclient.scroll(  # noqa: SLF001 -- as above
                **self._asked(_of(doc_key), offset)
            )
            chunks += self._chunks(points)
            if offset is None:
                return chunks

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in no order."""
        for page in self._pages(None):
            yield from page

    def _pages(self, wanted: Any) -> Iterator[list[StoredChunk]]:
        offset = None
        # The wrapper makes the collection when the first node is added.
        if not self._store.client.collection_exists(self._store.collection_name):
            return
        while True:
            points, offset = self._store.client.scroll(**self._asked(wanted, offset))
            yield self._chunks(points)
            if offset is None:
                return

    def _asked(self, wanted: Any, offset: Any) -> dict[str, Any]:
        return {
            "collection_name": self._store.collection_name,
            "scroll_filter": wanted,
            "limit": _PAGE,
            "offset": offset,
            "with_payload": True,
            "with_vectors": False,
        }

    def _chunks(self, points: Any) -> list[StoredChunk]:
        return [_chunk(point, self._store.text_key) for point in points]


def _of(doc_key: str) -> Any:
    models = importlib.import_module("qdrant_client.models")
    match = models.MatchValue(value=doc_key)
    return models.Filter(must=[models.FieldCondition(key=DOC_KEY, match=match)])


def _chunk(point: Any, text_key: str | None) -> StoredChunk:
    payload = dict(point.payload or {})
    if "_node_content" in payload:  # the text is inside
        return chunk_of_row(None, payload, str(point.id))
    text = payload.pop(text_key, None) if text_key else None
    return chunk_of_row(text, payload, str(point.id))
