"""Chunks of LlamaIndex's `PGVectorStore`."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from llama_index.core.vector_stores.types import MetadataFilters

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.documents import ChunkStore, StoredChunk
from oprag.metadata import CHUNK_INDEX, DOC_KEY

_PAGE = 5_000

_Wanted: TypeAlias = Mapping[str, Collection[int] | None]
"""Indexes by `doc_key`; None for all of a document."""


class PostgresChunks(ChunkStore):
    """Reads a table page by page, with keys as bound parameters.

    `afetch` is `fetch` in a thread: the store's async engine belongs to the event
    loop that used it first, and fails in any other.
    """

    def __init__(self, store: Any) -> None:
        self.name = f"PostgreSQL table '{store.schema_name}.data_{store.table_name}'"
        url = getattr(store, "connection_string", "")
        self.place = f"PostgreSQL {url} {store.schema_name}.{store.table_name}"
        self._store = store
        self._connecting = threading.Lock()

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in the order in which they were added."""
        return list(self._pages({doc_key: None}))

    def fetch_chunks(self, wanted: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Some chunks of some documents, in one query."""
        return list(self._pages(wanted))

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Some chunks by their ids, in one query."""
        return list(self._pages({}, [*ids]))

    def count(self) -> int:
        """Rows of the table."""
        with self._asking() as (session, table):
            number: int = session.query(table).count()
            return number

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in the order in which they were added."""
        return self._pages({})

    def takes_filter(self, where: Any) -> bool:
        """`MetadataFilters`; like a search, it writes their values into the SQL."""
        return isinstance(where, MetadataFilters)

    def _pages(
        self, wanted: _Wanted, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        last = -1
        while True:
            rows = self._rows(wanted, ids, last)
            for row in rows:
                yield chunk_of_row(row.text, row.metadata_, row.node_id)
            if len(rows) < _PAGE:
                return
            last = rows[-1].id

    def _rows(
        self, wanted: _Wanted, ids: Collection[str] | None, last: int
    ) -> list[Any]:
        # The wrapper's public `get_nodes` needs a filter, writes its value into the
        # SQL, and reads the vectors of all rows at once.
        with self._asking() as (session, table):
            asked = session.query(
                table.id, table.node_id, table.text, table.metadata_
            ).filter(table.id > last)
            if ids is not None:
                asked = asked.filter(table.node_id.in_(ids))
            if wanted:
                asked = asked.filter(_any_of(wanted, table.metadata_))
            for filters in self.filters:
                asked = asked.filter(self._store._recursively_apply_filters(filters))  # noqa: SLF001 -- as the search does
            rows: list[Any] = asked.order_by(table.id).limit(_PAGE).all()
            return rows

    @contextmanager
    def _asking(self) -> Iterator[tuple[Any, Any]]:
        """A session, and the table as SQLAlchemy has it."""
        store = self._store
        with self._connecting:  # or two threads would create the table
            store._initialize()  # noqa: SLF001 -- nothing public does it
        with store._session() as session:  # noqa: SLF001 -- nothing public does it
            yield session, store._table_class  # noqa: SLF001 -- nothing public does it


def _any_of(wanted: _Wanted, metadata: Any) -> Any:
    sql: Any = importlib.import_module("sqlalchemy")
    each = []
    for doc_key, indexes in wanted.items():
        of_one = metadata[DOC_KEY].astext == doc_key
        if indexes is not None:
            numbers = [*map(str, indexes)]
            of_one = sql.and_(of_one, metadata[CHUNK_INDEX].astext.in_(numbers))
        each.append(of_one)
    return sql.or_(*each)
