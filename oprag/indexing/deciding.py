"""What a run does with each document, so that none is lost, whatever fails.

Of every document the new chunks are embedded and added first; when all of them are in
the store, the old ones are deleted. Their ids differ, so that both live side by side
until then: whoever reads the document gets its old version or its new one. What fails
concerns one document, and the others go on. The next run finds what is there and does
the rest. A generator decides what is to be done; `oprag.indexing.updating` does it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeAlias

from oprag.documents import ChunkStore, StoredChunk
from oprag.errors import IndexingError, InvalidOptionError, OpragWarning
from oprag.indexing.names import GivenNames
from oprag.indexing.plan import IndexingPlan, WantedDocument, plan
from oprag.indexing.reporting import (
    REFUSALS,
    FailedDocument,
    IndexingReport,
    Readable,
    SkippedFile,
    UndeletedDocument,
    emptied,
    failures,
    nothing_given,
    too_many,
)
from oprag.indexing.requests import Fetch, NotDeletedError, Request, Requests, Writing
from oprag.indexing.run_options import RunOptions
from oprag.indexing.stored import StoredBefore
from oprag.indexing.writing import ChunkWriter, Snapshot
from oprag.metadata import document_key

_IN_A_ROW = 5
"""Documents that may fail one after the other, of the same kind of error: what fails
then is the store or the embedding, which is not asked for every other document too."""
_STORED = ("added", "updated", "unchanged", "empty")
"""What became of documents that did not fail."""
_FOR_ALL = (IndexingError, InvalidOptionError, Warning)
"""What concerns every document, and ends a run at once."""


Steps: TypeAlias = Generator[Request, Any, IndexingReport]


def indexing_steps(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    told: Callable[[int, int], None],
    options: RunOptions,
) -> Steps:
    """`Fetch` is answered with the stored chunks, the others with None.

    A request that fails is answered by its exception.
    """
    run = Run(store, writer, told, options, StoredBefore(store, options))
    for document in documents:
        yield from run.take(document)
        run.tell()
    yield from run.flush()
    run.tell()
    yield from run.end()
    return run.report()


class Pending(NamedTuple):
    """A document that is to be written."""

    document: WantedDocument
    todo: IndexingPlan
    outcome: str
    """Which list of the report it belongs to when it is."""


class Run:
    """The state of one run.

    Args:
        store: Where the chunks are read.
        writer: Where they are written.
        told: Called with the documents that are done, and the chunks written.
        options: See `RunOptions`.
        before: What the store holds before it.
    """

    def __init__(
        self,
        store: ChunkStore,
        writer: ChunkWriter,
        told: Callable[[int, int], None],
        options: RunOptions,
        before: StoredBefore,
    ) -> None:
        self._told = told
        self._store = store
        self._writer = writer
        self._options = options
        self.writing = Writing(
            batch_size=options.batch_size, replaces=writer.replaces, tell=self.tell
        )
        self.before = before
        self._names: dict[str, list[str]] = {
            key: []
            for key in ("added", "updated", "unchanged", "removed", "empty", "kept")
        }
        self._skipped: list[SkippedFile] = []
        self._failed: list[FailedDocument] = []
        self._in_a_row: list[type[Exception]] = []
        self.given = GivenNames()
        self._emptied: dict[str, str] = {}
        self._beside: set[str] = set()
        self._pending: list[Pending] = []
        self._pending_size = 0
        self._unchanged = 0

    def take(self, given: Readable) -> Requests:
        """Compare one document with the store, and write when there is enough."""
        self.given.note(given.name)
        if isinstance(given, SkippedFile):
            self._skipped.append(given)
        elif isinstance(given, FailedDocument):
            self.fail(*given, beside=isinstance(given, UndeletedDocument))
        else:
            yield from self._take_document(given)

    def _take_document(self, document: WantedDocument, outcome: str = "") -> Requests:
        try:
            pending = yield from self._compared(document, outcome)
        except _FOR_ALL:
            raise
        except REFUSALS as error:
            self.fail(document.name, error)
            return
        except Exception:  # noqa: BLE001 -- any store's; it is asked once more
            yield from self.flush()
            yield from self._alone(document, outcome)
            return
        todo = pending.todo
        if self.waits(pending, outcome):
            return
        if todo.is_empty:
            self.done(pending)
            return
        self._pending.append(pending)
        self._pending_size += max(len(todo.add) + len(todo.rewrite), len(todo.delete))
        if self._pending_size >= self._options.batch_size:
            yield from self.flush()

    def flush(self) -> Requests:
        """Write what is pending; one by one if that fails."""
        pending, self._pending, self._pending_size = self._pending, [], 0
        try:
            yield from self.writing.write([one.todo for one in pending])
        except _FOR_ALL:
            raise
        except Exception as error:  # noqa: BLE001 -- any store's; each is tried again
            if isinstance(self._store, Snapshot):
                self._store.forget()
            ids = error.ids if isinstance(error, NotDeletedError) else frozenset()
            self._beside = {
                one.document.name
                for one in pending
                if not ids.isdisjoint(one.todo.delete) and not one.todo.rewrite
            }
            for one in pending:
                yield from self._alone(one.document, one.outcome)
        else:
            for one in pending:
                self.done(one)

    def end(self) -> Requests:
        """Delete what is empty now; what is missing or there twice, if asked."""
        if not self._emptied:
            self._refuse_if_all_failed()
        if self._options.remove_missing or self._emptied:
            yield from self._remove()
            self._refuse_if_all_failed()
        if self._options.replace == "all":
            yield from self._replace_copies()

    def _refuse_if_all_failed(self) -> None:
        if self._failed and not any(map(self._names.get, _STORED)):
            beside = all(isinstance(one, UndeletedDocument) for one in self._failed)
            raise self._error("" if beside else "No document could be indexed. ")

    def tell(self) -> None:
        """Tell how far the run is."""
        stored = sum(len(self._names[outcome]) for outcome in _STORED)
        done = stored + len(self._skipped) + len(self._failed)
        self._told(done, self.writing.added)

    def report(self) -> IndexingReport:
        """Say what was done."""
        foreign = self._foreign()
        empty = frozenset(self._names["empty"])
        names = {
            **self._names,
            "empty": filter(empty.__contains__, self.given.values()),
        }
        return IndexingReport(
            **{key: tuple(row) for key, row in names.items()},
            skipped=tuple(one.error for one in self._skipped),
            failed=tuple(self._failed),
            foreign=tuple(foreign),
            chunks_foreign=sum(foreign.values()),
            chunks_added=self.writing.added,
            chunks_deleted=self.writing.deleted,
            chunks_unchanged=self._unchanged,
        )

    def _compared(
        self, document: WantedDocument, outcome: str = ""
    ) -> Generator[Request, Any, Pending]:
        key = document_key(document.name)
        present: list[StoredChunk] = yield Fetch(key)
        todo = plan(
            key,
            document.chunks,
            present,
            replace=self._options.replace,
            scope=self._options.scope,
        )
        if todo.delete or todo.rewrite:
            self._require_delete()
        return Pending(document, todo, outcome or todo.outcome(document))

    def waits(self, pending: Pending, outcome: str) -> bool:
        """Whether it waits for the end, as a document does that is empty now."""
        waits = not outcome and pending.outcome == "empty" and bool(pending.todo.delete)
        if waits:
            self._emptied[document_key(pending.document.name)] = pending.document.name
        return waits

    def _require_delete(self) -> None:
        if self._writer.cannot_delete:
            raise IndexingError(self._writer.cannot_delete, store=self._store.name)

    def _alone(self, document: WantedDocument, outcome: str = "") -> Requests:
        """Compare and write one document, and say so if that fails."""
        try:
            pending = yield from self._compared(document, outcome)
            if self.waits(pending, outcome):
                return
            yield from self.writing.write([pending.todo])
        except _FOR_ALL:
            raise
        except NotDeletedError as error:
            self.fail(document.name, error.cause, beside=bool(document.chunks))
        except Exception as error:  # noqa: BLE001 -- any store's, and is reported
            self.fail(document.name, error)
        else:
            self.done(pending)

    def done(self, written: Pending) -> None:
        """Note that a document is in the store."""
        document, todo, outcome = written
        self._names[outcome].append(document.name)
        self._unchanged += todo.unchanged
        self._beside.discard(document.name)
        if outcome != "removed":
            self.before.look_for(document)
        if outcome != "unchanged":
            self._in_a_row = []

    def fail(self, name: str, error: Exception, *, beside: bool = False) -> None:
        """Note that one is not, or (`beside`) that its old chunks are there too."""
        entry = UndeletedDocument if beside else FailedDocument
        self._failed.append(entry(name, error))
        self._beside.discard(name)
        if isinstance(error, REFUSALS):
            return
        kind = type(error)
        self._in_a_row = [*(k for k in self._in_a_row if k is kind), kind]
        if len(self._in_a_row) == _IN_A_ROW:
            # They were written with these, and are not tried any more.
            self._failed += [
                UndeletedDocument(one, error) for one in sorted(self._beside)
            ]
            what = f"{_IN_A_ROW} documents in a row failed, and the run was stopped. "
            raise self._error(what)

    def _error(self, what: str) -> IndexingError:
        message = what + failures(self._failed)
        error = IndexingError(message, store=self._store.name, report=self.report())
        error.__cause__ = self._failed[-1].error
        return error

    def _remove(self) -> Requests:
        for key, name in sorted(self._going().items(), key=lambda item: item[1]):
            outcome = "empty" if key in self._emptied else "removed"
            yield from self._take_document(WantedDocument(name, ()), outcome)
        yield from self.flush()

    def _going(self) -> dict[str, str]:
        """What is empty now, and what is missing if that is asked.

        More than half of what was indexed from here goes only if all may: the
        documents may be out of reach, or being written.
        """
        everything = self._options.remove_missing == "all"
        if self._options.remove_missing and not (self.given or everything):
            raise nothing_given()
        before = self._stored_before()
        going = dict(self._emptied)
        if self._options.remove_missing:
            going |= self._missing(before)
        if 2 * len(going) > len(before) and not everything:
            if self._options.remove_missing:
                if self._failed:  # there will be no report
                    warnings.warn(failures(self._failed), OpragWarning, stacklevel=2)
                raise too_many(sorted(going.values()), len(before))
            for name in going.values():
                self.fail(name, emptied(name, len(going), len(before)))
            return {}
        if not everything and self._may_be_renamed(before):
            self._names["kept"] = sorted(going[k] for k in going.keys() - self._emptied)
            return self._emptied
        return going

    def _missing(self, before: dict[str, str]) -> dict[str, str]:
        """What was not given, and is not in a folder that could not be read."""
        skipped = {one.name for one in self._skipped}
        return {
            key: name
            for key, name in before.items()
            if key not in self.given and skipped.isdisjoint(_folders(name))
        }

    def _may_be_renamed(self, before: dict[str, str]) -> bool:
        """Whether a document is not in the store that may be a missing one, renamed.

        That one is deleted when its text is in the store by its new name.
        """
        held = set(before.values())
        folders = {folder for name in held for folder in _folders(name)}
        unread = {one.name for one in self._skipped if one.is_unread} - folders
        lost = (one for one in self._failed if not isinstance(one, UndeletedDocument))
        return not held.issuperset(unread.union(one.name for one in lost))

    def _stored_before(self) -> dict[str, str]:
        """Names of the documents that were indexed from here, by their keys.

        All of the store is only looked through where it makes a difference.
        """
        stayed = [*self._names["unchanged"], *self._names["updated"]]
        if self._options.remove_missing:  # all of the store was read
            stayed = []
        known = {**self._emptied, **{document_key(name): name for name in stayed}}
        if 2 * len(self._emptied) > len({**self.before.documents(), **known}):
            with suppress(Exception):  # some can only be read awaited
                self.before.read_rest(self._names["added"])
        return {**self.before.documents(), **known}

    def _foreign(self) -> dict[str, int]:
        """How many other chunks are left, by document."""
        lost: dict[str, int] = {}
        if self._options.remove_missing:  # nobody can say that they were not given
            lost = self.before.nameless(self.given)
        if self._options.replace == "all":
            return lost
        counts = lost | {name: len(ids) for name, ids in self.before.foreign.items()}
        for name, others in self.before.renamed(self.given.values()).items():
            sizes = sum(map(self.before.sizes.__getitem__, others))
            counts[name] = counts.get(name, 0) + sizes
        return counts

    def _replace_copies(self) -> Requests:
        for name, ids in self.before.foreign.items():
            self._require_delete()
            try:
                yield from self.writing.write([IndexingPlan((), (), tuple(ids), 0)])
            except NotDeletedError as error:
                self.fail(name, error.cause)
        renamed = self.before.renamed(self.given.values()).values()
        others = {other for names in renamed for other in names}
        for name in sorted(others.difference(self._names["removed"])):
            yield from self._take_document(WantedDocument(name, ()), "removed")
        yield from self.flush()


def _folders(name: str) -> Iterable[str]:
    return map(str, PurePosixPath(name).parents)
