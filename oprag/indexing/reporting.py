"""What a run says: its report, and what it warns of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from oprag.calls import said_by
from oprag.errors import (
    DuplicateDocumentError,
    InvalidOptionError,
    MissingPositionError,
    OpragError,
    UnreadableFileError,
    UnsupportedMetadataError,
)
from oprag.indexing.plan import WantedDocument

REFUSALS = (
    DuplicateDocumentError,
    MissingPositionError,
    UnreadableFileError,
    UnsupportedMetadataError,
)
"""What is wrong with one document alone; nobody was asked for it."""
_LISTED = 5
"""Documents that a message names."""


class FailedDocument(NamedTuple):
    """A document that could not be indexed. What the store held of it stays."""

    name: str
    """The document's own name."""
    error: Exception
    """What happened, as it was raised."""

    def __repr__(self) -> str:
        """Without what the error says: a server may have repeated a key in it."""
        what = type(self.error).__name__
        return f"{type(self).__name__}({self.name!r}, {what})"


class UndeletedDocument(FailedDocument):
    """A document whose chunks are in the store, and older ones beside them.

    What could not be done is to delete those.
    """

    __slots__ = ()


class SkippedFile(NamedTuple):
    """A file of a folder that is no text."""

    name: str
    """What its document would be called."""
    error: UnreadableFileError
    """Why it is none."""

    @property
    def is_unread(self) -> bool:
        """Whether it could not be read, and may have a text."""
        return self.error.__cause__ is not None


Readable: TypeAlias = WantedDocument | SkippedFile | FailedDocument
"""A document that is to be indexed, or what was wrong with it."""


@dataclass(frozen=True, repr=False)
class IndexingReport:
    """What was done. Documents by their names, in the order they were given."""

    added: tuple[str, ...] = ()
    """Documents that the store held nothing of."""
    updated: tuple[str, ...] = ()
    """Documents of which something changed, or that were left incomplete."""
    unchanged: tuple[str, ...] = ()
    """Documents that the store held as they are; none of their chunks was embedded."""
    removed: tuple[str, ...] = ()
    """Documents that were not given and are deleted, sorted by name; with
    `replace="all"` also other names of given ones."""
    empty: tuple[str, ...] = ()
    """Documents without any text. Nothing is stored of them, and what was is gone.
    Those of which too much would have gone are among `failed`."""
    kept: tuple[str, ...] = ()
    """Documents that were not given and are not removed, sorted by name: one that the
    store holds nothing of failed or could not be read, and it may be one of these by
    a new name."""
    skipped: tuple[UnreadableFileError, ...] = ()
    """Files of a folder that are no text. What the store holds of them stays, and of
    documents below them, where a folder was."""
    failed: tuple[FailedDocument, ...] = ()
    """Documents that could not be stored, each with what happened. What the store held
    of them is still there; beside the new chunks where only deleting failed."""
    foreign: tuple[str, ...] = ()
    """Documents of which the store also holds chunks that something else wrote, or
    that were indexed by another name of the same file. They are left. With
    `remove_missing` also, by their `doc_key`, those that no longer tell their name."""
    chunks_foreign: int = 0
    """How many chunks these are."""
    chunks_added: int = 0
    """Chunks that were embedded and written."""
    chunks_deleted: int = 0
    """Chunks that were deleted, those that were written anew among them."""
    chunks_unchanged: int = 0
    """Chunks that were left as they were."""

    def __str__(self) -> str:
        """What was done, as one sentence.

        Of an error that is not oprag's only the kind: it may repeat a key.
        """
        documents = "document" if len(self.added) == 1 else "documents"
        said = [
            f"{len(self.added):,} {documents} added ({self.chunks_added:,} chunks)",
            f"{len(self.updated):,} updated",
            f"{len(self.unchanged):,} unchanged",
            f"{len(self.removed):,} removed",
        ]
        said += [f"{len(self.empty):,} empty"] if self.empty else []
        said += [f"{len(self.kept):,} missing but kept"] if self.kept else []
        said += [f"{len(self.skipped):,} skipped"] if self.skipped else []
        if self.failed:
            rest = len(self.failed) - _LISTED
            named = [f"{each.name}: {_why(each)}" for each in self.failed[:_LISTED]]
            named += [f"{rest:,} more"] if rest > 0 else []
            said.append(f"{len(self.failed):,} failed: {'; '.join(named)}")
        return ", ".join(said).rstrip(".") + "."

    def __repr__(self) -> str:
        """The same sentence, and whose it is."""
        return f"<IndexingReport: {self}>"


