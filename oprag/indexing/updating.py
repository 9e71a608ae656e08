"""Brings a vector store up to date with documents, sync or async.

What is to be done a run decides (`oprag.indexing.deciding`); here it is carried out, by
the store and its writer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Unpack

from oprag.documents import ChunkStore
from oprag.errors import OpragWarning
from oprag.indexing.deciding import Steps, indexing_steps
from oprag.indexing.locking import aonly_run, only_run
from oprag.indexing.progress import Progress, ShowProgress
from oprag.indexing.reporting import (
    IndexingReport,
    Readable,
    failures,
    foreign_message,
    kept_message,
    no_text_message,
)
from oprag.indexing.requests import Add, Delete, Fetch, Request
from oprag.indexing.run_options import RunKeywords, RunOptions
from oprag.indexing.sharing import WrittenPart, part_steps, shared_steps
from oprag.indexing.writing import ChunkWriter, in_thread


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
        report: IndexingReport = _ended(run.steps, store, writer)
    return run.ended(report)


def update_from_parts(
    parts: Iterable[WrittenPart],
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    show_progress: ShowProgress = False,
    **options: Unpack[RunKeywords],
) -> IndexingReport:
    """`update_index` where other processes write the documents, within this run.

    Args:
        parts: What `write_part` returned to them; asked for once no other run writes.
        store: Where the chunks are read.
        writer: Where what is missing is deleted.
        show_progress: See `ShowProgress`.
        **options: See `RunOptions`.
    """
    with (
        _run(
            parts, store, writer, show_progress, options, make_steps=shared_steps
        ) as run,
        only_run(store, writer.written),
    ):
        report: IndexingReport = _ended(run.steps, store, writer)
    return run.ended(report)


def write_part(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    **options: Unpack[RunKeywords],
) -> WrittenPart:
    """Write some documents of a run that another process holds; see there.

    It does not wait for that run, whose documents these are. Two processes never write
    the same document.

    Raises:
        IndexingError: The store cannot be indexed into.
        InvalidOptionError: The same, or an option has no such value.
    """
    steps = part_steps(documents, store, writer, RunOptions(**options))
    part: WrittenPart = _ended(steps, store, writer)
    return part


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

    def ended(self, report: IndexingReport) -> IndexingReport:
        """Tell the end, and warn whoever called `index_documents`."""
        self.told.end(report)
        stored = report.added or report.updated or report.unchanged
        if report.skipped and not (stored or report.failed or report.empty):
            warnings.warn(no_text_message(report), OpragWarning, stacklevel=2)
        if report.failed:
            warnings.warn(failures(report.failed), OpragWarning, stacklevel=2)
        if report.kept:
            warnings.warn(kept_message(report), OpragWarning, stacklevel=2)
        if report.foreign:
            warnings.warn(foreign_message(report), OpragWarning, stacklevel=2)
        return report


@contextmanager
def _run(
    documents: Iterable[Any],
    store: ChunkStore,
    writer: ChunkWriter,
    show_progress: ShowProgress,
    options: RunKeywords,
    *,
    make_steps: Callable[..., Steps] = indexing_steps,
) -> Iterator[_Running]:
    """A run that has not begun, and what is to be done when it ends in any way."""
    told = Progress(show_progress, documents)
    steps = make_steps(documents, store, writer, told, RunOptions(**options))
    try:
        yield _Running(steps, told)
    finally:
        steps.close()
        told.close()


def _ended(
    steps: Generator[Request, Any, Any], store: ChunkStore, writer: ChunkWriter
) -> Any:
    """Do what the steps ask for, and return what they end with."""
    request = _advance(steps)
    while isinstance(request, (Fetch, Add, Delete)):
        answer = error = None
        try:
            answer = _carry_out(request, store, writer)
        except Exception as raised:  # noqa: BLE001 -- the run decides about it
            error = raised
        request = _advance(steps, answer, error)
    return request


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
    steps: Generator[Request, Any, Any],
    answer: Any = None,
    error: Exception | None = None,
) -> Any:
    """Answer the last request, or say how it failed; give the next one, or the end."""
    try:
        return steps.send(answer) if error is None else steps.throw(error)
    except StopIteration as stop:
        return stop.value
