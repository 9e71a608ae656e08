"""The record of a run: the outcome of each document, and failures that end the run."""

from __future__ import annotations

from typing import get_args

from oprag.errors import IndexingError, UnreadableFileError
from oprag.indexing.plan import Outcome
from oprag.indexing.report import (
    REFUSALS,
    FailedDocument,
    IndexingReport,
    describe_failures,
)

_IN_A_ROW = 5
"""After this many failures in a row with one error type, the run stops: the store or
the embedding is probably down, so the other documents are not tried. Documents that
nothing is written for, such as unchanged ones, do not end a row."""
_OUTCOMES_OF_GIVEN: tuple[Outcome, ...] = ("added", "updated", "unchanged", "empty")
"""Outcomes of documents that were given."""


class RunRecord:
    """The outcomes of the documents of a run so far, and their failures.

    Args:
        store: The name of the store, for errors.
    """

    def __init__(self, store: str) -> None:
        self.documents: dict[Outcome, list[str]] = {
            outcome: [] for outcome in get_args(Outcome)
        }
        """Names of the documents of each outcome, in the order of the run."""
        self.skipped: list[UnreadableFileError] = []
        self.failed: list[FailedDocument] = []
        self.chunks_added = 0
        self.chunks_deleted = 0
        self._chunks_unchanged = 0
        self._chunks_foreign = 0
        self._with_foreign: dict[str, None] = {}
        """Names of documents with foreign chunks, each once, in order."""
        self._store = store
        self._kind_of_row: type[Exception] | None = None
        self._failures_in_a_row = 0

    @property
    def documents_done(self) -> int:
        """How many of the given documents are done."""
        with_outcome = sum(len(self.documents[each]) for each in _OUTCOMES_OF_GIVEN)
        return with_outcome + len(self.skipped) + len(self.failed)

    def add_outcome(
        self, name: str, outcome: Outcome, *, chunks_unchanged: int
    ) -> None:
        """Record the outcome of a document, and how many of its chunks stayed."""
        self.documents[outcome].append(name)
        self._chunks_unchanged += chunks_unchanged
        if outcome != "unchanged":
            self._end_row()

    def add_foreign(self, name: str, chunks: int) -> None:
        """Record foreign chunks that stay; only once for each document."""
        if name not in self._with_foreign:
            self._with_foreign[name] = None
            self._chunks_foreign += chunks

    def add_failure(self, failed: FailedDocument) -> None:
        """Record a document that failed.

        Raises:
            IndexingError: Too many in a row failed.
        """
        self.failed.append(failed)
        if isinstance(failed.error, REFUSALS):
            return
        kind = type(failed.error)
        if kind is not self._kind_of_row:
            self._kind_of_row, self._failures_in_a_row = kind, 0
        self._failures_in_a_row += 1
        if self._failures_in_a_row == _IN_A_ROW:
            raise self.make_outage_error()

    def _end_row(self) -> None:
        self._kind_of_row, self._failures_in_a_row = None, 0

    def add_part(self, part: IndexingReport) -> None:
        """Record the report of another process on documents of this run.

        Raises:
            IndexingError: Too many documents in a row failed.
        """
        for outcome in _OUTCOMES_OF_GIVEN:
            self.documents[outcome] += getattr(part, outcome)
        self.chunks_added += part.chunks_added
        self.chunks_deleted += part.chunks_deleted
        self._chunks_unchanged += part.chunks_unchanged
        self._chunks_foreign += part.chunks_foreign
        self._with_foreign |= dict.fromkeys(part.foreign)
        if part.added or part.updated:
            self._end_row()
            self.failed += part.failed
            return
        for failed in part.failed:
            self.add_failure(failed)

    def make_outage_error(self) -> IndexingError:
        """Return the error for an outage."""
        said = f"{_IN_A_ROW} documents in a row failed, and the run was stopped. "
        return self._make_error(said)

    def raise_if_all_failed(self) -> None:
        """Raise an error if documents failed and none has an outcome.

        Raises:
            IndexingError: It is so.
        """
        if self.failed and not any(self.documents.values()):
            raise self._make_error("No document could be indexed. ")

    def _make_error(self, said: str) -> IndexingError:
        message = said + describe_failures(self.failed)
        error = IndexingError(message, store=self._store, report=self.make_report())
        error.__cause__ = self.failed[-1].error
        return error

    def make_report(self) -> IndexingReport:
        """Return the report of all work so far."""
        documents = {outcome: tuple(names) for outcome, names in self.documents.items()}
        return IndexingReport(
            added=documents["added"],
            updated=documents["updated"],
            unchanged=documents["unchanged"],
            removed=tuple(sorted(documents["removed"])),
            empty=documents["empty"],
            kept=documents["kept"],
            skipped=tuple(self.skipped),
            failed=tuple(self.failed),
            foreign=tuple(self._with_foreign),
            chunks_foreign=self._chunks_foreign,
            chunks_added=self.chunks_added,
            chunks_deleted=self.chunks_deleted,
            chunks_unchanged=self._chunks_unchanged,
        )
