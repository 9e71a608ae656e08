"""NarrativeQA (arXiv:1712.07040): questions on whole books and film scripts."""

from __future__ import annotations

import re
from collections import Counter

from pydantic import Field

from oprag.files import shown_text
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Fields, Rows, Text, finish

_PUBLISHED = 10_391
"""The number in the DOS RAG paper, which left out three empty stories."""
_METRICS = ("token_f1", "corpus_bleu", "rouge_l", "meteor")
_PAGE = re.compile(
    r"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
"""The beginning of a story that is a web page, as film scripts come."""


class _Summary(Fields):
    title: str = ""


class _Story(Fields):
    id: Text
    text: str
    summary: _Summary = _Summary()


class _Text(Fields):
    text: str


class _Asked(Fields):
    document: _Story
    question: _Text
    answers: tuple[_Text, ...] = Field(min_length=1)


def read_narrativeqa(rows: Rows) -> Dataset:
    """Read the rows of the test split, one per question with its story.

    Of a story that is a web page the shown text is taken. Questions on an empty story
    are left out, and the set's notes say how many.
    """
    documents: dict[str, Document] = {}
    numbers: Counter[str] = Counter()
    questions = []
    for _, row in rows.of(_Asked):
        name, text = row.document.id, row.document.text.removeprefix("\ufeff")
        numbers[name] += 1
        if not text.strip():
            continue
        if name not in documents:
            text = shown_text(text).body if _PAGE.match(text) else text
            documents[name] = Document(name, row.document.summary.title, text)
        questions.append(
            Question(
                f"{name}-{numbers[name]}",
                (name,),
                row.question.text,
                tuple(answer.text for answer in row.answers),
            )
        )
    empty, lost = len(numbers) - len(documents), numbers.total() - len(questions)
    note = f"{empty} stories have no text: {lost} questions on them are left out"
    return finish(
        "narrativeqa",
        questions,
        documents,
        path=rows.path,
        metrics=_METRICS,
        published=_PUBLISHED,
        notes=[note] if empty else [],
    )
