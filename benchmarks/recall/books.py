"""The texts that are searched, with their questions: books, an article, meetings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oprag.tokens import NamedTokenCounter

_LEAST_TOKENS = 100_000
_JOINT = "\n\n"


@dataclass(frozen=True)
class Question:
    """A question and where its evidence stands in the book."""

    text: str
    evidence: tuple[tuple[int, int], ...]
    all_needed: bool
    """Whether every span is needed, or any one suffices."""
    document: str = ""
    """Which document of the book it is about."""


@dataclass(frozen=True)
class Book:
    """One text that is searched by itself."""

    name: str
    text: str
    questions: tuple[Question, ...]


def data_folder() -> Path:
    """Where the public question sets lie, beside the repository."""
    return Path(__file__).resolve().parents[3] / "shared" / "data"


def load_books(name: str, folder: Path, counter: NamedTokenCounter) -> list[Book]:
    """Load one of `SETS`.

    Raises:
        FileNotFoundError: The set is not in the folder.
    """
    documents, questions = (
        _lines(folder / name / file) for file in ("docs.jsonl", "questions.jsonl")
    )
    groups = SETS[name](documents, counter)
    return [_book(f"{name}-{n}", group, questions) for n, group in enumerate(groups)]


def sampled(name: str, books: Sequence[Book]) -> list[Book]:
    """The books and questions of a set that are measured, by `BOOKS` and `EVERY`."""
    step = EVERY.get(name, 1)
    measured = books[BOOKS.get(name, slice(None))]
    return [replace(book, questions=book.questions[::step]) for book in measured]


def _lines(path: Path) -> list[dict[str, Any]]:
    # Not splitlines: texts hold other line separators.
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def _packed(
    documents: Sequence[dict[str, Any]], counter: NamedTokenCounter
) -> list[list[dict[str, Any]]]:
    """Documents in file order, each book of at least 100,000 tokens."""
    books: list[list[dict[str, Any]]] = [[]]
    for document in documents:
        books[-1].append(document)
        text = _JOINT.join(member["text"] for member in books[-1])
        if counter(text) >= _LEAST_TOKENS:
            books.append([])
    tail = books.pop()
    if not books:
        return [tail]
    books[-1] += tail
    return books


def _each(
    documents: Sequence[dict[str, Any]], _: NamedTokenCounter
) -> list[list[dict[str, Any]]]:
    return [[document] for document in documents]


SETS: dict[str, Callable[..., list[list[dict[str, Any]]]]] = {
    "covidqa": _packed,
    "chunking_eval": _each,
    "contracts": _packed,
    "fairytaleqa": _packed,
    "finance": _each,
    "qmsum": _each,
    "xquad_en": _packed,
}
"""How the documents of each set become books."""

BOOKS = {
    "contracts": slice(2),
    "fairytaleqa": slice(0, None, 3),
    "qmsum": slice(0, None, 2),
}
"""Of which sets only these books are measured."""

EVERY = {"fairytaleqa": 4}
"""Of which set only every so many-th question is measured."""


def _book(
    name: str, documents: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]]
) -> Book:
    offsets: dict[str, int] = {}
    text = ""
    for document in documents:
        text += _JOINT if text else ""
        offsets[document["doc_id"]] = len(text)
        text += document["text"]
    asked = [
        Question(
            question["question"],
            tuple(
                (start + offsets[question["doc_id"]], end + offsets[question["doc_id"]])
                for start, end in question["evidence"]
            ),
            question["evidence_kind"] == "all",
            question["doc_id"],
        )
        for question in questions
        if question["doc_id"] in offsets
    ]
    return Book(name, text, tuple(asked))
