"""Compares the size of a set with the papers', and says where it differs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oprag.errors import DatasetCountWarning, MalformedDataError
from oprag.evaluation.data.records import Dataset, Document, Question


class Counts(NamedTuple):
    """The size of a set as a paper gives it."""

    source: str
    """Who says so."""
    questions: int
    documents: int | None = None
    """None where it does not say."""


def finish(
    name: str,
    questions: Sequence[Question],
    documents: Mapping[str, Document],
    *,
    path: str,
    metrics: Sequence[str],
    published: Sequence[Counts] = (),
    notes: Sequence[str] = (),
) -> Dataset:
    """Make a data set of what was read, and compare it with the papers.

    Every difference goes into `Dataset.notes`. A `DatasetCountWarning` is given
    when no published count agrees, and for each of the notes handed in.

    Args:
        name: As `load` takes it.
        questions: In the order of the file.
        documents: By id.
        path: What an error names.
        metrics: Names of the measures that fit.
        published: Sizes that papers give; none: nothing to compare.
        notes: What was left out or is doubtful.

    Raises:
        MalformedDataError: Two questions have one id, or one names a document that
            is not there.
    """
    _check(questions, documents, path)
    found = Counts(name, len(questions), len(documents))
    differences = [_difference(count, found) for count in published]
    said = [difference for difference in differences if difference]
    for note in [*(said if len(said) == len(published) else ()), *notes]:
        warnings.warn(f"{name}: {note}", DatasetCountWarning, stacklevel=3)
    return Dataset(name, tuple(questions), documents, tuple(metrics), (*said, *notes))


def _difference(published: Counts, found: Counts) -> str:
    parts = []
    if published.questions != found.questions:
        parts.append(f"{found.questions} questions, not {published.questions}")
    if published.documents not in (None, found.documents):
        parts.append(f"{found.documents} documents, not {published.documents}")
    return f"{' and '.join(parts)} as in {published.source}" if parts else ""


def _check(
    questions: Sequence[Question], documents: Mapping[str, Document], path: str
) -> None:
    seen = set()
    for question in questions:
        if question.question_id in seen:
            reason = f"the question id {question.question_id!r} occurs twice"
            raise _error(path, reason)
        seen.add(question.question_id)
        for doc_id in question.doc_ids:
            if doc_id not in documents:
                raise _error(
                    path,
                    f"question {question.question_id!r} names the document {doc_id!r}, "
                    "which is not there",
                )


def _error(path: str, reason: str) -> MalformedDataError:
    return MalformedDataError(f"{path}: {reason}.", path=path, line=None, reason=reason)
