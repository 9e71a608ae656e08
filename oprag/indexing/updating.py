"""Brings a vector store up to date with documents, sync or async."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from oprag.documents import ChunkStore, StoredChunk
from oprag.indexing.plan import Replace, WantedChunk
from oprag.indexing.steps import (
    Delete,
    Fetch,
    IndexingReport,
    Readable,
    advance,
    indexing_steps,
)
from oprag.metadata import DOC_KEY

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ChunkWriter(ABC):
    """Writes to one vector store."""

    @abstractmethod
    def add(self, chunks: Sequence[WantedChunk]) -> None:
        """Embed and write chunks, none of whose ids the store has."""

    @abstractmethod
    def delete(self, ids: Sequence[str]) -> None:
        """Delete chunks that the store has."""

    async def aadd(self, chunks: Sequence[WantedChunk]) -> None:
        """Async version of `add`."""
        await asyncio.to_thread(self.add, chunks)

    async def adelete(self, ids: Sequence[str]) -> None:
        """Async version of `delete`."""
        await asyncio.to_thread(self.delete, ids)


class Snapshot(ChunkStore):
    """Reads a store once, when first asked, and answers from that.

    For stores that look at all their chunks to find those of one document. Valid for
    one run, which asks for no document after writing it.

    Args:
        store: The store; it holds its chunks in memory anyway.
        keep: Tells the chunks that count; None for all.
    """

    def __init__(
        self, store: ChunkStore, keep: Callable[[StoredChunk], bool] | None = None
    ) -> None:
        self.name = store.name
        self._store = store
        self._keep = keep
        self._chunks: dict[str, list[StoredChunk]] | None = None

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in the store's order."""
        if self._chunks is None:
            self._chunks = {}
            for chunk in self.scan():
                key = chunk.metadata.get(DOC_KEY)
                if isinstance(key, str):
                    self._chunks.setdefault(key, []).append(chunk)
        return self._chunks.get(doc_key, [])

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks that count, as they are now."""
        return filter(self._keep or (lambda _: True), self._store.scan())


class RunOptions(TypedDict, total=False):
    """How a store is brought up to date."""

    remove_missing: bool
    """Also delete what the store holds of documents that are not given. Only chunks
    with oprag's `doc_key` and `doc_uri` are taken to be of a document."""
    replace: Replace
    """What is replaced of a document that is given."""
    batch_size: int
    """Chunks that are embedded and written at once, at least 1."""


def update_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    **options: Unpack[RunOptions],
) -> IndexingReport:
    """Make a store hold documents as they are now.

    Args:
        documents: Read one at a time; in memory are never more than one and
            `batch_size` chunks.
        store: Where the chunks are read.
        writer: Where they are written.
        **options: See `RunOptions`.

    Raises:
        DuplicateDocumentError: A name comes twice.
        InvalidOptionError: `batch_size` is below 1, or with `remove_missing` no
            document is given, which would delete all.
    """
    steps = indexing_steps(documents, store, **options)
    request = advance(steps)
    while not isinstance(request, IndexingReport):
        answer: Any = None
        if isinstance(request, Fetch):
            answer = store.fetch(request.doc_key)
        elif isinstance(request, Delete):
            writer.delete(request.ids)
        else:
            writer.add(request.chunks)
        request = advance(steps, answer)
    return request


async def aupdate_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    **options: Unpack[RunOptions],
) -> IndexingReport:
    """Async version of `update_index`.

    Documents are read and compared in a thread, so that the event loop goes on.
    """
    steps = indexing_steps(documents, store, **options)
    request = await asyncio.to_thread(advance, steps)
    while not isinstance(request, IndexingReport):
        answer: Any = None
        if isinstance(request, Fetch):
            answer = await store.afetch(request.doc_key)
        elif isinstance(request, Delete):
            await writer.adelete(request.ids)
        else:
            await writer.aadd(request.chunks)
        request = await asyncio.to_thread(advance, steps, answer)
    return request
