"""A user's own questions (CSV or JSON Lines) on a folder of files."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, model_validator

from oprag.chunk import Span
from oprag.files import unreadable
from oprag_eval.data.gold import missing_passages, place_passages
from oprag_eval.data.imported import json_document, rows_of_object, translate
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import (
    Fields,
    Rows,
    Text,
    csv_rows,
    finish,
    json_rows,
    malformed,
)
from oprag_eval.metrics.contexts import EvidenceKind
from oprag_eval.metrics.longrag import answer_recall

_ANSWER = re.compile(r"answer(_\d+)?")
_OPTION = re.compile(r"option_[a-z]")
_READERS = {".csv": csv_rows, ".jsonl": json_rows, ".json": json_document}


class Asked(Fields):
    """One line of a file of questions."""

    model_config = ConfigDict(extra="allow")
    question: Text
    question_id: str = ""
    document: str = ""
    answers: tuple[str, ...] = ()
    options: tuple[Text, ...] = ()
    correct: str = ""
    evidence: tuple[tuple[int, int], ...] = ()
    evidence_kind: EvidenceKind = "all"
    passages: tuple[Text, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _native(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a line under our names, answers and options as lists."""
        named = {"_".join(name.casefold().split()): values[name] for name in values}
        if len(named) < len(values):
            message = f"two of the fields {list(values)} have one name"
            raise ValueError(message)
        known = {
            k: v
            for k, v in translate(named).items()
            if v not in (None, "") or k == "question"
        }
        answers = [key for key in known if _ANSWER.fullmatch(key)]
        options = sorted(key for key in known if _OPTION.fullmatch(key))
        for letter, key in zip(string.ascii_lowercase, options, strict=False):
            if key != f"option_{letter}":
                message = f"there is {key!r} and no 'option_{letter}'"
                raise ValueError(message)
        for name, cells in (("answers", answers), ("options", options)):
            if cells and name in known:
                message = f"there are {cells[0]!r} and {name!r}: give one of them"
                raise ValueError(message)
            if cells:
                known[name] = [known.pop(key) for key in cells]
        return known


def read_own(questions: Any, documents: Mapping[str, str | Document]) -> Dataset:
    """Read your own questions and documents.

    Questions, one per line, as `.csv` with a heading or as `.jsonl`:

    - `question`, the only field that must be there;
    - `document`: the file that it is asked of, by its name in `documents`, or by its
      name without folder or ending if that is unambiguous. Empty or absent: all
      documents;
    - `answer`, and `answer_2`, `answer_3`, … for others that are right too;
    - `option_a`, `option_b`, … and `correct`, the letter of the right one;
    - `question_id`, by default the number of the question, from 1;
    - in JSON Lines also the lists `answers` and `options`, in place of these;
      `passages`, texts that hold the answer, which are found in the documents; or
      `evidence`: spans `[start, end)` of the document's characters, in
      the text that is read, which of HTML and PDF files is the rendered one; and
      `evidence_kind`, `"any"` or, by default, `"all"`.

    The formats of LlamaIndex, ragas and LangSmith are read too (`translate`).

    The names may be written with capitals and with spaces for `_`. Other fields of a
    line are not used, and a note names them.

    Args:
        questions: The file; or a data set of these libraries, in memory.
        documents: Texts or documents by name.

    Raises:
        UnreadableFileError: The file is not there or holds no questions, or its name
            ends in neither; or a line has no question, names a document that is not
            there, or has no right option, or one that is blank between others; or some
            questions have options and others none.
    """
    rows = question_rows(questions)
    held = {
        name: given if isinstance(given, Document) else Document(name, name, given)
        for name, given in documents.items()
    }
    names = _names(held)
    asked, unused, lost = [], dict[str, None](), 0
    for number, (line, row) in enumerate(rows.of(Asked), 1):
        try:
            asked.append(_question(row, str(number), names, held))
        except ValueError as error:
            raise malformed(rows.path, line, str(error)) from error
        unused |= dict.fromkeys(filter(None, row.model_extra or ()))
        lost += bool(row.passages and not asked[-1].evidence)
    source = Path(rows.path)
    if not asked:
        raise unreadable(source, "holds no questions")
    if len({bool(question.options) for question in asked}) > 1:
        mixes = "has questions with and without options; give each kind a file"
        raise unreadable(source, mixes)
    measures: tuple[str, ...] = ("choice_match", "bracketed_match")
    if not asked[0].options:
        answered = all(question.answers for question in asked)
        measures = ("token_f1", "exact_match") if answered else ()
    return finish(
        source.stem,
        asked,
        held,
        path=rows.path,
        metrics=measures,
        notes=[
            *(f"the field {name!r} is not used" for name in unused),
            *([_LOST.format(lost)] if lost else []),
        ],
    )


