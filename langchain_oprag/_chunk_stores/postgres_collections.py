"""Chunks of `langchain_postgres.PGVector`, the older class of that package."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from oprag.errors import InvalidOptionError
from oprag.stores import ChunkStore, StoredChunk, Wanted, match_wanted

_PAGE = 1_000


class PostgresCollectionChunks(ChunkStore):
    """Reads a collection, page by page in the order of its ids."""

    is_queried = True

    def __init__(self, store: Any) -> None:
        self.name = f"PGVector collection {store.collection_name!r}"
        self._store = store
        engine = getattr(store, "_engine", None) or getattr(
            store, "_async_engine", None
        )
        if engine is not None:
            self.place = f"PostgreSQL {engine.url!r} {store.collection_name}"

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is a dictionary, as the store's search takes it."""
        return isinstance(where, dict)

    def count(self) -> int | None:
        """Return the number of rows; None if the store can only be awaited."""
        if self._store.async_mode:
            return None
        sql: Any = importlib.import_module("sqlalchemy")
        with self._store._make_sync_session() as session:  # noqa: SLF001 -- nothing public reads all
            counted = sql.select(sql.func.count()).where(*self._filter_collection())
            return int(session.execute(counted).scalar_one())

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        """Yield the chunks of some documents, or of some ids; else all."""
        table = self._table
        where = []
        if ids is not None:
            where.append(table.id.in_([*ids]))
        if wanted is not None:
            where.append(match_wanted(wanted, table.cmetadata))
        last, size = "", _PAGE
        while size == _PAGE:
            rows = self._rows([*where, table.id > last], _PAGE)
            size = len(rows)
            for last, text, metadata in rows:
                yield StoredChunk(text or "", metadata or {}, last)

    def select(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> list[StoredChunk]:
        """Return chunks that have one of the values under each key of the metadata."""
        table = self._table
        where = [
            table.cmetadata[key].astext.in_([*map(str, any_of)])
            for key, any_of in values.items()
        ]
        rows = self._rows(where, limit)
        return [
            StoredChunk(text or "", metadata or {}, i) for i, text, metadata in rows
        ]

    def first(self, limit: int) -> list[StoredChunk]:
        """Return the first rows of the collection."""
        return self.select({}, limit)

    @property
    def _table(self) -> Any:
        if self._store.async_mode:
            message = (
                f"{self.name} was made with async_mode=True, and its chunks are read "
                "by a sync connection. Make it without, or examine what is returned."
            )
            raise InvalidOptionError(message, option="async_mode", value=True)
        return self._store.EmbeddingStore

    def _filter_collection(self) -> list[Any]:
        collections, table = self._store.CollectionStore, self._table
        same = table.collection_id == collections.uuid
        return [same, collections.name == self._store.collection_name]

    def _rows(self, where: Collection[Any], limit: int) -> list[tuple[Any, ...]]:
        sql: Any = importlib.import_module("sqlalchemy")
        table = self._table
        every = [*self._filter_collection(), *where]
        every += [self._store._create_filter_clause(each) for each in self.filters]  # noqa: SLF001 -- as a search does
        asked = sql.select(table.id, table.document, table.cmetadata).where(*every)
        with self._store._make_sync_session() as session:  # noqa: SLF001 -- as above
            found = session.execute(asked.order_by(table.id).limit(limit))
            return [tuple(row) for row in found]
