"""Take the documents that other processes index for a run, and end the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from oprag.effects import Effects
from oprag.errors import IndexingError, UnreadableFileError
from oprag.indexing.report import IndexingReport
from oprag.indexing.run import Run
from oprag.indexing.stored import StoredBefore

WorkerResult: TypeAlias = IndexingReport | UnreadableFileError | IndexingError
"""The report of another process on some documents, or the error that stopped it."""
StartWorkers: TypeAlias = Callable[[StoredBefore], Iterable[WorkerResult]]
"""Lets other processes write documents. It takes the state of the store before the run,
and yields their results."""


def index_by_workers(run: Run, start: StartWorkers) -> Effects[IndexingReport]:
    """Have other processes index documents; take their results, and end the run."""
    for result in start(run.before):
        if isinstance(result, IndexingReport):
            run.take_part(result)
        elif isinstance(result, IndexingError):
            run.take_stopped_part(result)
        else:
            yield from run.take_document(result)
        run.report_progress()
    yield from run.finish()
    return run.record.make_report()
