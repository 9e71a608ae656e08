"""A store under test: how it is written, searched and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from unittest import SkipTest

from oprag.stores import ChunkStore, StoredChunk, select_chunks
from oprag.testing.samples import CHUNKS, SAMPLES

_QUERY = "What was found, and when?"
_BATCH = 1_000


class StoreUnderTest(NamedTuple):
    """An empty store, and how it is written, searched and read."""

    chunks: ChunkStore
    """Reads it: `chunk_store(vectorstore)` of an adapter, or your own class."""
    add: Callable[[Sequence[StoredChunk]], object]
    """Adds chunks under their own ids, at most 1,000 in one call."""
    search: Callable[[str, int, Any], Sequence[StoredChunk]]
    """Given a question, `k` and a filter or None: the chunks found, best first."""
    delete: Callable[[list[str]], object] | None = None
    """Deletes the chunks of these ids; None if the store cannot."""
    replace: Callable[[Sequence[StoredChunk]], object] | None = None
    """Puts chunks in the place of those that have their ids. Give `add` again if the
    store does that; None if it refuses, or keeps both."""
    filters: tuple[Any, ...] = ()
    """Filters as the store's search takes them. Each admits the chunks whose
    metadata has `"tenant": "a"` and keeps out those with `"b"`; empty if the store has
    no filters."""
    many: int = 1_200
    """Chunks of the longest document that is added. Choose more than the store, or its
    client, gives in one call."""


def filled(store: StoreUnderTest) -> StoreUnderTest:
    """Add the samples to an empty store."""
    add(store, CHUNKS)
    return store


def add(store: StoreUnderTest, chunks: Iterable[StoredChunk]) -> None:
    """Add chunks sorted by id, a hash: in an order that is not that of the text."""
    shuffled = sorted(chunks, key=lambda chunk: chunk.id)
    for start in range(0, len(shuffled), _BATCH):
        store.add(shuffled[start : start + _BATCH])


def delete(store: StoreUnderTest, chunks: Iterable[StoredChunk]) -> None:
    """Delete chunks, or skip the test."""
    if store.delete is None:
        raise SkipTest("the store cannot delete")
    store.delete([chunk.id for chunk in chunks])


def filters_of(store: StoreUnderTest) -> tuple[Any, ...]:
    """Return the filters, or skip the test."""
    if not store.filters:
        raise SkipTest("the store has no filters")
    return store.filters


def search(
    store: StoreUnderTest, k: int = 2 * len(CHUNKS), where: Any = None
) -> Sequence[StoredChunk]:
    """Search for more chunks than there are, or for `k`."""
    return store.search(_QUERY, k, where)


def of_document(
    chunks: ChunkStore, key: str, indexes: Collection[int] | None = None
) -> list[StoredChunk]:
    """Return the chunks of one document; a store may give those of others as well."""
    wanted = {key: indexes}
    return [*select_chunks(chunks.read(wanted), wanted)]


def read(store: StoreUnderTest) -> Iterator[tuple[str, Sequence[StoredChunk]]]:
    """Yield the name of each way of reading, and the chunks that it gives."""
    for each in SAMPLES:
        yield f"read({{{each.key!r}: None}})", of_document(store.chunks, each.key)
    yield "read()", [*store.chunks.read()]
    yield "A search", search(store)
