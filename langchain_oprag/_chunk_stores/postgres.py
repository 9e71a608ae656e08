"""Chunks of `langchain_postgres.PGVectorStore`."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from oprag.metadata import CHUNK_INDEX, DOC_KEY
from oprag.stores import ChunkStore, StoredChunk, Wanted

_PAGE = 1_000


class PostgresChunks(ChunkStore):
    """Reads a table. A store made by `create` answers async methods only."""

    name = "PGVectorStore table"
    is_queried = True

    def __init__(self, store: Any) -> None:
        self._store = store
        pool = getattr(getattr(store, "_engine", None), "_pool", None)
        if pool is not None and hasattr(store, "get_table_name"):
            self.place = f"PostgreSQL {pool.url!r} {store.get_table_name()}"

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is a dictionary, as the store's search takes it."""
        return isinstance(where, dict)

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        """Yield the chunks of some documents, or of some ids; else all, by their ids.

        The wrapper's own pages have no order, and may skip rows.
        """
        if wanted is not None or ids is not None:
            yield from _chunks(self._store.get(**self._build_request(wanted, ids)))
            return
        page = self._ids_after(None)
        while page:
            yield from self.read(ids=[*map(str, page)])
            page = self._ids_after(page[-1]) if len(page) == _PAGE else []

    async def aread(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> list[StoredChunk]:
        """Async version of `read`, by the store's own connection pool."""
        return [*_chunks(await self._store.aget(**self._build_request(wanted, ids)))]

    def select(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> list[StoredChunk] | None:
        """Return chunks that have one of the values under each key of the metadata.

        Returns:
            None if a key is no name in SQL.
        """
        asked = self._build_selection(values, limit)
        return None if asked is None else [*_chunks(self._store.get(**asked))]

    async def aselect(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> list[StoredChunk] | None:
        """Async version of `select`, by the store's own connection pool."""
        asked = self._build_selection(values, limit)
        return None if asked is None else [*_chunks(await self._store.aget(**asked))]

    def first(self, limit: int) -> list[StoredChunk]:
        """Return some chunks of the table."""
        return self.select({}, limit) or []

    async def afirst(self, limit: int) -> list[StoredChunk]:
        """Async version of `first`, by the store's own connection pool."""
        return await self.aselect({}, limit) or []

    def _build_selection(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> dict[str, Any] | None:
        if not all(key.isidentifier() for key in values):
            return None
        every: list[Any] = [*self.filters]
        for key, any_of in values.items():
            every.append({"$or": [{key: value} for value in any_of]})
        where = {"$and": every} if every else None
        return {"where": where, "include": ["documents", "metadatas"], "limit": limit}

    def _ids_after(self, last: Any) -> list[Any]:
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

    def _build_request(
        self, wanted: Wanted | None, ids: Collection[str] | None
    ) -> dict[str, Any]:
        every = [*self.filters]
        if wanted is not None:
            every.append({"$or": [_filter_document(*each) for each in wanted.items()]})
        where = {"$and": every} if every else None
        asked = {"where": where, "include": ["documents", "metadatas"]}
        return asked if ids is None else {**asked, "ids": [*ids]}


def _filter_document(doc_key: str, indexes: Collection[int] | None) -> dict[str, Any]:
    document: dict[str, Any] = {DOC_KEY: doc_key}
    if indexes is None:
        return document
    return {"$and": [document, {CHUNK_INDEX: {"$in": [*indexes]}}]}


def _chunks(found: Mapping[str, Any]) -> Iterator[StoredChunk]:
    columns = (found[name] for name in ("documents", "metadatas", "ids"))
    for text, metadata, chunk_id in zip(*columns, strict=True):
        yield StoredChunk(text or "", metadata, chunk_id)
