"""Brings a vector store up to date with documents, so that it can be stopped anywhere.

For every document, what goes is deleted before anything is added. A run that is stopped
in between leaves a document that lacks chunks; whoever reads it notices by `n_chunks`.
Old and new are never mixed without a sign. The next run finds what is there and does
the rest. A generator decides what is to be done; sync and async code carry it out.
"""

from __future__ import annotations

import asyncio
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict, TypeVar

from oprag.documents import ChunkStore, StoredChunk
from oprag.errors import (
    DuplicateDocumentError,
    InvalidOptionError,
    UnreadableFileError,
    invalid_option,
)
from oprag.indexing.plan import IndexingPlan, Replace, WantedChunk, WantedDocument, plan
from oprag.metadata import DOC_KEY, DOC_URI, document_key
from oprag.positions import shared_key

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")

Readable: TypeAlias = WantedDocument | UnreadableFileError
"""A document, or a file that is passed over and why."""


@dataclass(frozen=True)
class IndexingReport:
    """What was done. Documents by their names, in the order they were given."""

    added: tuple[str, ...] = ()
    """Documents that the store held nothing of."""
    updated: tuple[str, ...] = ()
    """Documents of which something changed, or that were left incomplete."""
    unchanged: tuple[str, ...] = ()
    """Documents that the store held as they are; none of their chunks was embedded."""
    removed: tuple[str, ...] = ()
    """Documents that were not given and are deleted, sorted by name."""
    empty: tuple[str, ...] = ()
    """Documents without any text. Nothing is stored of them, and what was is gone."""
    skipped: tuple[UnreadableFileError, ...] = ()
    """Files of a folder that are no text. What the store holds of them stays."""
    chunks_added: int = 0
    """Chunks that were embedded and written."""
    chunks_deleted: int = 0
    """Chunks that were deleted, those that were written anew among them."""
    chunks_unchanged: int = 0
    """Chunks that were left as they were."""


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
    steps = _indexing_steps(documents, store, **options)
    request = _advance(steps)
    while not isinstance(request, IndexingReport):
        answer: Any = None
        if isinstance(request, Fetch):
            answer = store.fetch(request.doc_key)
        elif isinstance(request, Delete):
            writer.delete(request.ids)
        else:
            writer.add(request.chunks)
        request = _advance(steps, answer)
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
    steps = _indexing_steps(documents, store, **options)
    request = await asyncio.to_thread(_advance, steps)
    while not isinstance(request, IndexingReport):
        answer: Any = None
        if isinstance(request, Fetch):
            answer = await store.afetch(request.doc_key)
        elif isinstance(request, Delete):
            await writer.adelete(request.ids)
        else:
            await writer.aadd(request.chunks)
        request = await asyncio.to_thread(_advance, steps, answer)
    return request


class Fetch(NamedTuple):
    """Asks for the stored chunks of a document."""

    doc_key: str


class Delete(NamedTuple):
    """Asks for chunks to be deleted."""

    ids: Sequence[str]


class Add(NamedTuple):
    """Asks for chunks to be embedded and written."""

    chunks: Sequence[WantedChunk]


Request: TypeAlias = Fetch | Delete | Add
Steps: TypeAlias = Generator[Request, Any, IndexingReport]


def _advance(steps: Steps, answer: Any = None) -> Request | IndexingReport:
    """Answer the last request; give the next one, or how it ended."""
    try:
        return steps.send(answer)
    except StopIteration as stop:
        report: IndexingReport = stop.value
        return report


def _indexing_steps(
    documents: Iterable[Readable],
    store: ChunkStore,
    *,
    remove_missing: bool = False,
    replace: Replace = "document",
    batch_size: int = 256,
) -> Steps:
    """`Fetch` is answered with the stored chunks, the others with None."""
    if batch_size < 1:
        raise invalid_option("batch_size", batch_size, "1 or more")
    if replace not in {"document", "same_settings"}:
        takes = "It takes 'document' or 'same_settings'."
        raise invalid_option("replace", replace, takes)
    run = _Run(batch_size, replace)
    for document in documents:
        yield from run.take(document)
    yield from run.flush()
    if remove_missing:
        yield from run.remove_missing(store)
    return run.report()


