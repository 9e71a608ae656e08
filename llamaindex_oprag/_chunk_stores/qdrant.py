"""Chunks of LlamaIndex's `QdrantVectorStore`, local or on a server."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from llama_index.core.vector_stores.types import MetadataFilters

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.documents import (
    ChunkStore,
    StoredChunk,
    is_qdrant_embedded,
    qdrant_ids,
    qdrant_place,
)
from oprag.metadata import CHUNK_INDEX, DOC_KEY

_PAGE = 10_000
"""Chunks per call. Large, because a local Qdrant looks at all chunks for each page."""


class QdrantChunks(ChunkStore):
    """Scrolls through a collection."""

    def __init__(self, store: Any) -> None:
        self.name = f"Qdrant collection {store.collection_name!r}"
        client = store.client or store._aclient  # noqa: SLF001 -- nothing public gives it
        self.place = qdrant_place(client, store.collection_name)
        self.is_embedded = is_qdrant_embedded(client)
        self._store = store

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in no order."""
        return self._fetched(_of(doc_key))

    async def afetch(self, doc_key: str) -> list[StoredChunk]:
        """Async version of `fetch`, by the store's async client where it has one."""
        return await self._afetched(_of(doc_key))

    def fetch_chunks(self, wanted: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Some chunks of some documents, in one query."""
        return self._fetched(_any_of(wanted))

    async def afetch_chunks(
        self, wanted: Mapping[str, Collection[int]]
    ) -> list[StoredChunk]:
        """Async version of `fetch_chunks`, as `afetch`."""
        return await self._afetched(_any_of(wanted))

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Some chunks by their ids, in one query."""
        return self._fetched(_models().HasIdCondition(has_id=qdrant_ids(ids)))

    async def afetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Async version of `fetch_ids`, as `afetch`."""
        return await self._afetched(_models().HasIdCondition(has_id=qdrant_ids(ids)))

    def count(self) -> int | None:
        """Points of the collection."""
        name = self._store.collection_name
        if not self._store.client.collection_exists(name):
            return None
        number: int = self._store.client.count(name).count
        return number

    def _fetched(self, *conditions: Any) -> list[StoredChunk]:
        return [chunk for page in self._pages(*conditions) for chunk in page]

    async def _afetched(self, *conditions: Any) -> list[StoredChunk]:
        if self._store._aclient is None:  # noqa: SLF001 -- nothing public gives it
            return await asyncio.to_thread(self._fetched, *conditions)
        offset, chunks = None, []
        name = self._store.collection_name
        if not await self._store._aclient.collection_exists(name):  # noqa: SLF001 -- as above
            return []
        while True:
            points, offset = await self._store._aclient.scroll(  # noqa: SLF001 -- as above
                **self._asked(conditions, offset)
            )
            chunks += self._chunks(points)
            if offset is None:
                return chunks

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in no order."""
        for page in self._pages():
            yield from page

    def takes_filter(self, where: Any) -> bool:
        """`MetadataFilters`, or a `Filter` of qdrant-client."""
        return isinstance(where, (MetadataFilters, _models().Filter))

    def _pages(self, *conditions: Any) -> Iterator[list[StoredChunk]]:
        offset = None
        # The wrapper makes the collection when the first node is added.
        if not self._store.client.collection_exists(self._store.collection_name):
            return
        while True:
            points, offset = self._store.client.scroll(
                **self._asked(conditions, offset)
            )
            yield self._chunks(points)
            if offset is None:
                return

    def _asked(self, conditions: Sequence[Any], offset: Any) -> dict[str, Any]:
        must = [*conditions, *map(self._as_condition, self.filters)]
        return {
            "collection_name": self._store.collection_name,
            "scroll_filter": _models().Filter(must=must) if must else None,
            "limit": _PAGE,
            "offset": offset,
            "with_payload": True,
            "with_vectors": False,
        }

    def _as_condition(self, filters: Any) -> Any:
        """What the store itself makes of a filter in a search."""
        if not isinstance(filters, MetadataFilters):
            return filters
        return self._store._build_subfilter(filters)  # noqa: SLF001 -- nothing public does it

    def _chunks(self, points: Any) -> list[StoredChunk]:
        return [_chunk(point, self._store.text_key) for point in points]


def _of(doc_key: str) -> Any:
    match = _models().MatchValue(value=doc_key)
    return _models().FieldCondition(key=DOC_KEY, match=match)


def _any_of(wanted: Mapping[str, Collection[int]]) -> Any:
    return _models().Filter(
        should=[
            _models().Filter(must=[_of(doc_key), _numbered(indexes)])
            for doc_key, indexes in wanted.items()
        ]
    )


def _numbered(indexes: Collection[int]) -> Any:
    match = _models().MatchAny(any=[*indexes])
    return _models().FieldCondition(key=CHUNK_INDEX, match=match)


def _models() -> Any:
    return importlib.import_module("qdrant_client.models")


def _chunk(point: Any, text_key: str | None) -> StoredChunk:
    payload = dict(point.payload or {})
    if "_node_content" in payload:  # the text is inside
        return chunk_of_row(None, payload, str(point.id))
    text = payload.pop(text_key, None) if text_key else None
    return chunk_of_row(text, payload, str(point.id))
