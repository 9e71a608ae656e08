"""Chunks that a search did not find, read as whoever searched may read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from oprag.documents.search_filters import (
    SearchFilter,
    contradicts,
    unknown_filter,
    unseen_filter,
)
from oprag.documents.stored_chunks import ChunkStore, StoredChunk


class SearchedChunks:
    """Reads single chunks of a store, through a search's filter.

    Args:
        store: The store that was searched.
        search: What the search was filtered by.
        option: What they are read for: `"widen"` or `"bm25"`.

    Raises:
        InvalidOptionError: The filter cannot be carried over to the store.
    """

    def __init__(
        self, store: ChunkStore, search: SearchFilter, option: str = "widen"
    ) -> None:
        if search.unseen is not None:
            raise unseen_filter(search.unseen, store.name, option)
        if search.where is not None:
            if not store.takes_filter(search.where):
                raise unknown_filter(search.where, store.name, option)
            store = store.within(search.where)
        self._store = store
        self._ids = search.ids
        self.filtered = search != SearchFilter()
        """Whether there are chunks that the search does not see."""

    def read(self, requests: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Return what the store has of these indexes, a query for each document.

        Args:
            requests: `chunk_index`es by `doc_key`.
        """
        return [
            *self._admitted(
                chunk
                for doc_key, indexes in requests.items()
                for chunk in self._store.fetch_chunks(doc_key, indexes)
            )
        ]

    async def aread(self, requests: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Async version of `read`: all documents at once."""
        from asyncio import gather  # here, because its import takes long

        read = [self._store.afetch_chunks(*each) for each in requests.items()]
        found = await gather(*read)
        return [*self._admitted(chunk for chunks in found for chunk in chunks)]

    def read_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Return what the store has now of these ids."""
        return [*self._admitted(self._store.fetch_ids(ids))] if ids else []

    def read_all(self) -> list[StoredChunk]:
        """Return all chunks that the search may see."""
        return [*self._admitted(self._store.scan())]

    def _admitted(self, chunks: Iterable[StoredChunk]) -> Iterator[StoredChunk]:
        return admitted(chunks, self._store.filters, self._ids)


def admitted(
    chunks: Iterable[StoredChunk],
    filters: Collection[object],
    ids: Collection[str] | None,
) -> Iterator[StoredChunk]:
    """Leave out what a filter certainly keeps out: some stores ignore filters.

    Args:
        chunks: As a store gave them.
        filters: As `ChunkStore.filters`.
        ids: Those of the chunks that a search is limited to; None for all.
    """
    for chunk in chunks:
        if any(contradicts(each, chunk.metadata) for each in filters):
            continue
        if ids is None or chunk.id in ids:
            yield chunk
