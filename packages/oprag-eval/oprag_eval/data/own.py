"""A user's own questions (CSV or JSON Lines) on a folder of files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from oprag.files import unreadable
from oprag_eval.data.building import finish
from oprag_eval.data.jsonl import fitting_metrics, question_of
from oprag_eval.data.records import Dataset, Document
from oprag_eval.data.rows import JsonlRows, Row, csv_rows

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ANSWER = re.compile(r"answer(_\d+)?")
_OPTION = re.compile(r"option_[a-z]")
_ENDINGS = (".csv", ".jsonl")
_DOCUMENT = ("document", "doc_id", "file")


def read_own(questions: Path, documents: Mapping[str, str | Document]) -> Dataset:
    """Read one's own questions and documents.

    Questions, one per line, as `.csv` with a heading or as `.jsonl`:

    - `question`, the only field that must be there;
    - `document`: the file that it is asked of, by its path in the folder, or by its
      name without folder and ending where that is unambiguous. Empty or absent: all
      documents;
    - `answer`, and `answer_2`, `answer_3`, … for others that are right too; in JSON
      Lines also `answers`, a list;
    - `option_a`, `option_b`, … and `correct`, the letter of the right one; in JSON
      Lines also `options`, a list, and `gold_option`, an index from 0;
    - `question_id`; absent: the number of the question, from 1.

    The names may be written with capitals and with spaces for `_`. What else a line
    has goes into `Question.metadata`, and a note names it: it is not used. In JSON
    Lines `evidence` is read as in the project's own format (`read_jsonl`); its spans
    count in the text that is read, which of HTML and PDF files is the rendered one.

    Args:
        questions: The file.
        documents: Texts or documents by name.

    Raises:
        UnreadableFileError: A line has no question, names a document that is not
            there, or has no right option; with file and line.
        UnreadableFileError: The file is not there or holds no questions, or its name
            ends in neither.
    """
    held = {
        name: given if isinstance(given, Document) else Document(name, name, given)
        for name, given in documents.items()
    }
    names = _names(held)
    asked = [
        question_of(_native(_fields(row), number, names), held)
        for number, row in enumerate(_rows(questions), 1)
    ]
    unused = dict.fromkeys(name for question in asked for name in question.metadata)
    notes = [f"the field {name!r} is not used" for name in unused if name]
    return finish(
        questions.stem,
        asked,
        held,
        path=str(questions),
        metrics=fitting_metrics(asked),
        notes=notes,
    )


def _rows(questions: Path) -> list[Row]:
    ending = questions.suffix.lower()
    found = csv_rows(questions) if ending == ".csv" else JsonlRows(questions)
    if ending not in _ENDINGS:
        takes = f"is no file of questions; oprag takes {' or '.join(_ENDINGS)}"
        raise unreadable(questions, takes)
    rows = list(found)
    if not rows:
        raise unreadable(questions, "holds no questions")
    return rows


def _names(documents: Mapping[str, Document]) -> dict[str, str | None]:
    """Id by every name that a line may use; None where two documents have it."""
    names: dict[str, str | None] = {}
    for doc_id in documents:
        path = Path(doc_id)
        for name in dict.fromkeys((path.name, path.stem)):
            names[name] = None if name in names else doc_id
    return names | {doc_id: doc_id for doc_id in documents}


def _native(row: Row, number: int, names: Mapping[str, str | None]) -> Row:
    """The same line with the field names of the project's own format."""
    values = {
        key: value
        for key, value in row.values.items()
        if value not in (None, "") or key == "question"
    }
    values.setdefault("question_id", str(number))
    for key in _DOCUMENT:
        if key in values:
            values["doc_id"] = _doc_id(row, str(values.pop(key)), names)
            break
    answers = [key for key in values if _ANSWER.fullmatch(key)]
    if answers:
        values.setdefault("answers", [values.pop(key) for key in answers])
    options = sorted(key for key in values if _OPTION.fullmatch(key))
    if options:
        values["options"] = [values.pop(key) for key in options]
        values["gold_option"] = _gold(row, str(values.pop("correct", "")), options)
    return Row(values, row.path, row.line, row.place)


def _doc_id(row: Row, name: str, names: Mapping[str, str | None]) -> str:
    doc_id = names.get(name)
    if doc_id is None:
        why = "fits several documents" if name in names else "is not there"
        known = ", ".join(sorted(names)[:10])
        raise row.error(f"the document {name!r} {why} (known: {known})")
    return doc_id


def _gold(row: Row, correct: str, options: list[str]) -> int:
    letter = correct.strip().upper()
    wanted = f"option_{letter.lower()}"
    if len(letter) != 1 or letter not in _LETTERS or wanted not in options:
        raise row.error(f"'correct' is {correct!r}, not the letter of one of {options}")
    return options.index(wanted)


def _fields(row: Row) -> Row:
    """Return a row with the names that fields are read by: `answer_2` of `Answer 2`."""
    values = {
        "_".join(name.casefold().split()): row.values[name] for name in row.values
    }
    if len(values) < len(row.values):
        raise row.error(f"two of the fields {list(row.values)} have one name")
    return Row(values, row.path, row.line, row.place)
