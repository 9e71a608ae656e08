"""Brings a vector store up to date with documents, sync or async.

What is to be done a run decides (`oprag.indexing.deciding`); here it is carried out, by
the store and its writer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypedDict

from oprag.calls import hiding_secrets
from oprag.documents import ChunkStore
from oprag.errors import OpragWarning
from oprag.indexing.deciding import Readable, RemoveMissing, Steps, indexing_steps
from oprag.indexing.locking import aonly_run, only_run
from oprag.indexing.plan import Replace
from oprag.indexing.progress import Progress, ShowProgress
from oprag.indexing.reporting import (
    IndexingReport,
    failures,
    foreign_message,
    kept_message,
)
from oprag.indexing.requests import Add, Fetch, Request
from oprag.indexing.writing import ChunkWriter, in_thread
from oprag.warning import warn_user

if TYPE_CHECKING:
    from typing_extensions import Unpack


class RunOptions(TypedDict, total=False):
    """How a store is brought up to date."""

    scope: str
    """What `oprag.indexing.source_scope` says: whose documents are given."""
    remove_missing: RemoveMissing
    """Also delete what the store holds of documents of this scope that are not given.
    Only chunks with oprag's `doc_key` and `doc_uri` are taken to be of a document.
    More than half of them, those that are empty now among them, only with `"all"`;
    likewise any, while a document that the store holds nothing of failed."""
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
        OpragWarning: Some documents could not be indexed, some that are missing are
            kept, or the store holds other chunks of them; see the report.
    """
    told = Progress(show_progress, documents)
    clients = (writer.embedding, writer.written)
    with hiding_secrets(*clients), only_run(store, writer.written):
        steps = indexing_steps(documents, store, writer, told, **options)
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
    clients = (writer.embedding, writer.written)
    with hiding_secrets(*clients):
        async with aonly_run(store, writer.written):
            steps = indexing_steps(documents, store, writer, told, **options)
            try:
                request = await in_thread(_advance, steps)
                while not isinstance(request, IndexingReport):
                    answer = error = None
                    try:
                        answer = await _acarry_out(request, store, writer)
                    except Exception as raised:  # noqa: BLE001 -- the run decides
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
    if report.kept:
        warn_user(kept_message(report), OpragWarning)
    if report.foreign:
        warn_user(foreign_message(report), OpragWarning)


def _carry_out(request: Request, store: ChunkStore, writer: ChunkWriter) -> Any:
    if isinstance(request, Fetch):
        return store.fetch(request.doc_key)
    if isinstance(request, Add):
        return writer.add(request.chunks)
    return writer.delete(request.ids)


async def _acarry_out(request: Request, store: ChunkStore, writer: ChunkWriter) -> Any:
    if isinstance(request, Fetch):
        return await store.afetch(request.doc_key)
    if isinstance(request, Add):
        return await writer.aadd(request.chunks)
    return await writer.adelete(request.ids)


def _advance(
    steps: Steps, answer: Any = None, error: Exception | None = None
) -> Request | IndexingReport:
    """Answer the last request, or say how it failed; give the next one, or the end."""
    try:
        return steps.send(answer) if error is None else steps.throw(error)
    except StopIteration as stop:
        report: IndexingReport = stop.value
        return report
