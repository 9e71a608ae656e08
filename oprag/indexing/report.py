"""The progress, the report and the warnings of a run."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from oprag.calls import read_error_message
from oprag.citations import as_line
from oprag.errors import (
    InvalidOptionError,
    MissingPositionError,
    OpragError,
    OpragWarning,
    UnreadableFileError,
    count_nouns,
    find_caller_stacklevel,
    invalid_option,
)
from oprag.indexing.plan import WantedDocument

REFUSALS = (MissingPositionError, UnreadableFileError)
"""Errors of one document alone, which say nothing about the store or the model."""
_LISTED = 5
"""The most documents that a message names."""
_LOGGER = logging.getLogger("oprag")

ShowProgress: TypeAlias = bool | Callable[[int, int | None, int], None]
"""Whether a bar is drawn; or a function to call instead. It gets the number of
documents that are done, of all documents (None if not known) and of written chunks. It
is called in a thread if the run is awaited."""


class FailedDocument(NamedTuple):
    """A document that could not be indexed, or not be removed."""

    name: str
    """The document's name."""
    error: Exception
    """The error, unchanged since it was raised."""
    deleted: int | None = None
    """None if all its old chunks are still in the store. Otherwise the new ones are all
    there, and deleting the old ones failed when so many were gone, or more: the call
    that failed may have deleted some."""

    def __repr__(self) -> str:
        """Leave out the error's message: a server may have repeated a key in it."""
        return f"FailedDocument({self.name!r}, {type(self.error).__name__})"


Readable: TypeAlias = WantedDocument | UnreadableFileError | FailedDocument
"""A document that is to be indexed. Or a file that is no text, whose path is the name
that its document would have. Or a document that failed, with its error."""


@dataclass(frozen=True, repr=False)
class IndexingReport:
    """The result of a run. It has documents by name, in the order they were given."""

    added: tuple[str, ...] = ()
    """Documents of which the store held nothing."""
    updated: tuple[str, ...] = ()
    """Documents that changed, or that were left incomplete."""
    unchanged: tuple[str, ...] = ()
    """Documents that the store holds unchanged; none of their chunks was embedded."""
    removed: tuple[str, ...] = ()
    """Documents that were not given, or empty, and are deleted, sorted by name."""
    empty: tuple[str, ...] = ()
    """Documents without any text. They count as not given."""
    kept: tuple[str, ...] = ()
    """Documents that were not given and are not removed, sorted by name. Others failed
    or could not be read, and may be the same documents under new names."""
    skipped: tuple[UnreadableFileError, ...] = ()
    """Files of a folder that are no text. Their old chunks stay in the store."""
    failed: tuple[FailedDocument, ...] = ()
    """Documents that could not be stored or removed, each with its error. Their old
    chunks are still in the store, unless `FailedDocument.deleted` says otherwise."""
    foreign: tuple[str, ...] = ()
    """Documents with further chunks in the store that another program wrote. Those
    chunks are left there."""
    chunks_foreign: int = 0
    """The number of these chunks."""
    chunks_added: int = 0
    """Chunks that were embedded and written."""
    chunks_deleted: int = 0
    """Chunks that were deleted."""
    chunks_unchanged: int = 0
    """Chunks that were left unchanged."""

    def __str__(self) -> str:
        """Describe the work that was done, as one sentence.

        An error that is not oprag's is named by its kind alone: it may repeat a key.
        """
        chunks = count_nouns(self.chunks_added, "chunk")
        said = [
            f"{count_nouns(len(self.added), 'document')} added ({chunks})",
            f"{len(self.updated):,} updated",
            f"{len(self.unchanged):,} unchanged",
            f"{len(self.removed):,} removed",
        ]
        said += [f"{len(self.empty):,} empty"] if self.empty else []
        said += [f"{len(self.kept):,} missing but kept"] if self.kept else []
        said += [f"{len(self.skipped):,} skipped"] if self.skipped else []
        if self.failed:
            rest = len(self.failed) - _LISTED
            named = [
                f"{as_line(each.name)}: {_why(each)}" for each in self.failed[:_LISTED]
            ]
            named += [f"{rest:,} more"] if rest > 0 else []
            said.append(f"{len(self.failed):,} failed: {'; '.join(named)}")
        return ", ".join(said).rstrip(".") + "."

    def __repr__(self) -> str:
        """Return the same sentence, with the name of the class."""
        return f"<IndexingReport: {self}>"


