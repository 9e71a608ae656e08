"""A vector store's own chunks, read without a query.

Each framework's adapter says how its stores are read; what is done with the chunks
(documents rebuilt, indexed again, examined) is decided in the core.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, Self, TypeAlias

from oprag.chunk import Hit
from oprag.documents.search_filters import SearchFilter, refused_filter
from oprag.errors import InvalidOptionError, named
from oprag.metadata import CHUNK_INDEX, DOC_KEY
from oprag.positions import as_number, read_node


class StoredChunk(NamedTuple):
    """One chunk as a store keeps it."""

    text: str
    """The chunk's text."""
    metadata: Mapping[str, Any]
    """What the store gives back as its metadata; not to be written to."""
    id: str = ""
    """The store's own id of the chunk; empty where it is not known."""


def no_store(value: Any, takes: str, instead: str) -> InvalidOptionError:
    """Return the error for what is given as a store, and is none.

    Args:
        value: What was given.
        takes: What a framework's stores are.
        instead: What to give.
    """
    message = f"The store is {named(value)}. It takes {takes}. Give {instead}."
    return InvalidOptionError(message, option="store", value=value)


def unknown_store(store: Any, known: Sequence[str]) -> InvalidOptionError:
    """Return the error for a store whose chunks nobody knows how to read."""
    message = (
        f"How the chunks of {named(store)} are read is not known (known: "
        f"{', '.join(known)}). Say it with an oprag.ChunkStore."
    )
    return InvalidOptionError(message, option="store", value=store)


def stored_hit(chunk: StoredChunk) -> Hit:
    """Return a stored chunk as retrieval would see it; the chunk is its `source`.

    Where LlamaIndex keeps a node beside the metadata, that is read as it reads it.
    """
    node = read_node(chunk.metadata)
    if node is None:
        return Hit(chunk.text, chunk.metadata, chunk)
    return Hit(
        chunk.text,
        node.metadata,
        chunk,
        document=node.document,
        offsets=node.offsets,
        frame=node.frame,
    )


Wanted: TypeAlias = Mapping[str, Collection[int] | None]
"""`chunk_index`es by `doc_key`; None for all chunks of a document."""


