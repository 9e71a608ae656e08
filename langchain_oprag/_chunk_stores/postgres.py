"""Chunks of `langchain_postgres.PGVectorStore`."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from oprag.documents import ChunkStore, StoredChunk
from oprag.metadata import CHUNK_INDEX, DOC_KEY

_PAGE = 1_000
_COLUMNS = ["documents", "metadatas"]


class PostgresChunks(ChunkStore):
    """Reads a table. A store made by `create` answers `afetch` only."""

    name = "PGVectorStore table"

    def __init__(self, store: Any) -> None:
        self._store = store
        pool = getattr(getattr(store, "_engine", None), "_pool", None)
        if pool is not None and hasattr(store, "get_table_name"):
            self.place = f"PostgreSQL {pool.url!r} {store.get_table_name()}"

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in no order."""
        return _chunks(self._store.get(**self._asked({DOC_KEY: doc_key})))

    async def afetch(self, doc_key: str) -> list[StoredChunk]:
        """Async version of `fetch`, by the store's own connection pool."""
        return _chunks(await self._store.aget(**self._asked({DOC_KEY: doc_key})))

    def fetch_chunks(self, wanted: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Some chunks of some documents, in one query."""
        return _chunks(self._store.get(**self._asked(_any_of(wanted))))

    async def afetch_chunks(
        self, wanted: Mapping[str, Collection[int]]
    ) -> list[StoredChunk]:
        """Async version of `fetch_chunks`, by the store's own connection pool."""
        return _chunks(await self._store.aget(**self._asked(_any_of(wanted))))

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Some chunks by their ids, in one query."""
        asked = {"ids": [*ids], "where": self._where(), "include": _COLUMNS}
        return _chunks(self._store.get(**asked))

    async def afetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Async version of `fetch_ids`, by the store's own connection pool."""
        asked = {"ids": [*ids], "where": self._where(), "include": _COLUMNS}
        return _chunks(await self._store.aget(**asked))

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in the order of their ids."""
        page = self._ids_after(None)
        while page:
            yield from self.fetch_ids([*map(str, page)])
            page = self._ids_after(page[-1]) if len(page) == _PAGE else []

    def _ids_after(self, last: Any) -> list[Any]:
        """The next ids: the wrapper's own pages have no order, and may skip rows."""
        table = self._store._PGVectorStore__vs  # noqa: SLF001 -- nothing public tells its columns
        sql: Any = importlib.import_module("sqlalchemy")
        id_ = sql.column(table.id_column)
        asked = sql.select(id_).select_from(
            sql.table(table.table_name, schema=table.schema_name)
        )
        asked = asked.order_by(id_).limit(_PAGE)
        asked = asked if last is None else asked.where(id_ > last)

        async def read() -> list[Any]:
            async with table.engine.connect() as connection:
                return [*(await connection.execute(asked)).scalars()]

        found: list[Any] = self._store._engine._run_as_sync(read())  # noqa: SLF001 -- as the store's `get` does
        return found

    def some(self, number: int) -> list[StoredChunk]:
        """Some chunks, without reading the ids of all."""
        where = self._where()
        return _chunks(self._store.get(where=where, limit=number, include=_COLUMNS))

    def takes_filter(self, where: Any) -> bool:
        """A dictionary, as the store's search takes it."""
        return isinstance(where, dict)

    def _asked(self, condition: dict[str, Any]) -> dict[str, Any]:
        return {"where": self._where(condition), "include": _COLUMNS}

    def _where(self, *conditions: dict[str, Any]) -> dict[str, Any] | None:
        every = [*conditions, *self.filters]
        return {"$and": every} if every else None


def _any_of(wanted: Mapping[str, Collection[int]]) -> dict[str, Any]:
    return {
        "$or": [
            {"$and": [{DOC_KEY: doc_key}, {CHUNK_INDEX: {"$in": [*indexes]}}]}
            for doc_key, indexes in wanted.items()
        ]
    }


def _chunks(found: Mapping[str, Any]) -> list[StoredChunk]:
    return [
        StoredChunk(text or "", metadata, chunk_id)
        for text, metadata, chunk_id in zip(
            found["documents"], found["metadatas"], found["ids"], strict=True
        )
    ]