class _Run:
    """The state of one run."""

    def __init__(self, batch_size: int, replace: Replace) -> None:
        self._batch_size = batch_size
        self._replace: Replace = replace
        self._names: dict[str, list[str]] = {
            key: [] for key in ("added", "updated", "unchanged", "removed", "empty")
        }
        self._skipped: list[UnreadableFileError] = []
        self._given: dict[str, str] = {}
        self._pending: list[IndexingPlan] = []
        self._pending_size = 0
        self._counts = {"added": 0, "deleted": 0, "unchanged": 0}

    def take(self, document: Readable) -> Generator[Request, Any, None]:
        """Compare one document with the store, and write when there is enough."""
        if isinstance(document, UnreadableFileError):
            self._skipped.append(document)
            self._given[document_key(document.path)] = document.path
            return
        name, chunks = document
        key = document_key(name)
        if key in self._given:
            other = self._given[key]
            raise _duplicate(name) if other == name else shared_key(key, other, name)
        self._given[key] = name
        present: list[StoredChunk] = yield Fetch(key)
        todo = plan(key, chunks, present, self._replace)
        self._names[_outcome(todo, chunks)].append(name)
        self._counts["unchanged"] += todo.unchanged
        if todo.add or todo.delete:
            self._pending.append(todo)
            self._pending_size += max(len(todo.add), len(todo.delete))
        if self._pending_size >= self._batch_size:
            yield from self.flush()

    def flush(self) -> Generator[Request, Any, None]:
        """Write what is pending: all that is deleted, then all that is added."""
        pending, self._pending, self._pending_size = self._pending, [], 0
        yield from self._delete([id_ for todo in pending for id_ in todo.delete])
        for chunks in self._batches([chunk for todo in pending for chunk in todo.add]):
            yield Add(chunks)
            self._counts["added"] += len(chunks)

    def remove_missing(self, store: ChunkStore) -> Generator[Request, Any, None]:
        """Delete the documents that the store holds and that were not given."""
        if not self._given:
            message = (
                "There is no document to index, and remove_missing=True would delete "
                "everything that the store holds. If that is meant, delete the "
                "store's content yourself; otherwise see whether the documents are "
                "where they are read from."
            )
            raise InvalidOptionError(message, option="remove_missing", value=True)
        stored = _stored_documents(store)
        for key, name in sorted(stored.items(), key=lambda item: item[1]):
            if key in self._given:
                continue
            present: list[StoredChunk] = yield Fetch(key)
            yield from self._delete(plan(key, (), present).delete)
            self._names["removed"].append(name)

    def _delete(self, ids: Sequence[str]) -> Generator[Request, Any, None]:
        for batch in self._batches(ids):
            yield Delete(batch)
            self._counts["deleted"] += len(batch)

    def _batches(self, items: Sequence[T]) -> Iterable[Sequence[T]]:
        rest = iter(items)
        while batch := list(itertools.islice(rest, self._batch_size)):
            yield batch

    def report(self) -> IndexingReport:
        """Say what was done."""
        return IndexingReport(
            **{key: tuple(names) for key, names in self._names.items()},
            skipped=tuple(self._skipped),
            chunks_added=self._counts["added"],
            chunks_deleted=self._counts["deleted"],
            chunks_unchanged=self._counts["unchanged"],
        )


def _outcome(todo: IndexingPlan, chunks: Sequence[WantedChunk]) -> str:
    if not chunks:
        return "empty"
    if not todo.add and not todo.delete:
        return "unchanged"
    return "updated" if todo.delete or todo.unchanged else "added"


def _duplicate(name: str) -> DuplicateDocumentError:
    message = (
        f"The document {name!r} comes twice in one run. Pages and other parts of a "
        "document have to follow one another without other documents between them; "
        "two different documents need two names."
    )
    return DuplicateDocumentError(message, document=name)


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
