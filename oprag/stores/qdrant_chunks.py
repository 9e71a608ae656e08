"""Chunks of a Qdrant collection, local or on a server, for both frameworks."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from oprag.effects import run_in_thread
from oprag.errors import InvalidOptionError
from oprag.metadata import CHUNK_INDEX, DOC_KEY
from oprag.stores.stored_chunks import ChunkStore, StoredChunk, Wanted

_PAGE = 10_000
"""Chunks per call. Large, because a local Qdrant looks at all chunks for each page:
with 256 per page, 20,000 of them took a minute."""


class QdrantChunks(ChunkStore):
    """Scrolls through a collection.

    Args:
        client: Qdrant's client; None if there is only an async one.
        collection: The collection's name.
        chunk_of: Makes a chunk of a record from Qdrant.
        prefix: The beginning of the metadata keys in the payload.
        aclient: Qdrant's async client; None if there is none.
    """

    is_queried = True

    def __init__(
        self,
        client: Any,
        collection: str,
        chunk_of: Callable[[Any], StoredChunk],
        *,
        prefix: str = "",
        aclient: Any = None,
    ) -> None:
        self.name = f"Qdrant collection {collection!r}"
        self._client, self._aclient = client, aclient
        self._collection, self._chunk_of, self._prefix = collection, chunk_of, prefix
        options = getattr(client or aclient, "init_options", None) or {}
        keys = ("location", "url", "host", "port", "path")
        where = [options.get(key) for key in keys]
        if any(where) and ":memory:" not in where:
            self.place = f"Qdrant {where} {collection}"
        self.is_embedded = bool(options.get("path")) or not self.place

    @property
    def _sync_client(self) -> Any:
        if self._client is None:
            message = (
                f"{self.name} has an async client alone, and is to be read by a sync "
                "one. Give the vector store client= beside aclient=."
            )
            raise InvalidOptionError(message, option="client", value=None)
        return self._client

    def count(self) -> int | None:
        """Return the number of points in the collection; None if it is not there."""
        if not self._sync_client.collection_exists(self._collection):
            return None
        return int(self._client.count(self._collection).count)

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is a `Filter` of qdrant-client."""
        return isinstance(where, _models().Filter)

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        """Yield the chunks of some documents, or of some ids; else all."""
        asked = self._build_request(wanted, ids)
        # LlamaIndex's wrapper makes the collection only when the first node is added.
        while self._sync_client.collection_exists(self._collection):
            points, asked["offset"] = self._client.scroll(**asked)
            yield from map(self._chunk_of, points)
            if asked["offset"] is None:
                return

    def select(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> list[StoredChunk] | None:
        """Return chunks that have one of the values under each key of the metadata.

        Returns:
            None for values that Qdrant does not match, such as fractions.
        """
        if not _are_matched(values):
            return None
        return [*self._scroll(self._make_selection(values, limit), limit)]

    async def aselect(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> list[StoredChunk] | None:
        """Async version of `select`, by the async client if there is one."""
        if not _are_matched(values):
            return None
        return await self._ascroll(self._make_selection(values, limit), limit)

    def first(self, limit: int) -> list[StoredChunk]:
        """Return the first points of the collection."""
        return [*self._scroll(self._make_selection({}, limit), limit)]

    async def afirst(self, limit: int) -> list[StoredChunk]:
        """Async version of `first`, by the async client if there is one."""
        return await self._ascroll(self._make_selection({}, limit), limit)

    def _make_selection(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> dict[str, Any]:
        models, asked = _models(), self._build_request(None, None)
        must = [
            models.FieldCondition(
                key=self._prefix + key, match=models.MatchAny(any=[*any_of])
            )
            for key, any_of in values.items()
        ]
        must += map(self._condition, self.filters)
        where = models.Filter(must=must) if must else None
        return {**asked, "scroll_filter": where, "limit": min(limit, _PAGE)}

    def _scroll(self, asked: dict[str, Any], limit: int) -> Iterator[StoredChunk]:
        if not self._sync_client.collection_exists(self._collection):
            return
        left = limit
        while left > 0:
            points, asked["offset"] = self._client.scroll(**asked)
            yield from map(self._chunk_of, points[:left])
            left -= len(points)
            if asked["offset"] is None:
                return

    async def _ascroll(self, asked: dict[str, Any], limit: int) -> list[StoredChunk]:
        if self._aclient is None:
            return await run_in_thread(lambda: [*self._scroll(asked, limit)])
        chunks: list[StoredChunk] = []
        if not await self._aclient.collection_exists(self._collection):
            return chunks
        while len(chunks) < limit:
            points, asked["offset"] = await self._aclient.scroll(**asked)
            chunks += map(self._chunk_of, points)
            if asked["offset"] is None:
                break
        return chunks[:limit]

    async def aread(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> list[StoredChunk]:
        """Async version of `read`, by the async client if there is one."""
        if self._aclient is None:
            return [*await super().aread(wanted, ids)]
        chunks: list[StoredChunk] = []
        asked = self._build_request(wanted, ids)
        while await self._aclient.collection_exists(self._collection):
            points, asked["offset"] = await self._aclient.scroll(**asked)
            chunks += map(self._chunk_of, points)
            if asked["offset"] is None:
                break
        return chunks

    def _build_request(
        self, wanted: Wanted | None, ids: Collection[str] | None
    ) -> dict[str, Any]:
        models = _models()
        must = [*map(self._condition, self.filters)]
        if wanted is not None:
            each = [
                self._filter_document(doc_key, numbers)
                for doc_key, numbers in wanted.items()
            ]
            must.append(models.Filter(should=each))
        if ids is not None:  # a UUID, or a whole number
            known = [int(each) if each.isdecimal() else each for each in ids]
            must.append(models.HasIdCondition(has_id=known))
        return {
            "collection_name": self._collection,
            "scroll_filter": models.Filter(must=must) if must else None,
            "limit": _PAGE,
            "offset": None,
            "with_payload": True,
            "with_vectors": False,
        }

    def _filter_document(self, doc_key: str, indexes: Collection[int] | None) -> Any:
        """Return the condition for some chunks of one document."""
        models = _models()
        matches = {DOC_KEY: models.MatchValue(value=doc_key)}
        if indexes is not None:
            matches[CHUNK_INDEX] = models.MatchAny(any=[*indexes])
        return models.Filter(
            must=[
                models.FieldCondition(key=self._prefix + key, match=match)
                for key, match in matches.items()
            ]
        )

    def _condition(self, where: Any) -> Any:
        """Return a search's filter in Qdrant's form."""
        return where


def _are_matched(values: Mapping[str, Collection[Any]]) -> bool:
    """Return whether Qdrant matches such values: texts or whole numbers."""
    kinds = [{*map(type, any_of)} for any_of in values.values()]
    return all(kind in ({str}, {int}) for kind in kinds)


def _models() -> Any:
    return importlib.import_module("qdrant_client.models")