_LOST = (
    "the gold passages of {} questions are not all in one of the documents, and are "
    "left out; `oprag check-questions` names them"
)


def question_rows(questions: Any) -> Rows:
    """Read the rows of a file of questions, or of a data set in memory.

    Raises:
        UnreadableFileError: It is no file of questions.
    """
    if not isinstance(questions, str | Path):
        return rows_of_object(questions)
    path = Path(questions)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        takes = f"is not a file of questions; oprag takes {' or '.join(_READERS)}"
        raise unreadable(path, takes)
    return reader(path)


def check_gold(
    questions: Any, documents: Mapping[str, Document]
) -> Iterator[tuple[str, str, str]]:
    """Find the faults in the gold of questions.

    Yields:
        The question's id, the fault, and the text: a gold passage that stands in no
        document, or not in the one that is named; an answer that stands in none, which
        no passage can hold word for word.
    """
    names = _names(documents)
    for number, (_, row) in enumerate(question_rows(questions).of(Asked), 1):
        named, doc_id = row.question_id or str(number), names.get(row.document) or ""
        where = f"not in {doc_id}" if doc_id else "in no document"
        for text in missing_passages(row.passages, documents, doc_id):
            yield named, f"gold passage {where}", text
        held = [documents[doc_id]] if doc_id else [*documents.values()]
        open_one = row.answers and not row.options
        if open_one and not any(answer_recall(each.text, row.answers) for each in held):
            yield named, f"answer {where}, word for word", row.answers[0]


def _names(documents: Mapping[str, Document]) -> dict[str, str | None]:
    """Return ids by every name that a line may use; None if two documents have it."""
    names: dict[str, str | None] = {}
    for doc_id in documents:
        path = Path(doc_id)
        for name in dict.fromkeys((path.name, path.stem)):
            names[name] = None if name in names else doc_id
    return names | {doc_id: doc_id for doc_id in documents}


def _question(
    row: Asked,
    number: str,
    names: Mapping[str, str | None],
    documents: Mapping[str, Document],
) -> Question:
    """Make a question of a line; raise a `ValueError` for a fault in it."""
    doc_id = names.get(row.document)
    if row.document and doc_id is None:
        why = "fits several documents" if row.document in names else "is unknown"
        known = ", ".join(sorted(names)[:10])
        message = f"the document {row.document!r} {why} (known: {known})"
        raise ValueError(message)
    gold = None
    if row.options or row.correct:
        letters = [*string.ascii_uppercase[: len(row.options)]]
        correct = row.correct.strip().upper()
        if correct not in letters:
            there = f"the options are {letters}" if letters else "there are no options"
            message = f"'correct' is {row.correct!r}, and {there}"
            raise ValueError(message)
        gold = letters.index(correct)
    evidence = [Span(*span) for span in row.evidence]
    if row.passages:  # they may be edited, and the spans beside them then are not
        placed = place_passages(row.passages, documents, doc_id or "")
        doc_id, evidence = placed or (doc_id, [])
    if row.evidence and not doc_id:
        message = "'evidence' needs 'document', the file that its spans are of"
        raise ValueError(message)
    length = len(documents[doc_id].text) if doc_id else 0
    for start, end in row.evidence:
        if not 0 <= start < end <= length:
            message = f"[{start}, {end}] is not a span of a text of {length} characters"
            raise ValueError(message)
    return Question(
        row.question_id or number,
        (doc_id,) if doc_id else (),
        row.question,
        row.answers or (() if gold is None else (row.options[gold],)),
        row.options,
        gold,
        tuple(evidence),
        row.evidence_kind,
    )