def _why(failed: FailedDocument) -> str:
    own = isinstance(failed.error, OpragError)
    return str(failed.error) if own else type(failed.error).__name__


def _list(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    shown = ", ".join(map(repr, names[:_LISTED]))
    return f"{shown} and {more:,} more" if more > 0 else shown


def describe_failures(failed: Sequence[FailedDocument]) -> str:
    """Return a text that names failed documents, at least one, and the last error."""
    error = failed[-1].error
    words = str(error) if isinstance(error, OpragError) else read_error_message(error)
    halfway = [one for one in failed if one.deleted is not None]
    but = ""
    if halfway:
        gone = sum(one.deleted or 0 for one in halfway)
        but = (
            f", except where deleting failed ({_list([one.name for one in halfway])}): "
            f"the new chunks are in, and of the old ones {gone:,} or more are gone"
        )
    return (
        f"{len(failed):,} failed: {_list([one.name for one in failed])}. What the "
        f"store held of them is still there{but}. report.failed has the error of each. "
        "Index again when the cause is mended. The last error is "
        f"{type(error).__name__}: {words}"
    )


def make_removal_error(going: Sequence[str], before: int) -> InvalidOptionError:
    """Return the error for removing more than half of the documents, or all."""
    message = (
        f"remove_missing=True would delete {len(going):,} of the {before:,} documents "
        f"that were indexed from here ({_list(going)}): they were not given, or are "
        "empty. Nothing was removed. See whether the documents are where they are read "
        'from; if so many are to go, pass remove_missing="all".'
    )
    return InvalidOptionError(message, option="remove_missing", value=True)


def warn_of(report: IndexingReport) -> None:
    """Warn of the work that failed, and of other programs' chunks in the store."""
    stored = report.added or report.updated or report.unchanged
    said = []
    if report.skipped and not (stored or report.failed or report.empty):
        said.append(
            "Nothing was indexed, as no file is a text: "
            f"{' '.join(map(str, report.skipped[:_LISTED]))} `oprag index` reads PDF; "
            "or give what a loader of your framework makes of them, as a list."
        )
    if report.failed:
        said.append(describe_failures(report.failed))
    if report.kept:
        said.append(
            f"Not given, and kept: {_list(report.kept)}. Others failed or could not "
            "be read, and may be the same by a new name (report.failed, "
            "report.skipped). The next run without such removes them; "
            'remove_missing="all" does in any case.'
        )
    if report.foreign:
        said.append(
            f"The store also holds {report.chunks_foreign:,} chunks of these documents "
            f"({_list(report.foreign)}) that something else wrote. Searches find "
            'both. Pass replace="all" to delete those.'
        )
    for message in said:
        warnings.warn(message, OpragWarning, stacklevel=find_caller_stacklevel())


class Progress:
    """Reports how far a run is; with tqdm, if standard error is a terminal.

    Args:
        show: See `ShowProgress`.
        count: Returns the number of documents; None if it is not known.
    """

    def __init__(self, show: ShowProgress, count: Callable[[], int | None]) -> None:
        if not isinstance(show, bool) and not callable(show):
            takes = "It takes True, False or a function."
            raise invalid_option("show_progress", show, takes)
        self._show = show
        self._total: int | None = None
        with suppress(OpragError):  # the run raises it, at the item that it is about
            self._total = count() if show else None
        self._bar = _bar(self._total) if show is True else None

    def __call__(self, documents: int, chunks: int) -> None:
        """Report how many documents are done, and how many chunks were written."""
        if callable(self._show):
            self._show(documents, self._total, chunks)
        elif self._bar is not None:
            self._bar.set_postfix(chunks=chunks, refresh=False)
            self._bar.update(documents - self._bar.n)

    def close(self) -> None:
        """Leave the bar unchanged."""
        if self._bar is not None:
            self._bar.close()

    def end(self, report: IndexingReport) -> None:
        """Write the report to the log, and below the bar."""
        _LOGGER.info("%s", report)
        if self._bar is not None:
            self._bar.write(str(report), file=self._bar.fp)


def _bar(total: int | None) -> Any:
    """Return a bar; None if standard error is no terminal, or tqdm is not installed."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]  # optional
    except ModuleNotFoundError:
        return None
    return tqdm(
        total=total, desc="Indexing", unit=" documents", disable=None, file=sys.stderr
    )
