"""Brings a vector store up to date with documents, sync or async.

What is to be done a run decides (`oprag.indexing.run`); here it is carried out, by the
store and its writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import Any, TypedDict, Unpack

from oprag.documents import ChunkStore
from oprag.errors import refuse_unknown
from oprag.indexing.flat import UnsupportedMetadata
from oprag.indexing.given import (
    Documents,
    count_documents,
    source_scope,
    wanted_documents,
)
from oprag.indexing.lock import aonly_run, only_run
from oprag.indexing.plan import RemoveMissing, Replace, RunOptions
from oprag.indexing.progress import Progress, ShowProgress
from oprag.indexing.report import IndexingReport, Readable, warn_of
from oprag.indexing.run import Given, Run, indexing_steps
from oprag.indexing.stored import StoredBefore
from oprag.indexing.writer import ChunkWriter, IndexTarget, in_thread
from oprag.tokens import acarry_out, carry_out


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
    """Do what an adapter's `index_documents` does."""
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
) -> tuple[Iterator[Readable], dict[str, Any]]:
    """The documents, and the options of `update_index`."""
    refuse_unknown(options, [*IndexingKeywords.__annotations__])
    rest: dict[str, Any] = {"show_progress": True, **options}
    unsupported = rest.pop("unsupported_metadata", "error")
    scope = rest.pop("scope", None)
    wanted = wanted_documents(documents, target.framework, unsupported, scope)
    rest["count"] = partial(count_documents, documents, target.framework)
    return wanted, {**rest, "scope": source_scope(documents, scope)}


def update_index(
    documents: Given,
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    count: Callable[[], int | None] = lambda: None,
    show_progress: ShowProgress = False,
    **options: Any,
) -> IndexingReport:
    """Make a store hold documents as they are now."""
    with closing(Progress(show_progress, count)) as progress:
        make = partial(Run, store, writer, RunOptions(**options), progress)
        with only_run(store, writer.written):
            report = carry_out(indexing_steps(make, documents))
    progress.end(report)
    warn_of(report)
    return report


def write_part(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    before: StoredBefore,
    **options: Any,
) -> IndexingReport:
    """Write some documents of a run that another process holds; see there.

    It does not wait for that run, whose documents these are. Two processes never write
    the same document.
    """
    make = partial(Run, store, writer, RunOptions(**options), before=before)
    return carry_out(indexing_steps(make, documents, is_part=True))


async def aupdate_index(
    documents: Iterable[Readable],
    store: ChunkStore,
    writer: ChunkWriter,
    *,
    count: Callable[[], int | None] = lambda: None,
    show_progress: ShowProgress = False,
    **options: Any,
) -> IndexingReport:
    """Async version of `update_index`.

    Documents are read and compared in a thread, so that the event loop goes on.
    """
    with closing(Progress(show_progress, count)) as progress:
        make = partial(Run, store, writer, RunOptions(**options), progress)
        async with aonly_run(store, writer.written):
            report = await acarry_out(indexing_steps(make, documents), in_thread)
    progress.end(report)
    warn_of(report)
    return report
