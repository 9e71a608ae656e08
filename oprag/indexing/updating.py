"""Brings a vector store up to date with documents, sync or async.

What is to be done a run decides (`oprag.indexing.run`); here it is carried out, by the
store and its writer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from typing import Any, TypedDict, Unpack

from oprag.documents import ChunkStore
from oprag.indexing.flat import UnsupportedMetadata
from oprag.indexing.given import Documents, source_scope, wanted_documents
from oprag.indexing.locking import aonly_run, only_run
from oprag.indexing.plan import RemoveMissing, Replace, RunKeywords, RunOptions
from oprag.indexing.progress import Counted, Progress, ShowProgress
from oprag.indexing.report import IndexingReport, Readable, warn_of
from oprag.indexing.run import Add, Delete, Fetch, Request, Steps, indexing_steps
from oprag.indexing.sharing import WrittenPart, part_steps, shared_steps
from oprag.indexing.writing import ChunkWriter, IndexTarget, in_thread


class IndexingKeywords(TypedDict, total=False):
    """The options of `index_documents` for type checkers."""

    scope: str | None
    remove_missing: RemoveMissing
    replace: Replace
    unsupported_metadata: UnsupportedMetadata
    batch_size: int
    show_progress: ShowProgress


def index_target(
    target: IndexTarget, documents: Documents[Any], **options: Unpack[IndexingKeywords]
) -> IndexingReport:
    """Do what an adapter's `index_documents` does.

    Args:
        target: What is indexed into.
        documents: A folder, or the framework's documents.
        **options: See `index_documents`.
    """
    wanted, rest = _wanted(target, documents, options)
    return update_index(wanted, target.store, target.writer, **rest)


async def aindex_target(
    target: IndexTarget, documents: Documents[Any], **options: Unpack[IndexingKeywords]
) -> IndexingReport:
    """Async version of `index_target`."""
    wanted, rest = _wanted(target, documents, options)
    return await aupdate_index(wanted, target.store, target.writer, **rest)


def _wanted(
    target: IndexTarget, documents: Documents[Any], options: IndexingKeywords
) -> tuple[Counted[Readable], dict[str, Any]]:
    """The documents, and the options of `update_index`."""
    rest: dict[str, Any] = {"show_progress": True, **options}
    unsupported = rest.pop("unsupported_metadata", "error")
    scope = rest.pop("scope", None)
    wanted = wanted_documents(documents, target.framework, unsupported, scope)
    return wanted, {**rest, "scope": source_scope(documents, scope)}


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
    checked = RunOptions(**options)

    def steps(progress: Progress) -> Steps:
        return indexing_steps(documents, store, writer, progress, checked)

    return _run(steps, documents, store, writer, show_progress)


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
    checked = RunOptions(**options)

    def steps(progress: Progress) -> Steps:
        return shared_steps(parts, store, writer, progress, checked)

    return _run(steps, parts, store, writer, show_progress)


def _run(
    make_steps: Callable[[Progress], Steps],
    documents: Iterable[Any],
    store: ChunkStore,
    writer: ChunkWriter,
    show_progress: ShowProgress,
) -> IndexingReport:
    with (
        closing(Progress(show_progress, documents)) as progress,
        only_run(store, writer.written),
    ):
        report: IndexingReport = _carried_out(make_steps(progress), store, writer)
    progress.end(report)
    warn_of(report)
    return report


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
    part: WrittenPart = _carried_out(steps, store, writer)
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
    with closing(Progress(show_progress, documents)) as progress:
        steps = indexing_steps(
            documents, store, writer, progress, RunOptions(**options)
        )
        async with aonly_run(store, writer.written):
            with closing(steps):
                request = await in_thread(_advance, steps)
                while not isinstance(request, IndexingReport):
                    answer = error = None
                    try:
                        answer = await _acarry_out(request, store, writer)
                    except Exception as raised:  # noqa: BLE001 -- the run decides about it
                        error = raised
                    request = await in_thread(_advance, steps, answer, error)
    progress.end(request)
    warn_of(request)
    return request


def _carried_out(
    steps: Generator[Request, Any, Any], store: ChunkStore, writer: ChunkWriter
) -> Any:
    """Do what the steps ask for, and return what they end with."""
    with closing(steps):
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
        return list(store.read({request.doc_key: None}))
    if isinstance(request, Add):
        return writer.add(request.chunks)
    return writer.delete(request.ids)


async def _acarry_out(request: Request, store: ChunkStore, writer: ChunkWriter) -> Any:
    if isinstance(request, Fetch):
        return list(await store.aread({request.doc_key: None}))
    if isinstance(request, Add):
        return await writer.aadd(request.chunks)
    return await writer.adelete(request.ids)


def _advance(
    steps: Generator[Request, Any, Any],
    answer: Any = None,
    error: Exception | None = None,
) -> Any:
    """Answer the last request, or say how it failed; return the next, or the end."""
    try:
        return steps.send(answer) if error is None else steps.throw(error)
    except StopIteration as stop:
        return stop.value
