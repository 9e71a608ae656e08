"""A store in memory that can be stopped after any operation."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from oprag.indexing import ChunkWriter, WantedChunk
from oprag.stores import ChunkStore, StoredChunk, Wanted, select_chunks


class Stopped(BaseException):
    """A kill as it looks from inside: nothing catches it."""


class FakeStore(ChunkStore):
    """A list of rows, as a store without unique ids keeps them.

    Filters of a search are values by key. What is asked for is noted: the
    documents that are wanted, or `"ids"`.
    """

    name = "fake store"
    ignores = False
    """Whether it takes filters and does not keep to them."""

    def __init__(
        self,
        rows: Sequence[StoredChunk] = (),
        *,
        change: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict,
        filters: bool = True,
    ) -> None:
        self.rows = list(rows)
        self.asked: list[Any] = []
        self._change = change
        self._filters = filters

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> list[StoredChunk]:
        self.asked.append("ids" if ids is not None else wanted)
        found = [self._given(row) for row in self.rows if self._admits(row)]
        if ids is not None:
            return [row for row in found if row.id in ids]
        if wanted is None:
            return found
        return [*select_chunks(found[::-1], wanted)] if self._filters else found[::-1]

    def takes_filter(self, where: Any) -> bool:
        return isinstance(where, dict)

    def _admits(self, row: StoredChunk) -> bool:
        return self.ignores or all(
            row.metadata.get(key) == value
            for where in self.filters
            for key, value in where.items()
        )

    def _given(self, row: StoredChunk) -> StoredChunk:
        return row._replace(metadata=self._change(row.metadata))


class FakeWriter(ChunkWriter):
    """Writes row by row, and stops when it has written as many as it may."""

    def __init__(self, store: FakeStore, rows: int | None = None) -> None:
        self.store = self.written = store
        self.rows_written = 0
        self.largest = 0
        self.added: list[str] = []
        self._rows = rows

    def add(self, chunks: Sequence[WantedChunk]) -> None:
        self.largest = max(self.largest, len(chunks))
        for chunk in chunks:
            self._count()
            self.added.append(chunk.text)
            metadata = dict(chunk.metadata)
            self.store.rows.append(StoredChunk(chunk.text, metadata, chunk.id))

    def delete(self, ids: Sequence[str]) -> None:
        self.largest = max(self.largest, len(ids))
        for chunk_id in ids:
            assert any(row.id == chunk_id for row in self.store.rows), "not there"
            self._count()
            self.store.rows = [r for r in self.store.rows if r.id != chunk_id]

    def _count(self) -> None:
        if self.rows_written == self._rows:
            raise Stopped
        self.rows_written += 1
