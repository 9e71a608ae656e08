"""Data sets made of what was read: their documents, their size, what differs."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oprag.errors import OpragWarning
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import malformed

_DIGITS = 16


def add_text(
    documents: dict[str, Document], prefix: str, text: str, titles: tuple[str, ...] = ()
) -> str:
    """Add a text to the documents of a set, once.

    Returns:
        Its id: `prefix-` and the beginning of its SHA-256, the same in every run.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    doc_id = f"{prefix}-{digest[:_DIGITS]}"
    documents.setdefault(doc_id, Document(doc_id, ", ".join(titles), text, titles))
    return doc_id


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

    Every difference goes into `Dataset.notes`. A `OpragWarning` is given
    when no published count agrees, and for each of the notes handed in.

    Args:
        name: As `load` takes it.
        questions: In the order of the file.
        documents: By id.
        path: What an error names.
        metrics: Names of the measures that fit.
        published: Sizes that papers give; none: nothing to compare.
        notes: What was left out or is doubtful.
    """
    seen = set()
    for question in questions:
        if question.question_id in seen:
            reason = f"the question id {question.question_id!r} occurs twice"
            raise malformed(path, None, reason)
        seen.add(question.question_id)
    found = Counts(name, len(questions), len(documents))
    differences = [_difference(count, found) for count in published]
    said = [difference for difference in differences if difference]
    for note in [*(said if len(said) == len(published) else ()), *notes]:
        warnings.warn(f"{name}: {note}", OpragWarning, stacklevel=2)
    return Dataset(name, tuple(questions), documents, tuple(metrics), (*said, *notes))


def _difference(published: Counts, found: Counts) -> str:
    parts = []
    if published.questions != found.questions:
        parts.append(f"{found.questions} questions, not {published.questions}")
    if published.documents not in (None, found.documents):
        parts.append(f"{found.documents} documents, not {published.documents}")
    return f"{' and '.join(parts)} as in {published.source}" if parts else ""
