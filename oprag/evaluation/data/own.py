"""A user's own questions (CSV or JSON Lines) on a folder of text files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from oprag.errors import UnreadableFileError
from oprag.evaluation.data.counts import finish
from oprag.evaluation.data.fields import own_fields
from oprag.evaluation.data.files import JsonlRows, csv_rows, read_text
from oprag.evaluation.data.jsonl import fitting_metrics, question_of
from oprag.evaluation.data.records import Dataset, Document, LazyDocuments
from oprag.evaluation.data.rows import Row

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ANSWER = re.compile(r"answer(_\d+)?")
_OPTION = re.compile(r"option_[a-z]")
_ENDINGS = (".csv", ".jsonl")
_DOCUMENT = ("document", "doc_id", "file")


def read_own(questions: Path, documents: Path | Mapping[str, str]) -> Dataset:
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
    has goes into `Question.metadata`, and a note says that it is not used; a name that
    looks like one of these misspelt is an error. In JSON Lines `evidence` is read as
    in the project's own format (`read_jsonl`); its spans count in the text that is
    read, which of HTML and PDF files is the rendered one.

    Args:
        questions: The file.
        documents: A folder, read with the folders inside it, without hidden files,
            in the order of their names; or texts by name, for PDF files and the
            like. The questions and files that are no UTF-8 text are left out, and the
            notes name them.

    Raises:
        MalformedDataError: A line has no question, a misspelt name, names a document
            that is not there, or has no right option; with file and line.
        UnreadableFileError: The file or the folder is not there, the folder holds no
            text, or the file no questions; or its name ends in neither.
    """
    is_csv = questions.suffix.lower() == ".csv"
    rows, unused = own_fields(_rows(questions), is_csv=is_csv)
    notes = [f"the field {name!r} is not used" for name in unused]
    if isinstance(documents, Mapping):
        held: Mapping[str, Document] = {
            name: Document(name, name, text) for name, text in documents.items()
        }
    else:
        held = _folder(documents, questions, notes)
    names = _names(held)
    asked = [
        question_of(_native(row, number, names), held)
        for number, row in enumerate(rows, 1)
    ]
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
        raise _unreadable(questions, takes)
    rows = list(found)
    if not rows:
        raise _unreadable(questions, "holds no questions")
    return rows


def _folder(folder: Path, questions: Path, notes: list[str]) -> LazyDocuments[Path]:
    if not folder.is_dir():
        raise _unreadable(folder, "is not a folder")
    found = {}
    for path in _files(folder):
        if path.resolve() == questions.resolve():
            notes.append(f"left out: {str(path)!r} holds the questions.")
            continue
        try:
            text = read_text(path)
        except UnreadableFileError as error:
            notes.append(f"skipped: {error.message}")
            continue
        if text.strip():
            found[path.relative_to(folder).as_posix()] = path
        else:
            notes.append(f"skipped: {str(path)!r} is empty.")
    if not found:
        reason = "holds no text file"
        message = f"{str(folder)!r} {reason}. {' '.join(notes)}".rstrip()
        raise UnreadableFileError(message, path=str(folder), reason=reason)
    return LazyDocuments(
        found, lambda doc_id, path: Document(doc_id, path.stem, read_text(path))
    )


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file():
                yield path


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


def _unreadable(path: Path, reason: str) -> UnreadableFileError:
    return UnreadableFileError(
        f"{str(path)!r} {reason}.", path=str(path), reason=reason
    )
