"""A run whose documents are written by other processes, each of them by one.

They do with a document what a run of one process does. What concerns all documents
(names that come twice, what is missing, what is there besides, when to give up) the run
itself decides, from what they return.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from oprag.calls import carried
from oprag.documents import ChunkStore
from oprag.indexing.plan import RunOptions, WantedChunk, WantedDocument, plan
from oprag.indexing.report import FailedDocument, Readable
from oprag.indexing.run import DocumentRun, Fetch, Request, Requests, Run, Steps
from oprag.indexing.writing import ChunkWriter
from oprag.metadata import document_key


class WrittenDocument(NamedTuple):
    """A document that the store holds as it is now."""

    document: WantedDocument
    """Of its chunks only the first, without its text."""
    outcome: str
    """Which list of the report it belongs to."""
    unchanged: int
    """Chunks that were left as they were."""


Written: TypeAlias = WrittenDocument | Readable
"""What became of a document. One that is wanted still is empty."""


class WrittenPart(NamedTuple):
    """What one process did with some of the documents."""

    documents: tuple[Written, ...]
    """In the order in which they were done."""
    added: int
    """Chunks that were written."""
    deleted: int
    """Chunks that were deleted, or written anew."""


def lacking(
    document: WantedDocument, store: ChunkStore, options: RunOptions
) -> Sequence[WantedChunk]:
    """Return the chunks that a run would embed and write.

    Args:
        document: The document as it is now.
        store: What is there.
        options: Those of the run.

    Raises:
        InvalidOptionError: It cannot be indexed: another document has its key, or
            another scope has it.
        InvalidOptionError: The store does not give back the ids of its chunks.
    """
    key = document_key(document.name)
    todo = plan(key, document.chunks, list(store.read({key: None})), options)
    return [*todo.add, *todo.rewrite]


def part_steps(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    options: RunOptions,
) -> Generator[Request, Any, WrittenPart]:
    """Write some documents of a run; see `indexing_steps`."""
    run = _PartRun(store, writer, options)
    for document in documents:
        if isinstance(document, FailedDocument):
            run.fail(*document)
        elif isinstance(document, WantedDocument) and document.chunks:
            yield from run.write_document(document)
        else:
            run.written.append(document)
    yield from run.flush()
    return WrittenPart(tuple(run.written), run.added, run.deleted)


def shared_steps(
    parts: Iterable[WrittenPart],
    store: ChunkStore,
    writer: ChunkWriter,
    progress: Callable[[int, int], None],
    options: RunOptions,
) -> Steps:
    """`indexing_steps` for documents that others write, part by part."""
    run = Run(store, writer, progress, options)
    for part in parts:
        run.added += part.added
        run.deleted += part.deleted
        for written in part.documents:
            yield from _taken(run, written)
        run.advance()
    yield from run.end()
    return run.report()


def _taken(run: Run, written: Written) -> Requests:
    """Count what was done, and look what else the store holds of it."""
    if not isinstance(written, WrittenDocument):
        yield from run.take(written)
        return
    document, outcome, unchanged = written
    run.given.note(document.name)
    if run.before.may_hold_more(document):
        chunks = yield Fetch(document_key(document.name))
        document = document._replace(chunks=chunks)
    run.done(document, outcome, unchanged)


class _PartRun(DocumentRun):
    """Writes some documents, and notes what became of each."""

    def __init__(
        self, store: ChunkStore, writer: ChunkWriter, options: RunOptions
    ) -> None:
        super().__init__(store, writer, options)
        self.written: list[Written] = []

    def done(self, document: WantedDocument, outcome: str, unchanged: int) -> None:
        first = tuple(one._replace(text="", source=None) for one in document.chunks[:1])
        kept = WantedDocument(document.name, first)
        self.written.append(WrittenDocument(kept, outcome, unchanged))

    def fail(self, name: str, error: Exception) -> None:
        self.written.append(FailedDocument(name, carried(error)))

    def advance(self) -> None:
        """Nobody is told how far a part is."""
