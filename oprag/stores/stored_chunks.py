"""A vector store's own chunks, read without a query.

Each framework's adapter says how its stores are read. The core decides what becomes of
the chunks (documents rebuilt, indexed again, examined).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Self, TypeAlias

from oprag.chunk import Hit, Links
from oprag.effects import run_in_thread
from oprag.errors import InvalidOptionError, describe_type
from oprag.metadata import CHUNK_INDEX, DOC_KEY, DOC_URI, as_number, document_key
from oprag.stores.llamaindex_nodes import read_node
from oprag.stores.search_filters import SearchFilter


class StoredChunk(NamedTuple):
    """One chunk from a store."""

    text: str
    """The chunk's text."""
    metadata: Mapping[str, Any]
    """The metadata from the store; not to be written to."""
    id: str = ""
    """The store's id of the chunk; empty if it is not known."""
    links: Links | None = None
    """The neighbours of the chunk, if LlamaIndex wrote them."""


def unknown_store(value: Any, known: Sequence[str], instead: str) -> InvalidOptionError:
    """Return the error for a value that cannot be read as a store."""
    message = (
        f"oprag cannot read the chunks of {describe_type(value)} (it can read those of "
        f"{', '.join(known)}). Give {instead}."
    )
    return InvalidOptionError(message, option="store", value=value)


def make_hit(chunk: StoredChunk) -> Hit:
    """Return a stored chunk as a hit, the way retrieval sees it.

    The chunk is the hit's source and subject. If LlamaIndex keeps a node beside the
    metadata, the node is read the way LlamaIndex reads it.
    """
    node = read_node(chunk.metadata)
    hit = Hit("", chunk.metadata) if node is None else node
    return hit._replace(
        text=chunk.text,
        source=chunk,
        subject=chunk,
        id=chunk.id or None,
        links=chunk.links or hit.links,
    )


def is_own(metadata: Mapping[str, Any]) -> bool:
    """Return whether a chunk has oprag's key of its document."""
    return isinstance(key := metadata.get(DOC_KEY), str) and bool(key)


def name_of_key(metadata: Mapping[str, Any]) -> str | None:
    """Return the `doc_uri` of a chunk if `doc_key` is that name's key, else None."""
    name = metadata.get(DOC_URI)
    proved = isinstance(name, str) and document_key(name) == metadata.get(DOC_KEY)
    return name if proved else None


Wanted: TypeAlias = Mapping[str, Collection[int] | None]
"""`chunk_index`es by `doc_key`; None for all chunks of a document."""


def select_chunks(
    chunks: Iterable[StoredChunk], wanted: Wanted | None
) -> Iterator[StoredChunk]:
    """Leave out the chunks that are not wanted."""
    for chunk in chunks:
        doc_key, number = map(chunk.metadata.get, (DOC_KEY, CHUNK_INDEX))
        indexes = None if wanted is None else wanted.get(str(doc_key), ())
        if indexes is None or as_number(number) in indexes:
            yield chunk


class ChunkStore(ABC):
    """Reads the chunks of one vector store, unverified.

    Stores truncate, ignore filters and keep no order. So every caller has to check the
    chunks that it reads from here (`oprag.documents.whole_text`). A subclass needs
    `name` and `read`.
    """

    name: str
    """The store's name in messages, such as `Chroma collection 'laws'`."""
    filters: tuple[Any, ...] = ()
    """Filters of a search, in the framework's own form. Chunks that one of them
    excludes are not read. Empty for all chunks."""
    place: str = ""
    """The identity of the store among all stores that processes of this machine write
    to, the same in each process. Empty if unknown, or if there is only one process."""
    is_embedded: bool = False
    """Whether it lives in one process's memory or folder, and not on a server. Then no
    other process can write to it meanwhile."""
    is_queried: bool = False
    """Whether it finds the chunks of a document by a query. If not, it looks at all of
    them, and a run of indexing reads it once."""

    @abstractmethod
    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterable[StoredChunk]:
        """Return the chunks of some documents, or of some ids; else all.

        Args:
            wanted: The documents, by `oprag.metadata.document_key` of their names: the
                only values that are ever put into a store's filter. If a document has
                several versions, the chunks of each are read.
            ids: The store's ids, as in `StoredChunk.id`.

        Returns:
            The chunks that are there and that no filter excludes, in any order, one
            page at a time. Others may be among them, and some twice.
        """

    async def aread(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterable[StoredChunk]:
        """Async version of `read`: in a thread unless the store has an async one."""
        return await run_in_thread(lambda: list(self.read(wanted, ids)))

    def select(
        self,
        values: Mapping[str, Collection[Any]],  # noqa: ARG002 -- see Returns
        limit: int,  # noqa: ARG002 -- as above
    ) -> Sequence[StoredChunk] | None:
        """Return chunks that have one of the values under each key of the metadata.

        Args:
            values: Values of `source`, `page` and the like, as in the metadata.
            limit: The most chunks to return.

        Returns:
            Those that no filter excludes; None if the store cannot find them by a
            query, or not by these keys.
        """
        return None

    async def aselect(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> Sequence[StoredChunk] | None:
        """Async version of `select`: in a thread unless the store has an async one."""
        return await run_in_thread(lambda: self.select(values, limit))

    def first(self, limit: int) -> list[StoredChunk]:
        """Return the first chunks of the store, in its order."""
        return [*islice(self.read(), limit)]

    async def afirst(self, limit: int) -> list[StoredChunk]:
        """Async version of `first`: in a thread unless the store has an async one."""
        return await run_in_thread(lambda: self.first(limit))

    def count(self) -> int | None:
        """Return how many rows the store holds, without regard to `filters`.

        Returns:
            None if only reading them would tell. If the number stays the same while
            chunks come or go, `bm25=True` notices that late.
        """
        return None

    def sample(self) -> Iterable[StoredChunk]:
        """Return chunks that are in memory; none if reading them takes time."""
        return ()

    def takes_filter(self, where: Any) -> bool:  # noqa: ARG002 -- see Returns
        """Return whether `read` applies a filter of this kind in `filters`.

        Args:
            where: A search's filter, in the form that the framework's search takes.

        Returns:
            False unless a store overrides it. Then no full text is put together from
            its chunks for a search that has a filter.
        """
        return False

    def within(self, where: Any) -> Self:
        """Return the same store, read through a filter.

        Args:
            where: A search's filter, in addition to those in `filters`.

        Raises:
            InvalidOptionError: The store cannot be read through this filter.
        """
        if not self.takes_filter(where):
            raise SearchFilter(where).refusal(self.name)
        restricted = copy.copy(self)
        restricted.filters = (*self.filters, where)
        return restricted
