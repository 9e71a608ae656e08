"""The steps of a run for each document, so that none is lost if anything fails.

For each document, the new chunks are embedded and added first. Once all are stored, the
old ones are deleted. Their ids differ, so both exist until then, and a reader gets the
old version or the new one. If one document fails, the others go on, and the next run
finds the stored chunks and does the rest. Generators decide the work, and
`oprag.indexing.update` does it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

from oprag.effects import Effect, Effects
from oprag.errors import (
    IndexingError,
    InvalidOptionError,
    TokenizerError,
    UnreadableFileError,
)
from oprag.indexing.given import GivenNames
from oprag.indexing.plan import (
    IndexingPlan,
    RunOptions,
    WantedDocument,
    plan,
    refuse_cut_by_default,
)
from oprag.indexing.report import (
    REFUSALS,
    FailedDocument,
    IndexingReport,
    Readable,
    failures,
    too_many,
)
from oprag.indexing.stored import StoredBefore
from oprag.indexing.writer import ChunkWriter, Snapshot
from oprag.metadata import document_key
from oprag.stores import ChunkStore

T = TypeVar("T")

_IN_A_ROW = 5
"""After this many failures in a row with one error type, the run stops: the store or
the embedding is probably down, so the other documents are not tried. Documents for
which neither is asked, such as unchanged ones, do not end a row."""
_FATAL = (IndexingError, InvalidOptionError, TokenizerError, Warning)
"""Errors that are about every document: they end a run at once."""
_OUTCOMES_OF_GIVEN = ("added", "updated", "unchanged", "empty")
"""Outcomes of documents that were given."""
_COUNTS = ("added", "deleted", "unchanged", "foreign")
"""Counts of chunks."""


Requests: TypeAlias = Effects[None]
"""Reads and writes to do. If one fails, its exception is thrown into the generator."""


WorkerResult: TypeAlias = IndexingReport | UnreadableFileError | IndexingError
"""The report of another process on some documents, or the error that stopped it."""
DocumentsOrWorkers: TypeAlias = (
    Iterable[Readable] | Callable[[StoredBefore], Iterable[WorkerResult]]
)
"""Either the documents, read one at a time; or a function that lets other processes
write them. It takes the state of the store before the run, and yields their results."""


def indexing_steps(
    run: Run, given: DocumentsOrWorkers, *, is_part: bool = False
) -> Effects[IndexingReport]:
    """Index documents, and end the run, unless this is a part of another run."""
    for each in given(run.before) if callable(given) else given:
        if isinstance(each, IndexingReport):
            run.count_part(each)
        elif isinstance(each, IndexingError):
            if each.report is None or not each.report.failed:
                raise each  # about the store, and no outage
            run.count_part(each.report)
            raise run.make_outage_error()
        else:
            yield from run.take_document(each)
        run.report_progress()
    yield from run.flush() if is_part else run.finish_run()
    return run.report()


class Run:
    """Compares documents with a store, and writes the differences."""

    def __init__(
        self,
        store: ChunkStore,
        writer: ChunkWriter,
        options: RunOptions,
        progress: Callable[[int, int], None] = lambda *_: None,
        before: StoredBefore | None = None,
    ) -> None:
        self._store = store if store.is_queried else Snapshot(store)
        self._writer = writer
        self._options = options
        self._progress = progress
        self.before = before or StoredBefore(store, options)
        self._names = GivenNames()
        self._pending: list[tuple[WantedDocument, str, IndexingPlan]] = []
        self._outcomes: dict[str, list[str]] = {
            key: []
            for key in ("added", "updated", "unchanged", "removed", "empty", "kept")
        }
        self._skipped: list[UnreadableFileError] = []
        self._failed: list[FailedDocument] = []
        self._in_a_row: list[type[Exception]] = []
        self._foreign: dict[str, None] = {}
        self._counts = Counter[str]()

    def take_document(self, given: Readable) -> Requests:
        """Take the next document, or the error in its place."""
        if isinstance(given, UnreadableFileError):
            self._names.add_name(given.path)
            self._skipped.append(given)
            return
        self._names.add_name(given.name)
        if isinstance(given, FailedDocument):
            self._fail(*given)
        elif given.chunks:
            yield from self._write_document(given)
        else:
            self._outcomes["empty"].append(given.name)

    def count_part(self, part: IndexingReport) -> None:
        """Count the results of another process in this run.

        Raises:
            IndexingError: Too many documents in a row failed.
        """
        for outcome in _OUTCOMES_OF_GIVEN:
            self._outcomes[outcome] += getattr(part, outcome)
        failed = [each.name for each in part.failed]
        for name in (*part.added, *part.updated, *part.unchanged, *part.empty, *failed):
            self._names.add_name(name)
        self._foreign |= dict.fromkeys(part.foreign)
        for what in _COUNTS:
            self._counts[what] += getattr(part, f"chunks_{what}")
        if part.added or part.updated:
            self._in_a_row = []
            self._failed += part.failed
            return
        for each in part.failed:
            self._fail(*each)

    def _write_document(self, document: WantedDocument, outcome: str = "") -> Requests:
        """Compare one document with the store, and write if enough is pending."""
        try:
            todo = yield from self._plan_document(document)
        except _FATAL:
            raise
        except REFUSALS as error:
            self._fail(document.name, error)
            return
        except Exception:  # noqa: BLE001 -- any store error; tried once more
            yield from self.flush()
            yield from self._write_alone(document, outcome)
            return
        if todo.is_empty:
            self._report_outcome(document, outcome or todo.outcome, todo)
            return
        self._pending.append((document, outcome or todo.outcome, todo))
        sizes = (max(len(each.add), len(each.delete)) for *_, each in self._pending)
        if sum(sizes) >= self._options.batch_size:
            yield from self.flush()

    def flush(self) -> Requests:
        """Write the pending chunks; one document at a time if that fails."""
        pending, self._pending = self._pending, []
        try:
            yield from self._write([todo for *_, todo in pending])
        except _FATAL:
            raise
        except Exception:  # noqa: BLE001 -- any store error; each is retried
            if isinstance(self._store, Snapshot):
                self._store.forget()
            for document, outcome, _ in pending:
                yield from self._write_alone(document, outcome)
        else:
            for each in pending:
                self._report_outcome(*each)

    def _plan_document(self, document: WantedDocument) -> Effects[IndexingPlan]:
        key = document_key(document.name)
        read, aread = self._store.read, self._store.aread
        found = yield Effect(partial(read, {key: None}), partial(aread, {key: None}))
        present = [*found]
        if document.is_estimated:
            refuse_cut_by_default(document.name, present)
        todo = plan(key, document.chunks, present, self._options)
        foreign = self.before.foreign(document) if document.chunks else []
        if self._options.replace == "all":
            todo = todo._replace(delete=(*todo.delete, *foreign))
        elif foreign and document.name not in self._foreign:
            self._foreign[document.name] = None
            self._counts["foreign"] += len(foreign)
        if todo.delete and self._writer.cannot_delete:
            raise IndexingError(self._writer.cannot_delete, store=self._store.name)
        return todo

    def _write_alone(self, document: WantedDocument, outcome: str) -> Requests:
        """Compare and write one document; record its failure."""
        try:
            todo = yield from self._plan_document(document)
            yield from self._write([todo])
        except _FATAL:
            raise
        except Exception as error:  # noqa: BLE001 -- any store error; reported
            self._fail(document.name, error)
        else:
            self._report_outcome(document, outcome or todo.outcome, todo)

    def _write(self, todo: Sequence[IndexingPlan]) -> Requests:
        """Add all new chunks of all plans; then delete."""
        for chunks in self._batches([c for one in todo for c in one.add]):
            add, aadd = self._writer.add, self._writer.aadd
            yield Effect(partial(add, chunks), partial(aadd, chunks))
            self._counts["added"] += len(chunks)
            self.report_progress()
        for ids in self._batches([id_ for one in todo for id_ in one.delete]):
            delete, adelete = self._writer.delete, self._writer.adelete
            yield Effect(partial(delete, ids), partial(adelete, ids))
            self._counts["deleted"] += len(ids)

    def _batches(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        size = self._options.batch_size
        return (items[at : at + size] for at in range(0, len(items), size))

    def _report_outcome(
        self, document: WantedDocument, outcome: str, todo: IndexingPlan
    ) -> None:
        self._outcomes[outcome].append(document.name)
        self._counts["unchanged"] += todo.unchanged
        if outcome != "unchanged":
            self._in_a_row = []

    def _fail(self, name: str, error: Exception) -> None:
        self._failed.append(FailedDocument(name, error))
        if isinstance(error, REFUSALS):
            return
        kind = type(error)
        self._in_a_row = [*(k for k in self._in_a_row if k is kind), kind]
        if len(self._in_a_row) == _IN_A_ROW:
            raise self.make_outage_error()

    def finish_run(self) -> Requests:
        """Write the pending chunks; remove missing documents, if asked.

        Raises:
            IndexingError: No document could be indexed, or too many in a row failed.
            InvalidOptionError: More than half would be deleted.
        """
        yield from self.flush()
        self.report_progress()
        if self._failed and not any(self._outcomes.values()):
            raise self._make_error("No document could be indexed. ")
        for name in self._choose_removals() if self._options.remove_missing else ():
            yield from self._write_document(WantedDocument(name, ()), "removed")
        yield from self.flush()

    def _choose_removals(self) -> list[str]:
        """Return the names in this scope to remove: not given, or empty.

        If any document failed or was unread, a missing one may be the same, renamed.
        Then none is removed, and `kept` is set. Raises if over half would go, as the
        source may be out of reach. "all" skips both checks.
        """
        empty = set(map(document_key, self._outcomes["empty"]))
        before = self.before.documents()
        going = sorted(
            name
            for key, name in before.items()
            if key not in self._names or key in empty
        )
        if self._options.remove_missing == "all":
            return going
        if self._failed or not all(each.was_opened for each in self._skipped):
            self._outcomes["kept"] = going
            return []
        if 2 * len(going) > len(before):
            raise too_many(going, len(before))
        return going

    def report(self) -> IndexingReport:
        """Return the report of all work so far."""
        counts = self._counts
        outcomes: dict[str, Any] = {
            outcome: tuple(sorted(names) if outcome == "removed" else names)
            for outcome, names in self._outcomes.items()
        }
        return IndexingReport(
            **outcomes,
            skipped=tuple(self._skipped),
            failed=tuple(self._failed),
            foreign=tuple(self._foreign),
            chunks_foreign=counts["foreign"],
            chunks_added=counts["added"],
            chunks_deleted=counts["deleted"],
            chunks_unchanged=counts["unchanged"],
        )

    def report_progress(self) -> None:
        """Report the progress of the run."""
        done = len(self._skipped) + len(self._failed)
        done += sum(len(self._outcomes[key]) for key in _OUTCOMES_OF_GIVEN)
        self._progress(done, self._counts["added"])

    def make_outage_error(self) -> IndexingError:
        """Return the error for an outage."""
        what = f"{_IN_A_ROW} documents in a row failed, and the run was stopped. "
        return self._make_error(what)

    def _make_error(self, what: str) -> IndexingError:
        message = what + failures(self._failed)
        error = IndexingError(message, store=self._store.name, report=self.report())
        error.__cause__ = self._failed[-1].error
        return error
