"""A run whose documents are written by other processes, each of them by one.

They do with a document what a run of one process does. What concerns all documents
(names that come twice, what is missing, what is there besides, when to give up) the run
itself decides, out of what they tell.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from oprag.calls import carried
from oprag.documents import ChunkStore, StoredChunk
from oprag.indexing.deciding import Pending, Run, Steps
from oprag.indexing.plan import IndexingPlan, WantedChunk, WantedDocument, plan
from oprag.indexing.reporting import (
    FailedDocument,
    Readable,
    SkippedFile,
    UndeletedDocument,
)
from oprag.indexing.requests import Fetch, Request, Requests
from oprag.indexing.run_options import RunOptions
from oprag.indexing.stored import StoredBefore
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

    @property
    def name(self) -> str:
        """The document's own name."""
        return self.document.name


Written: TypeAlias = WrittenDocument | Readable
"""What became of a document. One that is wanted still is empty now, and waits."""


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
        DuplicateDocumentError: It cannot be indexed: another document has its key, or
            another scope has it.
        InvalidOptionError: The store does not tell the ids of its chunks.
    """
    key = document_key(document.name)
    replace, scope = options.replace, options.scope
    todo = plan(key, document.chunks, store.fetch(key), replace=replace, scope=scope)
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
        yield from run.take(document)
    yield from run.flush()
    return WrittenPart(tuple(run.written), run.writing.added, run.writing.deleted)


def shared_steps(
    parts: Iterable[WrittenPart],
    store: ChunkStore,
    writer: ChunkWriter,
    told: Callable[[int, int], None],
    options: RunOptions,
) -> Steps:
    """`indexing_steps` for documents that others write, part by part."""
    run = _SharedRun(store, writer, told, options, StoredBefore(store, options))
    for part in parts:
        yield from run.take_part(part)
        run.tell()
    yield from run.end()
    return run.report()


class _PartRun(Run):
    """Writes some documents, and notes what became of each."""

    def __init__(
        self, store: ChunkStore, writer: ChunkWriter, options: RunOptions
    ) -> None:
        nothing = StoredBefore(_Nothing(), RunOptions())
        super().__init__(store, writer, _nobody, options, nothing)
        self.written: list[Written] = []

    def take(self, given: Readable) -> Requests:
        if isinstance(given, SkippedFile):
            self.written.append(given)
        else:
            yield from super().take(given)

    def done(self, pending: Pending) -> None:
        document, todo, outcome = pending
        first = tuple(one._replace(text="", source=None) for one in document.chunks[:1])
        kept = WantedDocument(document.name, first)
        self.written.append(WrittenDocument(kept, outcome, todo.unchanged))

    def fail(self, name: str, error: Exception, *, beside: bool = False) -> None:
        entry = UndeletedDocument if beside else FailedDocument
        self.written.append(entry(name, carried(error)))

    def waits(self, pending: Pending, outcome: str) -> bool:
        waits = super().waits(pending, outcome)
        if waits:
            self.written.append(pending.document)
        return waits


class _SharedRun(Run):
    """Decides what concerns all documents."""

    def take_part(self, part: WrittenPart) -> Requests:
        """Count what was done, and look what else the store holds of it."""
        self.writing.added += part.added
        self.writing.deleted += part.deleted
        for given in part.documents:
            if not isinstance(given, WrittenDocument):
                yield from self.take(given)
                continue
            self.given.note(given.name)
            document, outcome, unchanged = given
            if self.before.may_hold_more(document):
                chunks = yield Fetch(document_key(given.name))
                document = document._replace(chunks=chunks)
            self.done(Pending(document, IndexingPlan((), (), (), unchanged), outcome))


class _Nothing(ChunkStore):
    """No store: what else is there, the run looks for that writes nothing itself."""

    name = "nothing"

    def scan(self) -> Iterator[StoredChunk]:
        """No chunk."""
        return iter(())


def _nobody(documents: int, chunks: int) -> None:
    """Is told how far a part is."""
