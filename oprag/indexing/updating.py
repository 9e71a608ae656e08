"""Brings a vector store up to date with documents, sync or async."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from oprag.documents import ChunkStore, StoredChunk
from oprag.indexing.plan import Replace, WantedChunk
from oprag.indexing.steps import (
    Add,
    Delete,
    Fetch,
    IndexingReport,
    Readable,
    advance,
    indexing_steps,
)
from oprag.metadata import DOC_KEY, DOC_URI, document_key


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
        keep: Says which chunks count; None for all.
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


def update_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    remove_missing: bool = False,
    replace: Replace = "document",
    batch_size: int = 256,
) -> IndexingReport:
    """Make a store hold documents as they are now.

    Args:
        documents: Read one at a time; in memory are never more than one and
            `batch_size` chunks.
        store: Where the chunks are read.
        writer: Where they are written.
        remove_missing: Also delete what the store holds of documents that are not
            among `documents`. Only chunks with oprag's `doc_key` and `doc_uri` are
            taken to be of a document.
        replace: `"document"`: what the store holds of a document is replaced;
            `"same_settings"`: only its chunks of the same splitter and settings.
        batch_size: Chunks that are embedded and written at once, at least 1.

    Raises:
        DuplicateDocumentError: A name comes twice.
        InvalidOptionError: `batch_size` is below 1, or with `remove_missing` no
            document is given, which would delete all.
    """
    steps = indexing_steps(
        documents, batch_size, remove_missing=remove_missing, replace=replace
    )
    request = advance(steps)
    while not isinstance(request, IndexingReport):
        answer: Any = None
        if isinstance(request, Fetch):
            answer = store.fetch(request.doc_key)
        elif isinstance(request, Delete):
            writer.delete(request.ids)
        elif isinstance(request, Add):
            writer.add(request.chunks)
        else:
            answer = _stored_documents(store)
        request = advance(steps, answer)
    return request


async def aupdate_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    remove_missing: bool = False,
    replace: Replace = "document",
    batch_size: int = 256,
) -> IndexingReport:
    """Async version of `update_index`.

    Documents are read and compared in a thread, so that the event loop goes on.
    """
    steps = indexing_steps(
        documents, batch_size, remove_missing=remove_missing, replace=replace
    )
    request = await asyncio.to_thread(advance, steps)
    while not isinstance(request, IndexingReport):
        answer: Any = None
        if isinstance(request, Fetch):
            answer = await store.afetch(request.doc_key)
        elif isinstance(request, Delete):
            await writer.adelete(request.ids)
        elif isinstance(request, Add):
            await writer.aadd(request.chunks)
        else:
            answer = await asyncio.to_thread(_stored_documents, store)
        request = await asyncio.to_thread(advance, steps, answer)
    return request


def _stored_documents(store: ChunkStore) -> dict[str, str]:
    """Names of all documents of a store by their keys, as far as they are oprag's."""
    names: dict[str, str] = {}
    for chunk in store.scan():
        key, name = chunk.metadata.get(DOC_KEY), chunk.metadata.get(DOC_URI)
        if key in names or not isinstance(key, str) or not isinstance(name, str):
            continue
        # Another application may use these names for something else.
        if document_key(name) == key:
            names[key] = name
    return names
