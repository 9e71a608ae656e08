"""Data sets made of what was read: their documents, their size, what differs."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from oprag.errors import OpragWarning
from oprag_eval.data.records import Dataset, Document, LazyDocuments, Question
from oprag_eval.data.rows import Row, Rows, malformed

_DIGITS = 16


class Contexts:
    """Collects the documents of a set while its rows are read.

    A document's id is `prefix-` and the beginning of its text's SHA-256, so it is
    the same in every file and run.

    Args:
        rows: Where the texts lie.
        names: Possible names of the field that holds them.
        prefix: Of the ids.
        title: Name of a field with a title; None: there is none.
    """

    def __init__(
        self, rows: Rows, *names: str, prefix: str, title: str | None = None
    ) -> None:
        self._rows = rows
        self._names = names
        self._prefix = prefix
        self._title = title
        self._places: dict[str, int] = {}

    def add(self, row: Row) -> str:
        """Take note of a row's document.

        Returns:
            Its id.

        Raises:
            UnreadableFileError: The row has no text.
        """
        text = row.text(*self._names)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        doc_id = f"{self._prefix}-{digest[:_DIGITS]}"
        self._places.setdefault(doc_id, row.place)
        return doc_id

    def documents(self) -> LazyDocuments[int]:
        """Return the documents in the order of their first rows."""
        return LazyDocuments(self._places, self._read)

    def _read(self, doc_id: str, place: int) -> Document:
        row = self._rows.again(place)
        title = row.values.get(self._title) if self._title else None
        titles: tuple[str, ...] = ()
        if isinstance(title, (list, tuple)):
            titles = tuple(map(str, title))
            title = ", ".join(titles)
        return Document(doc_id, str(title or ""), row.text(*self._names), titles)


def row_documents(
    rows: Rows, name: str, titles: Callable[[Row], tuple[str, ...]]
) -> LazyDocuments[int]:
    """Take one document of each row; its text is the field `text`.

    Args:
        rows: Read through once, and each again when its document is asked for.
        name: The field that holds the id.
        titles: Tells the titles of what is in it.

    Raises:
        UnreadableFileError: A row lacks a field or repeats an id.
    """
    places: dict[str, int] = {}
    for row in rows:
        doc_id = row.label(name)
        row.text("text")
        if doc_id in places:
            raise row.error(f"the document id {doc_id!r} occurs twice")
        places[doc_id] = row.place

    def read(doc_id: str, place: int) -> Document:
        row = rows.again(place)
        of = titles(row)
        return Document(doc_id, ", ".join(of), row.text("text"), of)

    return LazyDocuments(places, read)


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

    Raises:
        UnreadableFileError: Two questions have one id, or one names a document that
            is not there.
    """
    _check_ids(questions, documents, path)
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


def _check_ids(
    questions: Sequence[Question], documents: Mapping[str, Document], path: str
) -> None:
    seen = set()
    for question in questions:
        if question.question_id in seen:
            reason = f"the question id {question.question_id!r} occurs twice"
            raise malformed(path, None, reason)
        seen.add(question.question_id)
        for doc_id in question.doc_ids:
            if doc_id not in documents:
                reason = (
                    f"question {question.question_id!r} names the document {doc_id!r}, "
                    "which is not there"
                )
                raise malformed(path, None, reason)
