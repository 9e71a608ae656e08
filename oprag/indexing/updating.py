"""Brings a vector store up to date with documents, sync or async.

What is to be done a run decides (`oprag.indexing.deciding`); here it is carried out, by
the store and its writer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from oprag.calls import hiding_secrets
from oprag.documents import ChunkStore
from oprag.errors import OpragWarning, warn_user
from oprag.indexing.deciding import Readable, Steps, indexing_steps
from oprag.indexing.locking import aonly_run, only_run
from oprag.indexing.progress import Progress, ShowProgress
from oprag.indexing.reporting import (
    IndexingReport,
    failures,
    foreign_message,
    kept_message,
    no_text_message,
)
from oprag.indexing.requests import Add, Fetch, Request
from oprag.indexing.run_options import RunKeywords, RunOptions
from oprag.indexing.writing import ChunkWriter, in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack


def update_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    show_progress: ShowProgress = False,
    **options: Unpack[RunKeywords],
) -> IndexingReport:
    """Make a store hold documents as they are now.

    Args:
        documents: Read one at a time; in memory are never more than one and
            `batch_size` chunks.
        store: Where the chunks are read.
        writer: Where they are written.
        show_progress: See `ShowProgress`.
        **options: See `RunOptions`.
    """
    with (
        _run(documents, store, writer, show_progress, options) as run,
        only_run(store, writer.written),
    ):
        request = _advance(run.steps)
        while not isinstance(request, IndexingReport):
            answer = error = None
            try:
                answer = _carry_out(request, store, writer)
            except Exception as raised:  # noqa: BLE001 -- the run decides about it
                error = raised
            request = _advance(run.steps, answer, error)
    return run.ended(request)


async def aupdate_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    show_progress: ShowProgress = False,
    **options: Unpack[RunKeywords],
) -> IndexingReport:
    """Async version of `update_index`.

    Documents are read and compared in a thread, so that the event loop goes on.
    """
    with _run(documents, store, writer, show_progress, options) as run:
        async with aonly_run(store, writer.written):
            request = await in_thread(_advance, run.steps)
            while not isinstance(request, IndexingReport):
                answer = error = None
                try:
                    answer = await _acarry_out(request, store, writer)
                except Exception as raised:  # noqa: BLE001 -- the run decides about it
                    error = raised
                request = await in_thread(_advance, run.steps, answer, error)
    return run.ended(request)


class _Running(NamedTuple):
    steps: Steps
    told: Progress
    clients: tuple[object, object]

    def ended(self, report: IndexingReport) -> IndexingReport:
        """Tell the end, and warn whoever called `index_documents`."""
        self.told.end(report)
        stored = report.added or report.updated or report.unchanged
        if report.skipped and not (stored or report.failed or report.empty):
            warn_user(no_text_message(report), OpragWarning)
        if report.failed:
            warn_user(failures(report.failed, *self.clients), OpragWarning)
        if report.kept:
            warn_user(kept_message(report), OpragWarning)
        if report.foreign:
            warn_user(foreign_message(report), OpragWarning)
        return report


@contextmanager
def _run(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    show_progress: ShowProgress,
    options: RunKeywords,
) -> Iterator[_Running]:
    """A run that has not begun, and what is to be done when it ends in any way."""
    told = Progress(show_progress, documents)
    clients = (writer.embedding, writer.written)
    steps = indexing_steps(documents, store, writer, told, RunOptions(**options))
    try:
        with hiding_secrets(*clients):
            yield _Running(steps, told, clients)
    finally:
        steps.close()
        told.close()


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