class ChunkStore(ABC):
    """Gives the chunks of one vector store, unverified.

    Stores truncate, ignore filters and keep no order: anyone who reads from here
    checks what came (`oprag.documents.rebuilding`). A subclass needs `name` and
    `scan`; the other methods are there to be faster.
    """

    name: str
    """What the store is called in messages, such as `Chroma collection 'laws'`."""
    filters: tuple[Any, ...] = ()
    """Filters of a search, in the framework's own form: no chunk is read that one of
    them excludes. Empty for all chunks."""

    place: str = ""
    """What tells the store from all others that processes of this machine write to,
    the same in each of them; empty where that is not known, or there is one process."""
    is_embedded: bool = False
    """Whether it lives in one process's memory or folder, and not on a server: then no
    other process can write to it meanwhile."""

    @abstractmethod
    def scan(self) -> Iterator[StoredChunk]:
        """Yield all chunks of the store, one page at a time, in any order."""

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Return the chunks of one document; of all chunks, unless the store filters.

        Args:
            doc_key: `oprag.metadata.document_key` of the document's name: the only
                value that is ever put into a store's filter.

        Returns:
            What the store gives for it, in any order; empty when it has none. May
            lack chunks, repeat them, or hold some of other documents.
        """
        return [c for c in self.scan() if c.metadata.get(DOC_KEY) == doc_key]

    async def afetch(self, doc_key: str) -> list[StoredChunk]:
        """Async version of `fetch`: in a thread unless the store has its own."""
        from asyncio import to_thread  # here, because its import takes long

        return await to_thread(self.fetch, doc_key)

    def fetch_chunks(self, wanted: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Return some chunks of some documents, in one query where the store can.

        Args:
            wanted: `chunk_index`es by `doc_key`, which is as `fetch` takes it; at
                least one, of each document at least one.

        Returns:
            As `fetch`; of several versions of a document those of each.
        """
        if type(self).fetch is ChunkStore.fetch:
            return _numbered(self.scan(), wanted)
        return _numbered(chain.from_iterable(map(self.fetch, wanted)), wanted)

    async def afetch_chunks(
        self, wanted: Mapping[str, Collection[int]]
    ) -> list[StoredChunk]:
        """Async version of `fetch_chunks`."""
        from asyncio import to_thread  # as above

        return await to_thread(self.fetch_chunks, wanted)

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Return some chunks by their ids, in one query where the store can.

        Args:
            ids: The store's own, as `StoredChunk.id` has them; at least one.

        Returns:
            Those that are there and that no filter excludes, in any order.
        """
        wanted = set(ids)
        return [chunk for chunk in self.scan() if chunk.id in wanted]

    async def afetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Async version of `fetch_ids`."""
        from asyncio import to_thread  # as above

        return await to_thread(self.fetch_ids, ids)

    @property
    def has_fetch_ids(self) -> bool:
        """Whether chunks are read by their ids faster than by looking at all."""
        return type(self).fetch_ids is not ChunkStore.fetch_ids

    def count(self) -> int | None:
        """Return how many rows the store holds, whatever `filters` say.

        Returns:
            None where only reading them would tell. A number that stays the same while
            chunks come or go has them found late by `bm25=True`.
        """
        return None

    def some(self, number: int) -> list[StoredChunk]:
        """Return some chunks of the store, at most so many."""
        return list(islice(self.scan(), number))

    def takes_filter(self, where: Any) -> bool:  # noqa: ARG002 -- see Returns
        """Return whether `fetch` and `scan` keep to such a filter in `filters`.

        Args:
            where: A search's filter, as the framework's search takes it.

        Returns:
            False unless a store says otherwise: then no full text is put together
            from its chunks for a search that has a filter.
        """
        return False

    def within(self, where: Any) -> Self:
        """Return the same store, of which only what a filter admits is read.

        Args:
            where: A search's filter; it comes on top of those in `filters`.

        Raises:
            InvalidOptionError: The store cannot be read through this filter.
        """
        if not self.takes_filter(where):
            raise refused_filter(SearchFilter(where), self.name)
        restricted = copy.copy(self)
        restricted.filters = (*self.filters, where)
        return restricted


class QueriedStore(ChunkStore):
    """A store that answers every question with a query of its own, page by page."""

    @abstractmethod
    def rows(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterable[StoredChunk]:
        """Return the chunks of some documents, or of some ids; else all."""

    async def arows(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterable[StoredChunk]:
        """Async version of `rows`: in a thread unless the store has its own."""
        from asyncio import to_thread  # as above

        return await to_thread(lambda: list(self.rows(wanted, ids)))

    def scan(self) -> Iterator[StoredChunk]:
        """Yield all chunks."""
        return iter(self.rows())

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Return the chunks of one document."""
        return list(self.rows({doc_key: None}))

    async def afetch(self, doc_key: str) -> list[StoredChunk]:
        """Async version of `fetch`."""
        return list(await self.arows({doc_key: None}))

    def fetch_chunks(self, wanted: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Return some chunks of some documents."""
        return list(self.rows(wanted))

    async def afetch_chunks(
        self, wanted: Mapping[str, Collection[int]]
    ) -> list[StoredChunk]:
        """Async version of `fetch_chunks`."""
        return list(await self.arows(wanted))

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Return some chunks by their ids."""
        return list(self.rows(ids=ids))

    async def afetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Async version of `fetch_ids`."""
        return list(await self.arows(ids=ids))


def _numbered(
    chunks: Iterable[StoredChunk], wanted: Mapping[str, Collection[int]]
) -> list[StoredChunk]:
    numbers = {doc_key: set(indexes) for doc_key, indexes in wanted.items()}
    return [
        chunk
        for chunk in chunks
        if (inside := numbers.get(chunk.metadata.get(DOC_KEY, "")))
        and as_number(chunk.metadata.get(CHUNK_INDEX)) in inside
    ]
