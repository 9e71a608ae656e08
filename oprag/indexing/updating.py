"""Brings a vector store up to date with documents, whatever fails on the way.

Of every document the new chunks are embedded and added first; when all of them are in
the store, the old ones are deleted. Their ids differ, so that both live side by side
until then: whoever reads the document gets its old version or its new one. What fails
concerns one document, and the others go on. The next run finds what is there and does
the rest. A generator decides what is to be done; sync and async code carry it out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypedDict,
    TypeVar,
)

from oprag.documents import ChunkStore, StoredChunk
from oprag.errors import (
    DuplicateDocumentError,
    IndexingError,
    InvalidOptionError,
    OpragWarning,
    UnreadableFileError,
    invalid_option,
    warn_user,
)
from oprag.indexing.locking import aonly_run, only_run
from oprag.indexing.plan import IndexingPlan, Replace, WantedChunk, WantedDocument, plan
from oprag.indexing.progress import Progress, ShowProgress
from oprag.indexing.reporting import (
    REFUSALS,
    FailedDocument,
    IndexingReport,
    SkippedFile,
    failures,
    foreign_message,
    too_many,
)
from oprag.indexing.stored import StoredBefore
from oprag.indexing.writing import ChunkWriter, Snapshot, in_thread
from oprag.metadata import document_key
from oprag.positions import shared_key

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")

RemoveMissing: TypeAlias = bool | Literal["all"]
"""Whether documents that are not given are deleted; all of them if need be."""

_IN_A_ROW = 5
"""Documents that may fail one after the other, of the same kind of error: what fails
then is the store or the embedding, which is not asked for every other document too."""
_STORED = ("added", "updated", "unchanged", "empty")
"""What became of documents that did not fail."""
_FOR_ALL = (IndexingError, InvalidOptionError, Warning)
"""What concerns every document, and ends a run at once."""


Readable: TypeAlias = WantedDocument | SkippedFile | FailedDocument
"""A document, or what was wrong with it."""


class RunOptions(TypedDict, total=False):
    """How a store is brought up to date."""

    scope: str
    """What `oprag.indexing.source_scope` says: whose documents are given."""
    remove_missing: RemoveMissing
    """Also delete what the store holds of documents of this scope that are not given.
    Only chunks with oprag's `doc_key` and `doc_uri` are taken to be of a document.
    More than half of them only with `"all"`."""
    replace: Replace
    """What is replaced of a document that is given."""
    batch_size: int
    """Chunks that are embedded and written at once, at least 1."""


def update_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    show_progress: ShowProgress = False,
    **options: Unpack[RunOptions],
) -> IndexingReport:
    """Make a store hold documents as they are now.

    Args:
        documents: Read one at a time; in memory are never more than one and
            `batch_size` chunks.
        store: Where the chunks are read.
        writer: Where they are written.
        show_progress: See `ShowProgress`.
        **options: See `RunOptions`.

    Raises:
        DuplicateDocumentError: A name comes twice.
        InvalidOptionError: `batch_size` is below 1, or `remove_missing` would delete
            more than half of what is there, or all.
        IndexingError: Another run is writing; or no document could be indexed, or five
            in a row could not: its `report` says what was done.

    Warns:
        OpragWarning: Some documents could not be indexed, or the store holds other
            chunks of them; see the report.
    """
    told = Progress(show_progress, documents)
    with only_run(store, writer.written):
        steps = _indexing_steps(documents, store, writer, told, **options)
        try:
            request = _advance(steps)
            while not isinstance(request, IndexingReport):
                answer = error = None
                try:
                    answer = _carry_out(request, store, writer)
                except Exception as raised:  # noqa: BLE001 -- the run decides about it
                    error = raised
                request = _advance(steps, answer, error)
        finally:
            steps.close()
            told.close()
    told.end(request)
    _warn(request, writer)
    return request


async def aupdate_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    show_progress: ShowProgress = False,
    **options: Unpack[RunOptions],
) -> IndexingReport:
    """Async version of `update_index`.

    Documents are read and compared in a thread, so that the event loop goes on.
    """
    told = Progress(show_progress, documents)
    async with aonly_run(store, writer.written):
        steps = _indexing_steps(documents, store, writer, told, **options)
        try:
            request = await in_thread(_advance, steps)
            while not isinstance(request, IndexingReport):
                answer = error = None
                try:
                    answer = await _acarry_out(request, store, writer)
                except Exception as raised:  # noqa: BLE001 -- the run decides about it
                    error = raised
                request = await in_thread(_advance, steps, answer, error)
        finally:
            steps.close()
            told.close()
    told.end(request)
    _warn(request, writer)
    return request


def _warn(report: IndexingReport, writer: ChunkWriter) -> None:
    """Warn whoever called `index_documents`."""
    if report.failed:
        message = failures(report.failed, writer.embedding, writer.written)
        warn_user(message, OpragWarning)
    if report.foreign:
        warn_user(foreign_message(report), OpragWarning)


class Fetch(NamedTuple):
    """Asks for the stored chunks of a document."""

    doc_key: str


class Add(NamedTuple):
    """Asks for chunks to be embedded and written."""

    chunks: Sequence[WantedChunk]


class Rewrite(NamedTuple):
    """Asks for chunks to be written whose ids are there already."""

    chunks: Sequence[WantedChunk]


class Delete(NamedTuple):
    """Asks for chunks to be deleted."""

    ids: Sequence[str]


Request: TypeAlias = Fetch | Add | Rewrite | Delete
Requests: TypeAlias = Generator[Request, Any, None]
Steps: TypeAlias = Generator[Request, Any, IndexingReport]


def _carry_out(request: Request, store: ChunkStore, writer: ChunkWriter) -> Any:
    if isinstance(request, Fetch):
        return store.fetch(request.doc_key)
    if isinstance(request, Delete):
        return writer.delete(request.ids)
    if isinstance(request, Add):
        return writer.add(request.chunks)
    return writer.rewrite(request.chunks)


async def _acarry_out(request: Request, store: ChunkStore, writer: ChunkWriter) -> Any:
    if isinstance(request, Fetch):
        return await store.afetch(request.doc_key)
    if isinstance(request, Delete):
        return await writer.adelete(request.ids)
    if isinstance(request, Add):
        return await writer.aadd(request.chunks)
    return await writer.arewrite(request.chunks)


def _advance(
    steps: Steps, answer: Any = None, error: Exception | None = None
) -> Request | IndexingReport:
    """Answer the last request, or say how it failed; give the next one, or the end."""
    try:
        return steps.send(answer) if error is None else steps.throw(error)
    except StopIteration as stop:
        report: IndexingReport = stop.value
        return report


def _indexing_steps(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    told: Callable[[int, int], None],
    *,
    scope: str = "",
    remove_missing: RemoveMissing = False,
    replace: Replace = "document",
    batch_size: int = 256,
) -> Steps:
    """`Fetch` is answered with the stored chunks, the others with None.

    A request that fails is answered by its exception.
    """
    if batch_size < 1:
        raise invalid_option("batch_size", batch_size, "1 or more")
    if replace not in {"document", "same_settings", "all"}:
        takes = "It takes 'document', 'same_settings' or 'all'."
        raise invalid_option("replace", replace, takes)
    if remove_missing not in {True, False, "all"}:
        takes = "It takes True, False or 'all'."
        raise invalid_option("remove_missing", remove_missing, takes)
    run = _Run(
        store,
        writer,
        told,
        scope=scope,
        remove_missing=remove_missing,
        replace=replace,
        batch_size=batch_size,
    )
    for document in documents:
        yield from run.take(document)
        run.tell()
    yield from run.flush()
    run.tell()
    yield from run.end()
    return run.report()


class _Pending(NamedTuple):
    """A document that is to be written."""

    document: WantedDocument
    todo: IndexingPlan
    outcome: str
    """Which list of the report it belongs to when it is."""


class _Run:
    """The state of one run."""

    def __init__(
        self,
        store: ChunkStore,
        writer: ChunkWriter,
        told: Callable[[int, int], None],
        *,
        scope: str,
        remove_missing: RemoveMissing,
        replace: Replace,
        batch_size: int,
    ) -> None:
        self._told = told
        self._store = store
        self._writer = writer
        self._scope = scope
        self._remove_missing = remove_missing
        self._replace: Replace = replace
        self._batch_size = batch_size
        whole = bool(remove_missing) or replace == "all"
        self._before = StoredBefore(store, scope, whole=whole)
        self._names: dict[str, list[str]] = {
            key: [] for key in ("added", "updated", "unchanged", "removed", "empty")
        }
        self._skipped: list[UnreadableFileError] = []
        self._failed: list[FailedDocument] = []
        self._in_a_row: list[Exception] = []
        self._given: dict[str, str] = {}
        self._emptied: dict[str, str] = {}
        self._pending: list[_Pending] = []
        self._pending_size = 0
        self._counts = {"added": 0, "deleted": 0, "unchanged": 0}

    def take(self, given: Readable) -> Requests:
        """Compare one document with the store, and write when there is enough."""
        self._note(given.name)
        if isinstance(given, SkippedFile):
            self._skipped.append(given.error)
        elif isinstance(given, FailedDocument):
            self._fail(given.name, given.error)
        elif not given.chunks and self._remove_missing:
            # It goes with those that are missing, if it goes.
            self._emptied[document_key(given.name)] = given.name
            self._names["empty"].append(given.name)
        else:
            yield from self._take_document(given)

    def _take_document(self, document: WantedDocument) -> Requests:
        try:
            pending = yield from self._compared(document)
        except (*_FOR_ALL, *REFUSALS) as error:
            if isinstance(error, _FOR_ALL):
                raise
            self._fail(document.name, error)
            return
        except Exception:  # noqa: BLE001 -- any store's; it is asked once more
            yield from self.flush()
            yield from self._alone(document)
            return
        todo = pending.todo
        if not (todo.add or todo.rewrite or todo.delete):
            self._done(pending)
            return
        self._pending.append(pending)
        self._pending_size += max(len(todo.add) + len(todo.rewrite), len(todo.delete))
        if self._pending_size >= self._batch_size:
            yield from self.flush()

    def flush(self) -> Requests:
        """Write what is pending; one by one if that fails."""
        pending, self._pending, self._pending_size = self._pending, [], 0
        try:
            yield from self._write([one.todo for one in pending])
        except _FOR_ALL:
            raise
        except Exception:  # noqa: BLE001 -- any store's; it is asked for each again
            if isinstance(self._store, Snapshot):
                self._store.forget()
            for one in pending:
                yield from self._alone(one.document, one.outcome)
        else:
            for one in pending:
                self._done(one)

    def end(self) -> Requests:
        """Delete what is missing or there twice, if asked."""
        if self._failed and not any(map(self._names.get, _STORED)):
            raise self._error("No document could be indexed. ")
        if self._remove_missing:
            yield from self._remove()
        if self._replace == "all":
            yield from self._replace_copies()

    def tell(self) -> None:
        """Tell how far the run is."""
        stored = sum(len(self._names[outcome]) for outcome in _STORED)
        done = stored + len(self._skipped) + len(self._failed)
        self._told(done, self._counts["added"])

    def report(self) -> IndexingReport:
        """Say what was done."""
        foreign = self._foreign()
        return IndexingReport(
            **{key: tuple(names) for key, names in self._names.items()},
            skipped=tuple(self._skipped),
            failed=tuple(self._failed),
            foreign=tuple(foreign),
            chunks_foreign=sum(foreign.values()),
            chunks_added=self._counts["added"],
            chunks_deleted=self._counts["deleted"],
            chunks_unchanged=self._counts["unchanged"],
        )

    def _note(self, name: str) -> None:
        key = document_key(name)
        if key in self._given:
            other = self._given[key]
            raise _duplicate(name) if other == name else shared_key(key, other, name)
        self._given[key] = name

    def _compared(self, document: WantedDocument) -> Generator[Request, Any, _Pending]:
        key = document_key(document.name)
        present: list[StoredChunk] = yield Fetch(key)
        todo = plan(
            key, document.chunks, present, replace=self._replace, scope=self._scope
        )
        if todo.delete or todo.rewrite:
            self._require_delete()
        return _Pending(document, todo, _outcome(todo, document.chunks))

    def _require_delete(self) -> None:
        if self._writer.cannot_delete:
            raise IndexingError(self._writer.cannot_delete, store=self._store.name)

    def _alone(self, document: WantedDocument, outcome: str = "") -> Requests:
        """Compare and write one document, and say so if that fails."""
        try:
            pending = yield from self._compared(document)
            yield from self._write([pending.todo])
        except _FOR_ALL:
            raise
        except Exception as error:  # noqa: BLE001 -- any store's, and is reported
            self._fail(document.name, error)
        else:
            self._done(pending._replace(outcome=outcome or pending.outcome))

    def _write(self, todo: Sequence[IndexingPlan]) -> Requests:
        """All that is added, of all documents, then all that is deleted."""
        for chunks in self._batches([c for one in todo for c in one.add]):
            yield Add(chunks)
            self._counts["added"] += len(chunks)
            self.tell()
        for chunks in self._batches([c for one in todo for c in one.rewrite]):
            yield Rewrite(chunks)
            self._counts["added"] += len(chunks)
            self._counts["deleted"] += len(chunks)
        for ids in self._batches([id_ for one in todo for id_ in one.delete]):
            yield Delete(ids)
            self._counts["deleted"] += len(ids)

    def _batches(self, items: Sequence[T]) -> Iterable[Sequence[T]]:
        rest = iter(items)
        while batch := list(itertools.islice(rest, self._batch_size)):
            yield batch

    def _done(self, written: _Pending) -> None:
        document, todo, outcome = written
        self._names[outcome].append(document.name)
        self._counts["unchanged"] += todo.unchanged
        self._before.look_for(document)
        if outcome != "unchanged":
            self._in_a_row = []

    def _fail(self, name: str, error: Exception) -> None:
        self._failed.append(FailedDocument(name, error))
        if isinstance(error, REFUSALS):
            return
        same = self._in_a_row and type(error) is type(self._in_a_row[-1])
        self._in_a_row = [*self._in_a_row, error] if same else [error]
        if len(self._in_a_row) == _IN_A_ROW:
            what = f"{_IN_A_ROW} documents in a row failed, and the run was stopped. "
            raise self._error(what)

    def _error(self, what: str) -> IndexingError:
        message = what + self._failures()
        error = IndexingError(message, store=self._store.name, report=self.report())
        error.__cause__ = self._failed[-1].error
        return error

    def _failures(self) -> str:
        return failures(self._failed, self._writer.embedding, self._writer.written)

    def _remove(self) -> Requests:
        """Delete the documents of this scope that are stored and were not given."""
        everything = self._remove_missing == "all"
        if not (self._given or everything):
            message = (
                "There is no document to index, and remove_missing=True would delete "
                "everything that was indexed from here. If that is meant, pass "
                'remove_missing="all"; otherwise see whether the documents are where '
                "they are read from."
            )
            raise InvalidOptionError(message, option="remove_missing", value=True)
        before = self._before.documents()
        going = {
            key: name
            for key, name in before.items()
            if key not in self._given or key in self._emptied
        }
        if 2 * len(going) > len(before) and not everything:
            if self._failed:  # there will be no report
                warn_user(self._failures(), OpragWarning)
            raise too_many(sorted(going.values()), len(before))
        for key, name in sorted(going.items(), key=lambda item: item[1]):
            yield from self._delete_document(name, emptied=key in self._emptied)

    def _delete_document(self, name: str, *, emptied: bool = False) -> Requests:
        try:
            pending = yield from self._compared(WantedDocument(name, ()))
            yield from self._write([pending.todo])
        except _FOR_ALL:
            raise
        except Exception as error:  # noqa: BLE001 -- any store's, and is reported
            self._fail(name, error)
        else:
            self._names["removed"] += [] if emptied else [name]

    def _foreign(self) -> dict[str, int]:
        """How many other chunks are left, by document."""
        if self._replace == "all":
            return {}
        counts = {name: len(ids) for name, ids in self._before.foreign().items()}
        for name, others in self._before.renamed(self._given.values()).items():
            sizes = sum(map(self._before.size, others))
            counts[name] = counts.get(name, 0) + sizes
        return counts

    def _replace_copies(self) -> Requests:
        for name, ids in self._before.foreign().items():
            self._require_delete()
            try:
                yield from self._write([IndexingPlan((), (), tuple(ids), 0)])
            except _FOR_ALL:
                raise
            except Exception as error:  # noqa: BLE001 -- as above
                self._fail(name, error)
        renamed = self._before.renamed(self._given.values()).values()
        for name in sorted({other for others in renamed for other in others}):
            yield from self._delete_document(name)


def _outcome(todo: IndexingPlan, chunks: Sequence[WantedChunk]) -> str:
    if not chunks:
        return "empty"
    if not (todo.add or todo.rewrite or todo.delete):
        return "unchanged"
    return "updated" if todo.delete or todo.rewrite or todo.unchanged else "added"


def _duplicate(name: str) -> DuplicateDocumentError:
    message = (
        f"The document {name!r} comes twice in one run. Pages and other parts of a "
        "document have to follow one another without other documents between them; "
        "two different documents need two names."
    )
    return DuplicateDocumentError(message, document=name)
