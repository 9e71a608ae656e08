"""Chunks of LlamaIndex's `PGVectorStore`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from llama_index.core.vector_stores.types import MetadataFilters

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.documents import ChunkStore, StoredChunk
from oprag.metadata import DOC_KEY

_PAGE = 5_000


class PostgresChunks(ChunkStore):
    """Reads a table page by page, with the key as a bound parameter.

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
        return list(self._pages(doc_key))

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in the order in which they were added."""
        return self._pages(None)

    def takes_filter(self, where: Any) -> bool:
        """`MetadataFilters`; like a search, it writes their values into the SQL."""
        return isinstance(where, MetadataFilters)

    def _pages(self, doc_key: str | None) -> Iterator[StoredChunk]:
        last = -1
        while True:
            rows = self._rows(doc_key, last)
            for row in rows:
                yield chunk_of_row(row.text, row.metadata_, row.node_id)
            if len(rows) < _PAGE:
                return
            last = rows[-1].id

    def _rows(self, doc_key: str | None, last: int) -> list[Any]:
        # The wrapper's public `get_nodes` needs a filter, writes its value into the
        # SQL, and reads the vectors of all rows at once.
        store = self._store
        with self._connecting:  # or two threads would create the table
            store._initialize()  # noqa: SLF001 -- see above
        table = store._table_class  # noqa: SLF001 -- see above
        with store._session() as session:  # noqa: SLF001 -- see above
            asked = session.query(
                table.id, table.node_id, table.text, table.metadata_
            ).filter(table.id > last)
            if doc_key is not None:
                asked = asked.filter(table.metadata_[DOC_KEY].astext == doc_key)
            for filters in self.filters:
                asked = asked.filter(store._recursively_apply_filters(filters))  # noqa: SLF001 -- as the search does
            rows: list[Any] = asked.order_by(table.id).limit(_PAGE).all()
            return rows
