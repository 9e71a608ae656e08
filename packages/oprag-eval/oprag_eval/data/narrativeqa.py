"""NarrativeQA (arXiv:1712.07040): questions on whole books and film scripts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from oprag.files import shown_text
from oprag_eval.data.building import Counts, finish
from oprag_eval.data.records import Dataset, Document, LazyDocuments, Question
from oprag_eval.data.rows import Row, Rows
from oprag_eval.errors import check_one_of

_PUBLISHED = {
    "train": (Counts("NarrativeQA", 32_747, 1_102),),
    "valid": (Counts("NarrativeQA", 3_461, 115),),
    "test": (
        Counts("NarrativeQA", 10_557, 355),
        Counts("the DOS RAG paper, which left out three empty stories", 10_391, 352),
    ),
}
_METRICS = ("token_f1", "corpus_bleu", "rouge_l", "meteor")
_PAGE = re.compile(
    r"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
"""How a story begins that is a web page, as film scripts come."""


def read_narrativeqa_rows(rows: Rows, *, split: str = "test") -> Dataset:
    """Read the rows that the Hugging Face hub has, one per question with its story.

    Fields: `document` with `id`, `text` and `summary.title`; `question.text`;
    `answers`, each with `text`. Of a story that is a web page the shown text is taken.
    Questions on an empty story are left out, and the set's notes say how many.

    Args:
        rows: The rows of the split.
        split: Which count to compare with.

    Raises:
        InvalidOptionError: There is no such split.
        UnreadableFileError: A row lacks a field.
    """
    check_one_of("split", split, _PUBLISHED)
    places: dict[str, int] = {}
    numbers: Counter[str] = Counter()
    empty: set[str] = set()
    questions = []
    for row in rows:
        story = row.inner("document")
        doc_id = story.text("id")
        numbers[doc_id] += 1
        if not story.text("text", empty=True).strip():
            empty.add(doc_id)
            continue
        places.setdefault(doc_id, row.place)
        questions.append(
            Question(
                f"{doc_id}-{numbers[doc_id]}",
                (doc_id,),
                row.inner("question").text("text"),
                _answers(row),
            )
        )

    def read(doc_id: str, place: int) -> Document:
        story = rows.again(place).inner("document")
        summary = story.values.get("summary")
        title = summary.get("title") if isinstance(summary, Mapping) else ""
        return Document(doc_id, str(title or ""), _story(story.text("text").encode()))

    left_out = sum(numbers.values()) - len(questions)
    documents = LazyDocuments(places, read)
    return _finish(split, questions, documents, rows.path, (len(empty), left_out))


def _finish(
    split: str,
    questions: list[Question],
    documents: LazyDocuments[Any],
    path: str,
    left_out: tuple[int, int],
) -> Dataset:
    stories, lost = left_out
    note = f"{stories} stories have no text: {lost} questions on them are left out"
    return finish(
        f"narrativeqa/{split}",
        questions,
        documents,
        path=path,
        metrics=_METRICS,
        published=_PUBLISHED[split],
        notes=[note] if stories else [],
    )


def _answers(row: Row) -> tuple[str, ...]:
    answers = row.objects("answers")
    if not answers:
        raise row.error("'answers' is empty")
    return tuple(answer.text("text", empty=True) for answer in answers)


def _story(data: bytes) -> str:
    """Text of a story: UTF-8, or else Windows-1252, which scripts on the web use."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return shown_text(text).body if _PAGE.match(text) else text