def _why(failed: FailedDocument) -> str:
    own = isinstance(failed.error, OpragError)
    return str(failed.error) if own else type(failed.error).__name__


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    shown = ", ".join(map(repr, names[:_LISTED]))
    return f"{shown} and {more:,} more" if more > 0 else shown


def failures(failed: Sequence[FailedDocument]) -> str:
    """Say which documents failed, and how the last one did.

    Args:
        failed: At least one.
    """
    error = failed[-1].error
    words = str(error) if isinstance(error, OpragError) else said_by(error)
    said = f"{type(error).__name__}: {words}"
    beside = [one.name for one in failed if isinstance(one, UndeletedDocument)]
    lost = [one.name for one in failed if not isinstance(one, UndeletedDocument)]
    parts = []
    if lost:
        parts.append(
            f"{len(lost):,} failed: {_listed(lost)}. What the store held of them is "
            "still there; report.failed has the error of each. Index again when the "
            "cause is mended."
        )
    if beside:
        parts.append(
            f"Old chunks could not be deleted of {len(beside):,}: {_listed(beside)}. "
            "Their new ones are in the store, and searches find both. See whether the "
            "store lets you delete, and index again: nothing is embedded anew."
        )
    return f"{' '.join(parts)} The last error is {said}"


def emptied(name: str, number: int, before: int) -> UnreadableFileError:
    """Make the error for a document that is empty now, as too many others are."""
    reason = (
        f"is empty now, one of {number:,} among the {before:,} that were indexed from "
        "here"
    )
    message = (
        f"Document {name!r} {reason}: its chunks were kept. See whether the documents "
        "can be read, and index again. If they are to go, give all documents that are "
        'to stay, with remove_missing="all".'
    )
    return UnreadableFileError(message, path=name, reason=reason)


def nothing_given() -> InvalidOptionError:
    """Make the error for removing all because no document was given."""
    message = (
        "There is no document to index, and remove_missing=True would delete "
        "everything that was indexed from here. If that is meant, pass "
        'remove_missing="all"; otherwise see whether the documents are where '
        "they are read from."
    )
    return InvalidOptionError(message, option="remove_missing", value=True)


def too_many(going: Sequence[str], before: int) -> InvalidOptionError:
    """Make the error for removing more than half of what is there, or all."""
    message = (
        f"remove_missing=True would delete {len(going):,} of the {before:,} documents "
        f"that were indexed from here ({_listed(going)}): they were not given, or are "
        "empty. Nothing was removed. See whether the documents are where they are read "
        'from; if so many are to go, pass remove_missing="all".'
    )
    return InvalidOptionError(message, option="remove_missing", value=True)


def kept_message(report: IndexingReport) -> str:
    """Say which documents were not removed, and when they will be."""
    return (
        f"Not given, and kept: {_listed(report.kept)}. Others, that the store holds "
        "nothing of, failed or could not be read, and may be the same by a new name "
        "(report.failed, report.skipped). The next run without such removes them; "
        'remove_missing="all" does in any case.'
    )


def no_text_message(report: IndexingReport) -> str:
    """Say why of no file anything was stored, and what to do with such files."""
    rest = len(report.skipped) - _LISTED
    why = " ".join(map(str, report.skipped[:_LISTED]))
    more = f" And {rest:,} more." if rest > 0 else ""
    return (
        f"Nothing was indexed, as no file is a text: {why}{more} `oprag index` reads "
        "PDF; or give what a loader of your framework makes of them, as a list."
    )


def foreign_message(report: IndexingReport) -> str:
    """Say of which documents the store holds other chunks, and how many."""
    return (
        f"The store also holds {report.chunks_foreign:,} chunks of these documents "
        f"({_listed(report.foreign)}) that something else wrote, or that were indexed "
        'by another name of the same file. Searches find both. Pass replace="all" to '
        "delete those. Where a doc_key is listed, the chunks no longer tell their "
        "document's name, and nothing removes them: write it back as doc_uri, or "
        "delete them by that doc_key."
    )
