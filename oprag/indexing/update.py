"""Brings a vector store up to date with documents, sync or async.

A run decides the work (`oprag.indexing.run`). Here the store and its writer do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from typing import Any, TypedDict, Unpack

from oprag.effects import Effects, arun_effects, run_effects
from oprag.errors import refuse_unknown
from oprag.indexing.flat import UnsupportedMetadata
from oprag.indexing.given import (
    Documents,
    check_given,
    count_documents,
    read_documents,
    source_scope,
    split_document,
)
from oprag.indexing.lock import acquire_lock
from oprag.indexing.plan import RemoveMissing, Replace, RunOptions
from oprag.indexing.report import (
    IndexingReport,
    Progress,
    Readable,
    ShowProgress,
    warn_of,
)
from oprag.indexing.run import Run, index_given
from oprag.indexing.stored import StoredBefore
from oprag.indexing.workers import StartWorkers, index_by_workers
from oprag.indexing.writer import ChunkWriter, IndexTarget, finish_in_thread
from oprag.stores import ChunkStore


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
    """Do the work of an adapter's `index_documents`."""
    return _carry_out(_requests(target, documents, options))


async def aindex_target(
    target: IndexTarget, documents: Documents[Any], **options: Unpack[IndexingKeywords]
) -> IndexingReport:
    """Async version of `index_target`.

    Documents are read and compared in a thread, so that the event loop goes on.
    """
    with closing(_requests(target, documents, options)) as requests:
        report = await arun_effects(requests, finish_in_thread)
    warn_of(report)
    return report


def _requests(
    target: IndexTarget, documents: Documents[Any], options: IndexingKeywords
) -> Effects[IndexingReport]:
    refuse_unknown(options, [*IndexingKeywords.__annotations__])
    rest: dict[str, Any] = {"show_progress": True, **options}
    unsupported = rest.pop("unsupported_metadata", "error")
    scope = rest.pop("scope", None)
    framework = target.framework
    check_given(documents, framework, unsupported)
    rest["scope"] = mark = source_scope(documents, scope)
    wanted = (
        split_document(given, framework, unsupported, mark)
        for given in read_documents(documents, framework, scope)
    )
    rest["count"] = partial(count_documents, documents, framework)
    take = partial(index_given, documents=wanted)
    return update_steps(take, target.store, target.writer, **rest)


def update_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    **options: Any,
) -> IndexingReport:
    """Make a store hold the present documents; see `update_steps`."""
    take = partial(index_given, documents=documents)
    return _carry_out(update_steps(take, store, writer, **options))


def update_by_workers(
    start: StartWorkers, store: ChunkStore, writer: ChunkWriter, **options: Any
) -> IndexingReport:
    """Make a store hold what other processes write; see `update_steps`."""
    take = partial(index_by_workers, start=start)
    return _carry_out(update_steps(take, store, writer, **options))


def _carry_out(requests: Effects[IndexingReport]) -> IndexingReport:
    with closing(requests):
        report = run_effects(requests)
    warn_of(report)
    return report


def update_steps(
    take: Callable[[Run], Effects[IndexingReport]],
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    count: Callable[[], int | None] = lambda: None,
    show_progress: ShowProgress = False,
    **options: Any,
) -> Effects[IndexingReport]:
    """Make a store hold the present documents, when no other run writes to it.

    Args:
        take: Takes the documents that it is to hold, and ends the run.
        store: Reads the store.
        writer: Writes to the store.
        count: Returns the number of documents; None if it is not known.
        show_progress: See `ShowProgress`.
        **options: See `RunOptions`.
    """
    run_options = RunOptions(**options)
    with (
        closing(Progress(show_progress, count)) as progress,
        closing((yield from acquire_lock(store, writer.written))),
    ):
        run = Run(store, writer, run_options, progress)
        report = yield from take(run)
    progress.end(report)
    return report


def write_part(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    before: StoredBefore,
    **options: Any,
) -> IndexingReport:
    """Write some documents of a run that another process holds; see `update_steps`.

    It does not wait for that run, because it is a part of it. Two processes never write
    the same document.
    """
    run = Run(store, writer, RunOptions(**options), before=before)
    return run_effects(index_given(run, documents, is_part=True))
