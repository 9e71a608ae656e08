"""Data sets made of what was read: their documents, their size, what differs."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence

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


def finish(
    name: str,
    questions: Sequence[Question],
    documents: Mapping[str, Document],
    *,
    path: str,
    metrics: Sequence[str],
    published: int | None = None,
    notes: Sequence[str] = (),
) -> Dataset:
    """Make a data set of what was read, and compare its size with the papers'.

    A `OpragWarning` gives each of its notes.

    Args:
        name: As `load` takes it.
        questions: In the order of the file.
        documents: By id.
        path: What an error names.
        metrics: Names of the measures that fit.
        published: The number of questions in the papers; None: not given.
        notes: What was left out or is doubtful.
    """
    seen = set()
    for question in questions:
        if question.question_id in seen:
            reason = f"the question id {question.question_id!r} occurs twice"
            raise malformed(path, None, reason)
        seen.add(question.question_id)
    if published not in {None, len(questions)}:
        difference = f"{len(questions)} questions, not {published} as in the papers"
        notes = [difference, *notes]
    for note in notes:
        warnings.warn(f"{name}: {note}", OpragWarning, stacklevel=2)
    return Dataset(name, tuple(questions), documents, tuple(metrics), tuple(notes))
