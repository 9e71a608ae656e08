"""Reading and writing of one store by a run, for the stores of each framework."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from oprag.indexing.chunks import Framework
from oprag.indexing.plan import WantedChunk
from oprag.metadata import DOC_KEY
from oprag.stores import ChunkStore, StoredChunk, Wanted

T = TypeVar("T")


class ChunkWriter(ABC):
    """Writes to one vector store."""

    written: object
    """The framework's object that is written to."""
    cannot_delete: str = ""
    """The reason that nothing can be deleted from it; empty if deleting is possible."""

    @abstractmethod
    def add(self, chunks: Sequence[WantedChunk]) -> None:
        """Embed and write chunks; the store has nothing under their ids."""

    @abstractmethod
    def delete(self, ids: Sequence[str]) -> None:
        """Delete chunks that the store has."""

    async def aadd(self, chunks: Sequence[WantedChunk]) -> None:
        """Async version of `add`."""
        await finish_in_thread(self.add, chunks)

    async def adelete(self, ids: Sequence[str]) -> None:
        """Async version of `delete`."""
        await finish_in_thread(self.delete, ids)


class IndexTarget(NamedTuple):
    """A framework's store that is to be indexed into, and the reader of its documents.

    The adapters make it from the arguments of their `index_documents`.
    """

    framework: Framework[Any]
    """Reads and splits the documents."""
    store: ChunkStore
    """Reads the chunks that are there."""
    writer: ChunkWriter
    """Writes the chunks that are to be there."""


class Snapshot(ChunkStore):
    """Reads a store once, when first asked, and answers from that.

    It is for stores that look at all their chunks to find those of one document. It is
    valid for one run, which asks for no document after writing it without `forget`.
    """

    def __init__(self, store: ChunkStore) -> None:
        self.name = store.name
        self.place = store.place
        self.is_embedded = store.is_embedded
        self._store = store
        self._chunks: dict[str, list[StoredChunk]] | None = None

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterable[StoredChunk]:
        """Return the chunks of some documents from the last reading, in its order."""
        if wanted is None:
            return self._store.read(ids=ids)
        if self._chunks is None:
            self._chunks = self._read_all()
        return chain.from_iterable(self._chunks.get(key, ()) for key in wanted)

    def _read_all(self) -> dict[str, list[StoredChunk]]:
        """Return all chunks by document; a reading that fails leaves nothing behind."""
        chunks: dict[str, list[StoredChunk]] = {}
        for chunk in self._store.read():
            key = chunk.metadata.get(DOC_KEY)
            if isinstance(key, str):
                chunks.setdefault(key, []).append(chunk)
        return chunks

    def forget(self) -> None:
        """Read the store again when it is asked next."""
        self._chunks = None


async def finish_in_thread(call: Callable[..., T], *args: Any) -> T:
    """Call in a thread; if cancelled meanwhile, wait for it, as nothing can stop it.

    The caller that cancels may close the store next.
    """
    running = asyncio.ensure_future(asyncio.to_thread(call, *args))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # or asyncio would report that nobody looked at it
        raise
