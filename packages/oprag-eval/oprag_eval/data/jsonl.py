"""The project's own format: `docs.jsonl` and `questions.jsonl` in one folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oprag.chunk import Span
from oprag_eval.data.building import finish, row_documents
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import JsonlRows, Row
from oprag_eval.metrics.evidence import EvidenceKind

_KNOWN = frozenset(
    {
        *("question", "question_id", "doc_id", "doc_ids", "answers", "options"),
        *("gold_option", "evidence", "evidence_kind", "evidence_text"),
    }
)
_PAIR = 2


def read_jsonl(folder: Path) -> Dataset:
    """Read a set in the project's own format.

    `docs.jsonl`: `doc_id`, `text` and, if there is one, `title`. `questions.jsonl`:
    `question_id`, `question`, `doc_id` (or `doc_ids`, a list; `[]` or neither: all
    documents) and, where known, `answers` (a list), `options` with `gold_option`
    (index, 0 = first), `evidence` (spans `[start, end)` of the document's characters)
    with `evidence_kind` (`"any"`, or `"all"`, which it is where absent) and
    `evidence_text`, which must equal the text at the spans. Other fields go into
    `Question.metadata`.

    Args:
        folder: Holds the two files.

    Raises:
        UnreadableFileError: A line lacks a field, has a wrong one, or contradicts
            another; with file and line.
        UnreadableFileError: A file is not there.
    """
    documents = row_documents(
        JsonlRows(folder / "docs.jsonl"),
        "doc_id",
        lambda row: (str(row.values.get("title") or ""),),
    )
    rows = JsonlRows(folder / "questions.jsonl")
    questions = [question_of(row, documents) for row in rows]
    return finish(
        folder.name,
        questions,
        documents,
        path=rows.path,
        metrics=fitting_metrics(questions),
    )


def question_of(row: Row, documents: Mapping[str, Document]) -> Question:
    """Make a question of a row in this format.

    Args:
        row: See `read_jsonl`.
        documents: That its evidence is checked against.
    """
    doc_ids = _doc_ids(row)
    options, gold = _options(row)
    answers = row.texts("answers") if row.values.get("answers") is not None else ()
    if not answers and gold is not None:
        answers = (options[gold],)
    spans, kind = _evidence(row, doc_ids, documents)
    return Question(
        row.label("question_id"),
        doc_ids,
        row.text("question"),
        answers,
        options,
        gold,
        spans,
        kind,
        {key: value for key, value in row.values.items() if key not in _KNOWN},
    )


def fitting_metrics(questions: list[Question]) -> tuple[str, ...]:
    """Name the measures that every question has what they need for."""
    if questions and all(question.options for question in questions):
        return ("choice_match", "bracketed_match")
    if questions and all(question.answers for question in questions):
        return ("token_f1", "exact_match")
    return ()


def _doc_ids(row: Row) -> tuple[str, ...]:
    if row.values.get("doc_ids") is not None:
        return row.texts("doc_ids")
    return (row.label("doc_id"),) if row.values.get("doc_id") is not None else ()


def _options(row: Row) -> tuple[tuple[str, ...], int | None]:
    if not row.values.get("options"):
        return (), None
    options, gold = row.texts("options"), row.get("gold_option")
    if isinstance(gold, bool) or not isinstance(gold, int):
        raise row.error(f"'gold_option' is {gold!r}, not the index of an option")
    if not 0 <= gold < len(options):
        raise row.error(f"'gold_option' is {gold}, of {len(options)} options from 0")
    return options, gold


def _evidence(
    row: Row, doc_ids: tuple[str, ...], documents: Mapping[str, Document]
) -> tuple[tuple[Span, ...], EvidenceKind]:
    values = row.values.get("evidence")
    if not values:
        return (), "all"
    kind = row.values.get("evidence_kind", "all")
    if kind not in ("any", "all"):
        raise row.error(f'\'evidence_kind\' is {kind!r}, not "any" or "all"')
    if len(doc_ids) != 1 or doc_ids[0] not in documents:
        raise row.error(f"evidence needs one document that is there, not {doc_ids!r}")
    text = documents[doc_ids[0]].text
    spans = tuple(_span(row, value, text) for value in values)
    if row.values.get("evidence_text") is not None:
        given = row.texts("evidence_text")
        if given != tuple(text[start:end] for start, end in spans):
            raise row.error("'evidence_text' is not the document's text at 'evidence'")
    return spans, kind


def _span(row: Row, value: Any, text: str) -> Span:
    if (
        isinstance(value, (list, tuple))
        and len(value) == _PAIR
        and all(isinstance(n, int) for n in value)
        and 0 <= value[0] < value[1] <= len(text)
    ):
        return Span(*value)
    raise row.error(
        f"evidence {value!r} is no span [start, end) of a document of {len(text)} "
        "characters"
    )
