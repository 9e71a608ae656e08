"""Chunks that a search did not find, read only if the searcher may read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

from oprag.effects import Effect, Effects, describe_call
from oprag.metadata import CHUNK_INDEX, DOC_KEY, DOC_VERSION, as_number
from oprag.stores.search_filters import NO_FILTER, SearchFilter, contradicts
from oprag.stores.stored_chunks import ChunkStore, StoredChunk, Wanted, select_chunks

ChunkKey: TypeAlias = tuple[str, str, int]
"""The identity of a chunk: `doc_key`, `doc_version`, `chunk_index`."""

_MOST_IDS = 5_000
"""The most ids in one query: some stores take no more values than SQL allows."""


def chunk_key(metadata: Mapping[str, Any]) -> ChunkKey | None:
    """Return the key of the chunk that metadata describe; None if they have none."""
    doc_key, index = metadata.get(DOC_KEY), as_number(metadata.get(CHUNK_INDEX))
    if not isinstance(doc_key, str) or index is None:
        return None
    return doc_key, str(metadata.get(DOC_VERSION) or ""), index


class SearchedChunks:
    """Reads chunks of a store, through a search's filter.

    Raises:
        InvalidOptionError: The filter cannot be carried over to the store.
    """

    def __init__(
        self,
        store: ChunkStore,
        search: SearchFilter = NO_FILTER,
        option: str = "documents",
    ) -> None:
        known = search.where is None or store.takes_filter(search.where)
        if search.unseen is not None or not known:
            raise search.refusal(store.name, option)
        self.store = store if search.where is None else store.within(search.where)
        self._ids = search.ids

    @property
    def filtered(self) -> bool:
        """Whether there are chunks that the search does not see."""
        return bool(self.store.filters) or self._ids is not None

    @property
    def filters(self) -> tuple[Any, ...]:
        """Everything that hides chunks: the store's filters, and the search's ids."""
        ids = () if self._ids is None else (tuple(sorted(self._ids)),)
        return (*self.store.filters, *ids)

    def select(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> Effects[list[StoredChunk] | None]:
        """Return chunks that have one of the values under each key of the metadata.

        Returns:
            At most `limit`; None if the store cannot find them.
        """
        store = self.store
        found = yield describe_call(store.select, store.aselect, values, limit)
        if found is None:
            return None
        return [
            chunk
            for chunk in self._drop_hidden(found)
            if all(chunk.metadata.get(key) in any_of for key, any_of in values.items())
        ]

    def first(self, limit: int) -> Effects[list[StoredChunk]]:
        """Return the first chunks that the search may find, in the store's order."""
        found = yield describe_call(self.store.first, self.store.afirst, limit)
        return self._drop_hidden(found)

    def everything(self) -> list[StoredChunk]:
        """Return all chunks that the search may find."""
        return self._drop_hidden(self.store.read())

    def document(self, doc_key: str) -> Effects[list[StoredChunk]]:
        """Return the chunks of one document."""
        return self._drop_hidden((yield self._query_store({doc_key: None})))

    def read_by_key(self, wanted: Mapping[ChunkKey, str]) -> Effects[list[StoredChunk]]:
        """Return the store's copies of these chunks, in two queries at most.

        Reading by id takes a store a fraction of the time. But a filter may apply only
        to chunks that are read by metadata.

        Args:
            wanted: Each with the id that it has if it is there; empty if nobody knows.
                If a chunk has another id, or another chunk has this one, it is looked
                for by its metadata.
        """
        ids = [] if self.filtered else [*filter(None, wanted.values())][:_MOST_IDS]
        read = (yield self._query_store(None, ids)) if ids else ()
        keys = [(each, chunk_key(each.metadata)) for each in read]
        # Only chunks that have both the wanted key and the wanted id.
        found = [each for each, key in keys if key and wanted.get(key) == each.id]
        if rest := _group_by_document(wanted, found):
            found += select_chunks((yield self._query_store(rest)), rest)
        return self._drop_hidden(found)

    def _query_store(
        self, wanted: Wanted | None, ids: Collection[str] | None = None
    ) -> Effect:
        return describe_call(self.store.read, self.store.aread, wanted, ids)

    def read_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Return the chunks that the store has now under these ids."""
        found = self.store.read(ids=ids) if ids else []
        return self._drop_hidden(chunk for chunk in found if chunk.id in ids)

    def _drop_hidden(self, chunks: Iterable[StoredChunk]) -> list[StoredChunk]:
        """Leave out chunks that a filter certainly excludes: some stores ignore it."""
        return [
            chunk
            for chunk in chunks
            if not any(contradicts(each, chunk.metadata) for each in self.store.filters)
            and (self._ids is None or chunk.id in self._ids)
        ]


def _group_by_document(
    wanted: Iterable[ChunkKey], found: Iterable[StoredChunk]
) -> dict[str, list[int]]:
    """Return the indexes of the chunks that were not found, by `doc_key`."""
    there = {chunk_key(chunk.metadata) for chunk in found}
    asked: dict[str, set[int]] = {}
    for key in wanted:
        if key not in there:
            asked.setdefault(key[0], set()).add(key[2])
    return {doc_key: sorted(indexes) for doc_key, indexes in asked.items()}
