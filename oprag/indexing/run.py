"""What a run does with each document, so that none is lost, whatever fails.

Of every document the new chunks are embedded and added first; when all of them are in
the store, the old ones are deleted. Their ids differ, so that both live side by side
until then: a reader of the document gets its old version or its new one. What fails
concerns one document, and the others go on. The next run finds what is there and does
the rest. Generators decide what is to be done; `oprag.indexing.updating` does it.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from oprag.documents import ChunkStore, StoredChunk
from oprag.errors import IndexingError, InvalidOptionError
from oprag.indexing.given import GivenNames
from oprag.indexing.plan import (
    IndexingPlan,
    RunOptions,
    WantedChunk,
    WantedDocument,
    plan,
)
from oprag.indexing.report import (
    REFUSALS,
    FailedDocument,
    IndexingReport,
    Readable,
    SkippedFile,
    failures,
    too_many,
)
from oprag.indexing.stored import StoredBefore
from oprag.indexing.writing import ChunkWriter, Snapshot
from oprag.metadata import document_key, named_id

T = TypeVar("T")

_IN_A_ROW = 5
"""Documents that may fail one after the other, of the same kind of error: what fails
then is the store or the embedding, which is not asked for every other document too."""
_FOR_ALL = (IndexingError, InvalidOptionError, Warning)
"""What concerns every document, and ends a run at once."""


class Fetch(NamedTuple):
    """Asks for the stored chunks of a document."""

    doc_key: str


class Add(NamedTuple):
    """Asks for chunks to be embedded and written."""

    chunks: Sequence[WantedChunk]


class Delete(NamedTuple):
    """Asks for chunks to be deleted."""

    ids: Sequence[str]


Request: TypeAlias = Fetch | Add | Delete
Requests: TypeAlias = Generator[Request, Any, None]
"""`Fetch` is answered with the stored chunks, the others with None; a request that
fails by its exception."""
Steps: TypeAlias = Generator[Request, Any, IndexingReport]


def indexing_steps(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    progress: Callable[[int, int], None],
    options: RunOptions,
) -> Steps:
    """Index documents.

    Args:
        documents: Read one at a time.
        store: Where the chunks are read.
        writer: Where they are written.
        progress: Called with the documents that are done, and the chunks written.
        options: See `RunOptions`.
    """
    run = Run(store, writer, progress, options)
    for document in documents:
        yield from run.take(document)
        run.advance()
    yield from run.end()
    return run.report()


class DocumentRun(ABC):
    """Compares documents with a store, and writes what differs.

    Args:
        store: Where the chunks are read.
        writer: Where they are written.
        options: See `RunOptions`.
    """

    def __init__(
        self, store: ChunkStore, writer: ChunkWriter, options: RunOptions
    ) -> None:
        self.store = store
        self.options = options
        self._writer = writer
        self._pending: list[tuple[WantedDocument, str, IndexingPlan]] = []
        self._pending_size = 0
        self.added = 0
        """Chunks that were written."""
        self.deleted = 0
        """Chunks that were deleted, or written anew."""

    @abstractmethod
    def done(self, document: WantedDocument, outcome: str, unchanged: int) -> None:
        """Note that a document is in the store.

        Args:
            document: The document.
            outcome: Which list of the report it belongs to.
            unchanged: Chunks that were left as they were.
        """

    @abstractmethod
    def fail(self, name: str, error: Exception) -> None:
        """Note that a document could not be stored."""

    @abstractmethod
    def advance(self) -> None:
        """Report how far the run is."""

    def write_document(self, document: WantedDocument, outcome: str = "") -> Requests:
        """Compare one document with the store, and write when there is enough."""
        try:
            todo = yield from self._compared(document)
        except _FOR_ALL:
            raise
        except REFUSALS as error:
            self.fail(document.name, error)
            return
        except Exception:  # noqa: BLE001 -- any store's; it is asked once more
            yield from self.flush()
            yield from self._alone(document, outcome)
            return
        if todo.is_empty:
            self.done(document, outcome or todo.outcome, todo.unchanged)
            return
        self._pending.append((document, outcome or todo.outcome, todo))
        self._pending_size += max(len(todo.add) + len(todo.rewrite), len(todo.delete))
        if self._pending_size >= self.options.batch_size:
            yield from self.flush()

    def flush(self) -> Requests:
        """Write what is pending; one by one if that fails."""
        pending, self._pending, self._pending_size = self._pending, [], 0
        try:
            yield from self.write([todo for *_, todo in pending])
        except _FOR_ALL:
            raise
        except Exception:  # noqa: BLE001 -- any store's; each is tried again
            if isinstance(self.store, Snapshot):
                self.store.forget()
            for document, outcome, _ in pending:
                yield from self._alone(document, outcome)
        else:
            for document, outcome, todo in pending:
                self.done(document, outcome, todo.unchanged)

    def _compared(
        self, document: WantedDocument
    ) -> Generator[Request, Any, IndexingPlan]:
        key = document_key(document.name)
        present: list[StoredChunk] = yield Fetch(key)
        todo = plan(key, document.chunks, present, self.options)
        if (todo.delete or todo.rewrite) and self._writer.cannot_delete:
            raise IndexingError(self._writer.cannot_delete, store=self.store.name)
        return todo

    def _alone(self, document: WantedDocument, outcome: str) -> Requests:
        """Compare and write one document, and note it if that fails."""
        try:
            todo = yield from self._compared(document)
            yield from self.write([todo])
        except _FOR_ALL:
            raise
        except Exception as error:  # noqa: BLE001 -- any store's, and is reported
            self.fail(document.name, error)
        else:
            self.done(document, outcome or todo.outcome, todo.unchanged)

    def write(self, todo: Sequence[IndexingPlan]) -> Requests:
        """Add all that is new, of all plans; then delete."""
        going = [id_ for one in todo for id_ in one.delete]
        for chunks in self._batches([c for one in todo for c in one.add]):
            yield Add(chunks)
            self.added += len(chunks)
            self.advance()
        for chunks in self._batches([c for one in todo for c in one.rewrite]):
            yield from self._rewrite(chunks, frozenset(going))
            self.added += len(chunks)
            self.deleted += len(chunks)
        for ids in self._batches(going):
            yield Delete(ids)
            self.deleted += len(ids)

    def _rewrite(
        self, chunks: Sequence[WantedChunk], going: frozenset[str]
    ) -> Requests:
        """Write chunks whose ids are there; the store is never without them."""
        if self._writer.replaces:
            yield Add(chunks)
            return
        # An id has to go before it can come again: till then a copy stands in for it.
        # A copy that an interrupted run left is among those that go.
        copies = [one._replace(id=named_id(f"{one.id}\ncopy")) for one in chunks]
        copies = [copy for copy in copies if copy.id not in going]
        if copies:
            yield Add(copies)
        yield Delete([chunk.id for chunk in chunks])
        yield Add(chunks)
        if copies:
            yield Delete([copy.id for copy in copies])

    def _batches(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        rest = iter(items)
        while batch := list(itertools.islice(rest, self.options.batch_size)):
            yield batch


class Run(DocumentRun):
    """A whole run: every document that is given, and those that are not.

    Args:
        store: See `DocumentRun`, as for the others.
        writer: The same.
        progress: Called with the documents that are done, and the chunks written.
        options: The same.
    """

    def __init__(
        self,
        store: ChunkStore,
        writer: ChunkWriter,
        progress: Callable[[int, int], None],
        options: RunOptions,
    ) -> None:
        super().__init__(store, writer, options)
        self._progress = progress
        self.before = StoredBefore(store, options)
        self.given = GivenNames()
        self._outcomes: dict[str, list[str]] = {
            key: []
            for key in ("added", "updated", "unchanged", "removed", "empty", "kept")
        }
        self._skipped: list[SkippedFile] = []
        self._failed: list[FailedDocument] = []
        self._in_a_row: list[type[Exception]] = []
        self._unchanged = 0

    def take(self, given: Readable) -> Requests:
        """Take the next document, or what is wrong with it."""
        self.given.note(given.name)
        if isinstance(given, SkippedFile):
            self._skipped.append(given)
        elif isinstance(given, FailedDocument):
            self.fail(*given)
        elif given.chunks:
            yield from self.write_document(given)
        else:
            self._outcomes["empty"].append(given.name)

    def end(self) -> Requests:
        """Write what is pending; delete what is missing or there twice, if asked.

        Raises:
            IndexingError: No document could be indexed.
            InvalidOptionError: More than half would be deleted.
        """
        yield from self.flush()
        self.advance()
        if self._failed and not any(self._outcomes.values()):
            raise self._error("No document could be indexed. ")
        for name in self._missing() if self.options.remove_missing else ():
            yield from self.write_document(WantedDocument(name, ()), "removed")
        yield from self.flush()
        if self.options.replace == "all":
            yield from self._delete_copies()

    def _missing(self) -> list[str]:
        """The documents of this scope that go, as they were not given, or are empty.

        None while others failed or could not be read, which may be the same by a new
        name; nor if they are more than half: the documents may be out of reach. With
        "all" all of them go.
        """
        empty = set(map(document_key, self._outcomes["empty"]))
        before = self.before.documents()
        going = sorted(
            name
            for key, name in before.items()
            if key not in self.given or key in empty
        )
        if self.options.remove_missing == "all":
            return going
        if self._failed or any(one.is_unread for one in self._skipped):
            self._outcomes["kept"] = going
            return []
        if 2 * len(going) > len(before):
            raise too_many(going, len(before))
        return going

    def _delete_copies(self) -> Requests:
        """Delete what else the store holds of the documents that were given."""
        for name, ids in self.before.foreign.items():
            try:
                yield from self.write([IndexingPlan((), (), tuple(ids), 0)])
            except _FOR_ALL:
                raise
            except Exception as error:  # noqa: BLE001 -- any store's, and is reported
                self.fail(name, error)
        others = self.before.renamed(self.given.values()).values()
        gone = self._outcomes["removed"]
        for name in sorted(set(itertools.chain(*others)).difference(gone)):
            yield from self.write_document(WantedDocument(name, ()), "removed")
        yield from self.flush()

    def report(self) -> IndexingReport:
        """Return what was done so far."""
        left = self.options.replace != "all"
        foreign = self.before.count_others(self.given.values()) if left else {}
        return IndexingReport(
            **{
                outcome: tuple(sorted(names) if outcome == "removed" else names)
                for outcome, names in self._outcomes.items()
            },
            skipped=tuple(one.error for one in self._skipped),
            failed=tuple(self._failed),
            foreign=tuple(foreign),
            chunks_foreign=sum(foreign.values()),
            chunks_added=self.added,
            chunks_deleted=self.deleted,
            chunks_unchanged=self._unchanged,
        )

    def advance(self) -> None:  # noqa: D102 -- see the base class
        done = len(self._skipped) + len(self._failed)
        done += sum(len(self._outcomes[key]) for key in _GIVEN)
        self._progress(done, self.added)

    def done(  # noqa: D102 -- see the base class
        self, document: WantedDocument, outcome: str, unchanged: int
    ) -> None:
        self._outcomes[outcome].append(document.name)
        self._unchanged += unchanged
        if document.chunks:
            self.before.look_for(document)
        if outcome != "unchanged":
            self._in_a_row = []

    def fail(self, name: str, error: Exception) -> None:  # noqa: D102 -- see the base class
        self._failed.append(FailedDocument(name, error))
        if isinstance(error, REFUSALS):
            return
        kind = type(error)
        self._in_a_row = [*(k for k in self._in_a_row if k is kind), kind]
        if len(self._in_a_row) == _IN_A_ROW:
            what = f"{_IN_A_ROW} documents in a row failed, and the run was stopped. "
            raise self._error(what)

    def _error(self, what: str) -> IndexingError:
        message = what + failures(self._failed)
        error = IndexingError(message, store=self.store.name, report=self.report())
        error.__cause__ = self._failed[-1].error
        return error


_GIVEN = ("added", "updated", "unchanged", "empty")
"""What became of documents that were given."""
