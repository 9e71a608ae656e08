"""What the command line says of a run of `index_documents`, in its own words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from oprag.calls import said_by, without_secrets
from oprag.cli.telling import note
from oprag.errors import OpragError, OpragWarning
from oprag.indexing import FailedDocument, IndexingReport

_TOLD_OTHERWISE = (
    r"[\d,]+ failed: ",
    "The store also holds ",
    "Not given, and kept",
    "Nothing was indexed, ",
)
"""How warnings begin of which the report is told."""
_OPTIONS = {
    'remove_missing="all"': "--remove-missing all",
    "remove_missing=True": "--remove-missing yes",
    "; report.failed has the error of each": "",
    " The last error is .*": "",
    "indexed from '.*": "by a run that named other FILEs, and this one does not "
    "replace it. Name the same FILEs as in that run, or another --collection.",
}
"""What messages of `index_documents` say, and what the command line calls it. Each
error was told before."""


@contextmanager
def quietly() -> Iterator[None]:
    """Let no warning tell what the report of a run is told of as well."""
    with warnings.catch_warnings():
        for told_otherwise in _TOLD_OTHERWISE:
            warnings.filterwarnings("ignore", told_otherwise, OpragWarning)
        yield


def tell_report(report: IndexingReport, place: str) -> None:
    """Tell what could not be done, and what else is in the store.

    Args:
        report: What was done.
        place: The store, as the subject of a sentence.
    """
    for failed in report.failed:
        note(f"Not indexed: {failed_line(failed)}")
    if report.kept:
        note(
            f"Gone, and kept: {', '.join(report.kept)}. Other files could not be read "
            "or indexed, and may be the same by a new name. The next run without such "
            "removes them; --remove-missing all does in any case."
        )
    if report.foreign:
        listed = ", ".join(report.foreign)
        note(
            f"{place} also holds {report.chunks_foreign:,} other chunks of these "
            f"files, which searches find as well: {listed}"
        )


def in_options(message: str) -> str:
    """Say what the library says in the options of the command line."""
    for written, option in _OPTIONS.items():
        message = re.sub(written, option, message)
    return message


def failed_line(failed: FailedDocument) -> str:
    """Say which document failed, and why."""
    said = failure_of(failed)
    return said if failed.name in said else f"{failed.name}: {said}"


def failure_of(failed: FailedDocument) -> str:
    """Say why a document failed, without secrets."""
    own = isinstance(failed.error, OpragError)
    said = in_options(str(failed.error)) if own else said_by(failed.error)
    return without_secrets(said)
