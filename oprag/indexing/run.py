"""Index the documents of a run one after another, so that no failure loses one.

A document goes through these steps:

1. It is compared with the chunks that the store holds of it (`plan`).
2. Its plan waits with others until their chunks fill a batch.
3. The new chunks of these plans are embedded and added. Once all are stored, the old
   ones are deleted. Their ids differ, so one version is whole at any time. A search may
   find chunks of both: `oprag.positions.keep_one_version` says which are read.
4. If the store or the embedding fails, each document concerned is tried once more,
   alone. If that fails too, the report lists it as failed, and the others go on. The
   next run finds the stored chunks and does the rest.

Chunks that another program wrote of a document are foreign. They stay, unless the user
has them replaced (`replace="all"`).

Generators decide the work, and `oprag.indexing.update` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypeVar

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
    Outcome,
    RunOptions,
    WantedDocument,
    plan,
    refuse_cut_by_default,
)
from oprag.indexing.record import RunRecord
from oprag.indexing.report import (
    REFUSALS,
    FailedDocument,
    IndexingReport,
    Readable,
    make_removal_error,
)
from oprag.indexing.stored import StoredBefore
from oprag.indexing.writer import ChunkWriter, Snapshot
from oprag.metadata import document_key
from oprag.stores import ChunkStore

T = TypeVar("T")

_FATAL = (IndexingError, InvalidOptionError, TokenizerError, Warning)
"""Errors that are about every document: they end a run at once. A warning is raised if
the user has warnings raised as errors."""


Requests: TypeAlias = Effects[None]
"""Reads and writes to do. If one fails, its exception is thrown into the generator."""


def index_given(
    run: Run, documents: Iterable[Readable], *, is_part: bool = False
) -> Effects[IndexingReport]:
    """Index documents, and end the run, unless this is a part of another run.

    If an error ends it, the documents before that are written: how many they are does
    not depend on the batches.
    """
    try:
        for document in documents:
            yield from run.take_document(document)
            run.report_progress()
    except Exception:  # of a loader, a model, a store: it is raised
        yield from run.write_pending()
        raise
    if is_part:
        yield from run.write_pending()
    else:
        yield from run.finish()
    return run.record.make_report()


@dataclass
class _Work:
    """The work on a document that was compared with the store."""

    document: WantedDocument
    outcome: Outcome
    """Its outcome once its changes are written."""
    changes: IndexingPlan
    """Its changes, before any was written."""
    left: IndexingPlan
    """Those that the store still lacked when it was last compared."""
    added: set[str] = field(default_factory=set)
    """Ids of its new chunks that are written."""
    deleted: set[str] = field(default_factory=set)
    """Ids of its old chunks that are deleted."""
    is_deleting: bool = False
    """Whether all its new chunks are stored, and deleting was begun."""


class Run:
    """Compares documents with a store, and writes the differences.

    Args:
        store: Reads the store.
        writer: Writes to the store.
        options: See `RunOptions`.
        progress: Is told how many documents are done and how many chunks were written.
        before: The state of the store before the run; None to read it.
    """

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
        self.record = RunRecord(store.name)
        self._names = GivenNames()
        self._pending: list[_Work] = []

    def take_document(self, given: Readable) -> Requests:
        """Take the next document, or the error in its place."""
        if isinstance(given, UnreadableFileError):
            self._names.add_name(given.path)
            self.record.skipped.append(given)
            return
        self._names.add_name(given.name)
        if isinstance(given, FailedDocument):
            self.record.add_failure(given)
        elif given.chunks:
            yield from self._queue_document(given)
        else:
            self.record.documents["empty"].append(given.name)

    def _queue_document(
        self, document: WantedDocument, outcome: Outcome | None = None
    ) -> Requests:
        """Compare a document with the store, and write if enough is pending.

        If the store fails, the document is tried once more. The pending ones are
        written before it, so that the report keeps the order of the documents.

        Args:
            document: The document.
            outcome: Its outcome once it is written; None for that of its changes.
        """
        try:
            planned = yield from self._plan_document(document, outcome)
        except _FATAL:
            raise
        except REFUSALS as error:
            self.record.add_failure(FailedDocument(document.name, error))
            return
        except Exception:  # noqa: BLE001 -- any store error; tried once more
            yield from self.write_pending()
            yield from self._retry_alone(document, outcome)
            return
        if planned.changes.is_empty:
            self._record_outcome(planned)
            return
        self._pending.append(planned)
        if self._fills_batch():
            yield from self.write_pending()

    def _plan_document(
        self, document: WantedDocument, outcome: Outcome | None
    ) -> Effects[_Work]:
        """Compare a document with the store; see `_queue_document`."""
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
        elif foreign:
            self.record.add_foreign(document.name, len(foreign))
        if changes.delete and self._writer.cannot_delete:
            raise IndexingError(self._writer.cannot_delete, store=self._store.name)
        return _Work(document, outcome or changes.outcome, changes, changes)

    def _fills_batch(self) -> bool:
        """Return whether the chunks that are pending fill a batch."""
        size = 0
        for planned in self._pending:
            size += max(len(planned.changes.add), len(planned.changes.delete))
        return size >= self._options.batch_size

    def write_pending(self) -> Requests:
        """Write all pending changes; if that fails, each document alone."""
        pending, self._pending = self._pending, []
        try:
            yield from self._write(pending)
        except _FATAL:
            raise
        except Exception:  # noqa: BLE001 -- any store error; each is tried once more
            if isinstance(self._store, Snapshot):
                self._store.forget()
            for work in pending:
                yield from self._retry_alone(work.document, work.outcome, work)
        else:
            for work in pending:
                self._record_outcome(work)

    def _write(self, pending: Sequence[_Work]) -> Requests:
        """Add the new chunks of all documents; then delete the old ones."""
        new = [(work, chunk) for work in pending for chunk in work.left.add]
        for added in self._batches(new):
            chunks = [chunk for _, chunk in added]
            add, aadd = self._writer.add, self._writer.aadd
            yield Effect(partial(add, chunks), partial(aadd, chunks))
            for work, chunk in added:
                work.added.add(chunk.id)
            self.record.chunks_added += len(added)
            self.report_progress()
        old = [(work, id_) for work in pending for id_ in work.left.delete]
        for deleted in self._batches(old):
            for work, _ in deleted:
                work.is_deleting = True
            ids = [id_ for _, id_ in deleted]
            delete, adelete = self._writer.delete, self._writer.adelete
            yield Effect(partial(delete, ids), partial(adelete, ids))
            for work, id_ in deleted:
                work.deleted.add(id_)
            self.record.chunks_deleted += len(deleted)

    def _batches(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        size = self._options.batch_size
        return (items[at : at + size] for at in range(0, len(items), size))

    def _retry_alone(
        self,
        document: WantedDocument,
        outcome: Outcome | None,
        work: _Work | None = None,
    ) -> Requests:
        """Compare and write one document after a failure; record another failure.

        Args:
            document: The document.
            outcome: See `_queue_document`.
            work: The work that failed; None if the comparison did.
        """
        try:
            again = yield from self._plan_document(document, outcome)
            if work is None:
                work = again
            else:
                self._count_written(work, again.changes)
            yield from self._write([work])
        except _FATAL:
            raise
        except Exception as error:  # noqa: BLE001 -- any store error; reported
            deleted = len(work.deleted) if work and work.is_deleting else None
            self.record.add_failure(FailedDocument(document.name, error, deleted))
        else:
            self._record_outcome(work)

    def _count_written(self, work: _Work, left: IndexingPlan) -> None:
        """Count what a call wrote or deleted although it failed; take up the rest."""
        added = {chunk.id for chunk in work.changes.add}
        added -= {chunk.id for chunk in left.add}
        deleted = {*work.changes.delete}.difference(left.delete)
        self.record.chunks_added += len(added - work.added)
        self.record.chunks_deleted += len(deleted - work.deleted)
        work.added |= added
        work.deleted |= deleted
        work.left = left

    def _record_outcome(self, work: _Work) -> None:
        self.record.add_outcome(
            work.document.name, work.outcome, chunks_unchanged=work.changes.unchanged
        )

    def take_part(self, part: IndexingReport) -> None:
        """Take the report of another process on documents of this run.

        Raises:
            IndexingError: Too many documents in a row failed.
        """
        failed = [each.name for each in part.failed]
        for name in (*part.added, *part.updated, *part.unchanged, *part.empty, *failed):
            self._names.add_name(name)
        self.record.add_part(part)

    def take_stopped_part(self, error: IndexingError) -> None:
        """Take the error that stopped another process, and stop.

        Raises:
            IndexingError: An outage of this run, with all its documents, if documents
                failed there. Otherwise `error`, which is about the store.
        """
        if error.report is None or not error.report.failed:
            raise error
        self.take_part(error.report)
        raise self.record.make_outage_error()

    def finish(self) -> Requests:
        """Write the pending changes; remove missing documents, if asked.

        Raises:
            IndexingError: No document could be indexed, or too many in a row failed.
            InvalidOptionError: More than half would be deleted.
        """
        yield from self.write_pending()
        self.report_progress()
        self.record.raise_if_all_failed()
        for name in self._choose_removals():
            # A document that is to have no chunks loses those it has.
            yield from self._queue_document(WantedDocument(name, ()), "removed")
        yield from self.write_pending()

    def _choose_removals(self) -> list[str]:
        """Return the names of this scope's documents that are not given, or empty.

        If a document failed or a file could not be opened, it may be one of them under
        a new name. Then none is removed, and they are listed as kept. If more than half
        would go, the source may be out of reach, and this raises. `"all"` skips both
        checks.
        """
        if not self._options.remove_missing:
            return []
        empty = set(map(document_key, self.record.documents["empty"]))
        before = self.before.documents()
        going = []
        for key, name in before.items():
            if key not in self._names or key in empty:
                going.append(name)
        going.sort()
        if self._options.remove_missing == "all":
            return going
        all_opened = all(skipped.was_opened for skipped in self.record.skipped)
        if self.record.failed or not all_opened:
            self.record.documents["kept"] = going
            return []
        if 2 * len(going) > len(before):
            raise make_removal_error(going, len(before))
        return going

    def report_progress(self) -> None:
        """Report the progress of the run."""
        self._progress(self.record.documents_done, self.record.chunks_added)
