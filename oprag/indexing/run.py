"""Index the documents of a run one after another, so that no failure loses one.

A document goes through these steps:

1. It is compared with the chunks that the store holds of it (`plan`).
2. Its plan waits with others until their chunks fill a batch.
3. The new chunks of these plans are embedded and added. Once all are stored, the old
   ones are deleted. Their ids differ, so both exist until then, and a reader gets the
   old version or the new one.
4. If the store or the embedding fails, each document concerned is tried once more,
   alone. If that fails too, the report lists it as failed, and the others go on. The
   next run finds the stored chunks and does the rest.

Chunks that another program wrote of a document are foreign. They stay, unless the user
has them replaced (`replace="all"`).

Generators decide the work, and `oprag.indexing.update` does it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

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
the embedding is probably down, so the other documents are not tried. Documents that
nothing is written for, such as unchanged ones, do not end a row."""
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


class _Planned(NamedTuple):
    """A document that was compared with the store."""

    document: WantedDocument
    outcome: str
    """The field of the report that lists it once its changes are written."""
    changes: IndexingPlan


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
        self._pending: list[_Planned] = []
        self._outcomes: dict[str, list[str]] = {
            key: []
            for key in ("added", "updated", "unchanged", "removed", "empty", "kept")
        }
        self._skipped: list[UnreadableFileError] = []
        self._failed: list[FailedDocument] = []
        self._in_a_row: list[type[Exception]] = []
        self._with_foreign: dict[str, None] = {}  # names of documents, in order
        self._counts = Counter[str]()

    def take_document(self, given: Readable) -> Requests:
        """Take the next document, or the error in its place."""
        if isinstance(given, UnreadableFileError):
            self._names.add_name(given.path)
            self._skipped.append(given)
            return
        self._names.add_name(given.name)
        if isinstance(given, FailedDocument):
            self._record_failure(*given)
        elif given.chunks:
            yield from self._queue_document(given)
        else:
            self._outcomes["empty"].append(given.name)

    def _queue_document(self, document: WantedDocument, outcome: str = "") -> Requests:
        """Compare a document with the store, and write if enough is pending.

        If the store fails, the document is tried once more. The pending ones are
        written before it, so that the report keeps the order of the documents.

        Args:
            document: The document.
            outcome: See `_plan_document`.
        """
        try:
            planned = yield from self._plan_document(document, outcome)
        except _FATAL:
            raise
        except REFUSALS as error:
            self._record_failure(document.name, error)
            return
        except Exception:  # noqa: BLE001 -- any store error; tried once more
            yield from self.flush()
            yield from self._retry_alone(document, outcome)
            return
        if planned.changes.is_empty:
            self._record_outcome(planned)
            return
        self._pending.append(planned)
        all_changes = [each.changes for each in self._pending]
        sizes = (max(len(each.add), len(each.delete)) for each in all_changes)
        if sum(sizes) >= self._options.batch_size:
            yield from self.flush()

    def _plan_document(
        self, document: WantedDocument, outcome: str
    ) -> Effects[_Planned]:
        """Compare a document with the store.

        Args:
            document: The document.
            outcome: The field of the report that is to list it; empty for the one that
                its changes decide.
        """
        key = document_key(document.name)
        read, aread = self._store.read, self._store.aread
        found = yield Effect(partial(read, {key: None}), partial(aread, {key: None}))
        present = [*found]
        if document.is_estimated:
            refuse_cut_by_default(document.name, present)
        changes = plan(key, document.chunks, present, self._options)
        # Removing a document leaves its foreign chunks.
        foreign = self.before.foreign(document) if document.chunks else []
        if self._options.replace == "all":
            changes = changes._replace(delete=(*changes.delete, *foreign))
        elif foreign and document.name not in self._with_foreign:
            self._with_foreign[document.name] = None
            self._counts["foreign"] += len(foreign)
        if changes.delete and self._writer.cannot_delete:
            raise IndexingError(self._writer.cannot_delete, store=self._store.name)
        return _Planned(document, outcome or changes.outcome, changes)

    def flush(self) -> Requests:
        """Write all pending changes; if that fails, each document alone."""
        pending, self._pending = self._pending, []
        try:
            yield from self._write([each.changes for each in pending])
        except _FATAL:
            raise
        except Exception:  # noqa: BLE001 -- any store error; each is tried once more
            if isinstance(self._store, Snapshot):
                self._store.forget()
            for each in pending:
                yield from self._retry_alone(each.document, each.outcome)
        else:
            for each in pending:
                self._record_outcome(each)

    def _write(self, all_changes: Sequence[IndexingPlan]) -> Requests:
        """Add the new chunks of all documents; then delete the old ones."""
        new = [chunk for changes in all_changes for chunk in changes.add]
        for chunks in self._batches(new):
            add, aadd = self._writer.add, self._writer.aadd
            yield Effect(partial(add, chunks), partial(aadd, chunks))
            self._counts["added"] += len(chunks)
            self.report_progress()
        old = [id_ for changes in all_changes for id_ in changes.delete]
        for ids in self._batches(old):
            delete, adelete = self._writer.delete, self._writer.adelete
            yield Effect(partial(delete, ids), partial(adelete, ids))
            self._counts["deleted"] += len(ids)

    def _batches(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        size = self._options.batch_size
        return (items[at : at + size] for at in range(0, len(items), size))

    def _retry_alone(self, document: WantedDocument, outcome: str) -> Requests:
        """Compare and write one document after a failure; record another failure."""
        try:
            planned = yield from self._plan_document(document, outcome)
            yield from self._write([planned.changes])
        except _FATAL:
            raise
        except Exception as error:  # noqa: BLE001 -- any store error; reported
            self._record_failure(document.name, error)
        else:
            self._record_outcome(planned)

    def _record_outcome(self, planned: _Planned) -> None:
        self._outcomes[planned.outcome].append(planned.document.name)
        self._counts["unchanged"] += planned.changes.unchanged
        if planned.outcome != "unchanged":
            self._in_a_row = []

    def _record_failure(self, name: str, error: Exception) -> None:
        """Record a document that failed.

        Raises:
            IndexingError: Too many in a row failed.
        """
        self._failed.append(FailedDocument(name, error))
        if isinstance(error, REFUSALS):
            return
        kind = type(error)
        self._in_a_row = [*(k for k in self._in_a_row if k is kind), kind]
        if len(self._in_a_row) == _IN_A_ROW:
            raise self.make_outage_error()

    def make_outage_error(self) -> IndexingError:
        """Return the error for an outage."""
        said = f"{_IN_A_ROW} documents in a row failed, and the run was stopped. "
        return self._make_error(said)

    def _make_error(self, said: str) -> IndexingError:
        message = said + failures(self._failed)
        error = IndexingError(message, store=self._store.name, report=self.report())
        error.__cause__ = self._failed[-1].error
        return error

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
        self._with_foreign |= dict.fromkeys(part.foreign)
        for count in _COUNTS:
            self._counts[count] += getattr(part, f"chunks_{count}")
        if part.added or part.updated:
            self._in_a_row = []
            self._failed += part.failed
            return
        for each in part.failed:
            self._record_failure(*each)

    def finish_run(self) -> Requests:
        """Write the pending changes; remove missing documents, if asked.

        Raises:
            IndexingError: No document could be indexed, or too many in a row failed.
            InvalidOptionError: More than half would be deleted.
        """
        yield from self.flush()
        self.report_progress()
        if self._failed and not any(self._outcomes.values()):
            raise self._make_error("No document could be indexed. ")
        for name in self._choose_removals():
            # A document that is to have no chunks loses those it has.
            yield from self._queue_document(WantedDocument(name, ()), "removed")
        yield from self.flush()

    def _choose_removals(self) -> list[str]:
        """Return the names of this scope's documents that are not given, or empty.

        If a document failed or a file could not be opened, it may be one of them under
        a new name. Then none is removed, and they are listed as kept. If more than half
        would go, the source may be out of reach, and this raises. `"all"` skips both
        checks.
        """
        if not self._options.remove_missing:
            return []
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
            foreign=tuple(self._with_foreign),
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
