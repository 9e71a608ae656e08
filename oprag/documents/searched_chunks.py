"""Chunks that a search did not find, read as whoever searched may read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from oprag.documents.search_filters import (
    SearchFilter,
    contradicts,
    unknown_filter,
    unseen_filter,
)
from oprag.documents.stored_chunks import ChunkStore, StoredChunk
from oprag.metadata import CHUNK_INDEX, DOC_KEY, DOC_VERSION
from oprag.positions import as_number

ChunkKey: TypeAlias = tuple[str, str, int]
"""Which chunk: `doc_key`, `doc_version`, `chunk_index`."""

_MOST_IDS = 5_000
"""Ids in one query: some stores take no more values than SQL allows."""


def chunk_key(metadata: Mapping[str, Any]) -> ChunkKey | None:
    """Return which chunk metadata are of; None where they do not tell."""
    doc_key, index = metadata.get(DOC_KEY), as_number(metadata.get(CHUNK_INDEX))
    if not isinstance(doc_key, str) or index is None:
        return None
    return doc_key, str(metadata.get(DOC_VERSION) or ""), index


class SearchedChunks:
    """Reads single chunks of a store, through a search's filter.

    A chunk whose id is known is read by it, which takes a store a small part of the
    time; but not where there is a filter, which may bind only what is searched for.
    All others are read by their metadata, those of all documents together.

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

    def read(self, wanted: Mapping[ChunkKey, str]) -> list[StoredChunk]:
        """Return what the store has of these chunks, in two queries at most.

        Args:
            wanted: Each with the id that it has if it is there; empty where nobody
                knows. What has another id, or is another chunk under this one, is
                looked for by its metadata.
        """
        ids = self._known(wanted)
        found = _confirmed(self._store.fetch_ids(ids), wanted) if ids else []
        if rest := _by_document(wanted, found):
            found += self._store.fetch_chunks(rest)
        return [*self._admitted(found)]

    async def aread(self, wanted: Mapping[ChunkKey, str]) -> list[StoredChunk]:
        """Async version of `read`."""
        ids = self._known(wanted)
        found = _confirmed(await self._store.afetch_ids(ids), wanted) if ids else []
        if rest := _by_document(wanted, found):
            found += await self._store.afetch_chunks(rest)
        return [*self._admitted(found)]

    def _known(self, wanted: Mapping[ChunkKey, str]) -> list[str]:
        restricted = self._store.filters or self._ids is not None
        if restricted or not self._store.has_fetch_ids:
            return []
        return [*filter(None, wanted.values())][:_MOST_IDS]

    def read_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Return what the store has now of these ids."""
        return [*self._admitted(self._store.fetch_ids(ids))] if ids else []

    def read_all(self) -> list[StoredChunk]:
        """Return all chunks that the search may see."""
        return [*self._admitted(self._store.scan())]

    def _admitted(self, chunks: Iterable[StoredChunk]) -> Iterator[StoredChunk]:
        return admitted(chunks, self._store.filters, self._ids)


def _confirmed(
    chunks: Iterable[StoredChunk], wanted: Mapping[ChunkKey, str]
) -> list[StoredChunk]:
    """Those that are what their ids say."""
    return [
        chunk
        for chunk in chunks
        if (key := chunk_key(chunk.metadata)) and wanted.get(key) == chunk.id
    ]


def _by_document(
    wanted: Iterable[ChunkKey], found: Iterable[StoredChunk]
) -> dict[str, list[int]]:
    """Indexes of the chunks that were not found, by `doc_key`."""
    there = {chunk_key(chunk.metadata) for chunk in found}
    asked: dict[str, set[int]] = {}
    for key in wanted:
        if key not in there:
            asked.setdefault(key[0], set()).add(key[2])
    return {doc_key: sorted(indexes) for doc_key, indexes in asked.items()}


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
