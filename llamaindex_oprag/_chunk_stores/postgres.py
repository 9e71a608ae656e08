"""Chunks of LlamaIndex's `PGVectorStore`."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from llama_index.core.vector_stores.types import MetadataFilters

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.stores import ChunkStore, StoredChunk, Wanted, match_wanted

_PAGE = 5_000


class PostgresChunks(ChunkStore):
    """Reads a table page by page, in the order in which its chunks were added.

    Keys are bound parameters. Async methods read in a thread: the store's async engine
    belongs to the event loop that used it first, and fails in any other.
    """

    is_queried = True

    def __init__(self, store: Any) -> None:
        self.name = f"PostgreSQL table '{store.schema_name}.data_{store.table_name}'"
        url = getattr(store, "connection_string", "")
        self.place = f"PostgreSQL {url} {store.schema_name}.{store.table_name}"
        self._store = store
        self._connecting = threading.Lock()

    def count(self) -> int:
        """Return the number of rows in the table."""
        with self._open_session() as (session, table):
            return int(session.query(table).count())

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is `MetadataFilters`.

        Like a search, the store writes their values into the SQL.
        """
        return isinstance(where, MetadataFilters)

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        """Yield the chunks of some documents, or of some ids; else all.

        The wrapper's public `get_nodes` needs a filter, writes its value into the SQL,
        and reads the vectors of all rows at once.
        """
        last, page = -1, [None] * _PAGE
        while len(page) == _PAGE:
            with self._open_session() as (session, table):
                columns = table.id, table.node_id, table.text, table.metadata_
                asked = session.query(*columns).filter(table.id > last)
                if ids is not None:
                    asked = asked.filter(table.node_id.in_(ids))
                if wanted is not None:
                    asked = asked.filter(match_wanted(wanted, table.metadata_))
                for where in self.filters:
                    asked = asked.filter(self._store._recursively_apply_filters(where))  # noqa: SLF001 -- as the search does
                page = asked.order_by(table.id).limit(_PAGE).all()
            for row in page:
                last = row.id
                yield chunk_of_row(row.text, row.metadata_, row.node_id)

    def select(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> list[StoredChunk]:
        """Return chunks that have one of the values under each key of the metadata."""
        with self._open_session() as (session, table):
            asked = session.query(table.node_id, table.text, table.metadata_)
            for key, any_of in values.items():
                texts = [*map(str, any_of)]
                asked = asked.filter(table.metadata_[key].astext.in_(texts))
            for where in self.filters:
                asked = asked.filter(self._store._recursively_apply_filters(where))  # noqa: SLF001 -- as the search does
            rows = asked.order_by(table.id).limit(limit).all()
        return [chunk_of_row(row.text, row.metadata_, row.node_id) for row in rows]

    def first(self, limit: int) -> list[StoredChunk]:
        """Return the first rows of the table."""
        return self.select({}, limit)

    @contextmanager
    def _open_session(self) -> Iterator[tuple[Any, Any]]:
        """Open a session, with SQLAlchemy's class of the table."""
        store = self._store
        with self._connecting:  # or two threads would create the table
            store._initialize()  # noqa: SLF001 -- nothing public does it
        with store._session() as session:  # noqa: SLF001 -- as above
            yield session, store._table_class  # noqa: SLF001 -- as above
