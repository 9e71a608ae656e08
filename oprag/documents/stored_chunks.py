"""A vector store's own chunks, read without a query.

Each framework's adapter says how its stores are read; what is done with the chunks
(documents rebuilt, indexed again, examined) is decided in the core.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, Self, TypeAlias

from oprag.chunk import Hit
from oprag.documents.search_filters import unknown_filter
from oprag.errors import InvalidOptionError, named
from oprag.metadata import CHUNK_INDEX, DOC_KEY
from oprag.positions import as_number, read_node

_PAGE = 5_000
"""Chunks of Chroma per call: some MB, and few enough calls to cost little."""
_DOCUMENTS, _INDEXES = 500, 10_000
"""What one condition of Chroma's may name: SQLite takes 1,000 that are alternatives,
and 32,766 values."""


class StoredChunk(NamedTuple):
    """One chunk as a store keeps it."""

    text: str
    """The chunk's text."""
    metadata: Mapping[str, Any]
    """What the store gives back as its metadata; not to be written to."""
    id: str = ""
    """The store's own id of the chunk; empty where it does not tell."""


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
        f"How the chunks of {named(store)} are read is not known, and a search may "
        f"leave chunks out without a word. Known are {', '.join(known)}. Give the full "
        "texts as documents= by a function, such as\n"
        "    def full_text(name):\n"
        "        return Path(folder, name).read_text(encoding='utf-8')\n"
        "or say how its chunks are read with an oprag.ChunkStore."
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


Piece: TypeAlias = tuple[int, int, int, int, int | None, str]
"""A chunk: its `chunk_index`, `n_chunks`, `char_start`, `char_end`, `part_index` (None
for a document that is one text) and text. A bare tuple, because documents of tens of
thousands of chunks are read within milliseconds."""


class PartStamp(NamedTuple):
    """What the first chunk of a part says of the part's text.

    See `oprag.metadata.text_stamp`.
    """

    length: int
    text_hash: str
    nonspace_hash: str | None
    """None beside the chunks of oprag's own splitters, which drop nothing."""


class ChunkStore(ABC):
    """Gives the chunks of one vector store, unverified.

    Stores truncate, ignore filters and keep no order: whoever reads from here
    checks what came (`oprag.documents.rebuilding`).
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
        from asyncio import gather, to_thread  # as above

        own = type(self)
        has_own = own.fetch_chunks is not ChunkStore.fetch_chunks
        if has_own or own.afetch is ChunkStore.afetch:
            return await to_thread(self.fetch_chunks, wanted)
        found = await gather(*map(self.afetch, wanted))
        return _numbered(chain.from_iterable(found), wanted)

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
        """Say how many rows the store holds, whatever `filters` say.

        Returns:
            None where only reading them would tell. A number that stays the same while
            chunks come or go has them found late by `bm25=True`.
        """
        return None

    @abstractmethod
    def scan(self) -> Iterator[StoredChunk]:
        """Yield all chunks of the store, one page at a time, in any order."""

    def some(self, number: int) -> list[StoredChunk]:
        """Return some chunks of the store, at most so many, at the cost of so many."""
        return list(islice(self.scan(), number))

    def takes_filter(self, where: Any) -> bool:  # noqa: ARG002 -- see Returns
        """Say whether `fetch` and `scan` keep to such a filter in `filters`.

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
            raise unknown_filter(where, self.name)
        restricted = copy.copy(self)
        restricted.filters = (*self.filters, where)
        return restricted


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


ChromaRow: TypeAlias = tuple[str | None, Any, str]
"""Text, metadata and id."""


def chroma_numbered(
    get: Callable[..., Any],
    wanted: Mapping[str, Collection[int]],
    conditions: Sequence[Any],
) -> Iterator[ChromaRow]:
    """Yield a Chroma collection's chunks by document and index.

    The indexes of all documents stand before those of each: Chroma then looks at the
    chunks that have one of them, where it would look at all of every document.

    Args:
        get: As `chroma_rows` takes it, and `conditions`.
        wanted: As `ChunkStore.fetch_chunks` takes it.
        conditions: What else holds.
    """
    for page in _chroma_pages(wanted):
        indexes = sorted({index for numbers in page.values() for index in numbers})
        each: list[Any] = [
            {"$and": [{DOC_KEY: doc_key}, {CHUNK_INDEX: {"$in": [*numbers]}}]}
            for doc_key, numbers in page.items()
        ]
        any_of = {"$or": each} if len(each) > 1 else {DOC_KEY: next(iter(page))}
        of_page = [{CHUNK_INDEX: {"$in": indexes}}, any_of]
        yield from chroma_rows(get, [*of_page, *conditions], paged=False)


def _chroma_pages(
    wanted: Mapping[str, Collection[int]],
) -> Iterator[dict[str, Collection[int]]]:
    """As many documents as one query takes: SQLite limits both."""
    page: dict[str, Collection[int]] = {}
    total = 0
    for doc_key, indexes in wanted.items():
        total += len(indexes)
        if page and (len(page) == _DOCUMENTS or total > _INDEXES):
            yield page
            page, total = {}, len(indexes)
        page[doc_key] = indexes
    yield page


def chroma_rows(
    get: Callable[..., Any],
    conditions: Sequence[Any] = (),
    *,
    ids: Collection[str] | None = None,
    paged: bool = True,
) -> Iterator[ChromaRow]:
    """Yield text, metadata and id of a Chroma collection's chunks, page by page.

    In the order in which they were added. Chroma also takes vectors alone: text and
    metadata may be None.

    Args:
        get: The collection's, or that of a wrapper.
        conditions: Chroma's own, all of which hold.
        ids: Those of the chunks to read, in one call; None for all.
        paged: Whether there may be too many for one call.
    """
    every = list(conditions)  # of which Chroma wants at least two under `$and`
    where = {"$and": every} if len(every) > 1 else next(iter(every), None)
    include = ["documents", "metadatas"]
    if ids is not None or not paged:
        asked = {} if ids is None else {"ids": [*ids]}
        page: Any = get(where=where, include=include, **asked)
        yield from zip(page["documents"], page["metadatas"], page["ids"], strict=True)
        return
    offset = 0
    page = {"ids": [""]}
    while page["ids"]:  # a server may give fewer than it is asked for
        page = get(where=where, limit=_PAGE, offset=offset, include=include)
        yield from zip(page["documents"], page["metadatas"], page["ids"], strict=True)
        offset += len(page["ids"])


def qdrant_place(client: Any, collection: str) -> str:
    """Return the `place` of a Qdrant collection, for both frameworks' wrappers.

    Args:
        client: Qdrant's client.
        collection: The collection's name.
    """
    options = getattr(client, "init_options", None) or {}
    where = [options.get(key) for key in ("location", "url", "host", "port", "path")]
    if ":memory:" in where or not any(where):
        return ""
    return f"Qdrant {where} {collection}"


def is_chroma_embedded(collection: Any) -> bool:
    """Whether this process keeps a Chroma collection itself; else a server does."""
    client = getattr(collection, "_client", None)  # nothing public tells
    return type(client).__name__ != "FastAPI"


def is_qdrant_embedded(client: Any) -> bool:
    """Whether a client of Qdrant's keeps the data itself; else a server does."""
    options = getattr(client, "init_options", None) or {}
    return bool(options.get("path")) or not qdrant_place(client, "")


def qdrant_ids(ids: Collection[str]) -> list[str | int]:
    """Return ids as Qdrant has them: a UUID, or a whole number.

    Args:
        ids: As `StoredChunk.id` has them.
    """
    return [int(each) if each.isdecimal() else each for each in ids]
