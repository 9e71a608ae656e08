"""A user's own questions (CSV or JSON Lines) on a folder of files."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from oprag.errors import UnreadableFileError
from oprag.files import FileText, files_in, joined, page_places, read_file, unreadable
from oprag_eval.data.building import finish
from oprag_eval.data.jsonl import ONLY_JSON, fitting_metrics, question_of
from oprag_eval.data.records import Dataset, Document, LazyDocuments
from oprag_eval.data.rows import JsonlRows, Row, csv_rows

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ANSWER = re.compile(r"answer(_\d+)?")
_OPTION = re.compile(r"option_[a-z]")
_ENDINGS = (".csv", ".jsonl")
_DOCUMENT = ("document", "doc_id", "file")
_PLAIN = ("question", "question_id", "document", "doc_id", "file", "answer", "correct")
_NUMBERED = re.compile(r"answer_\d+|option_[a-z]")
_ALIKE = 0.83
"""From here on a name is taken for a misspelt one: one letter of six, or two changed
round, but not `answer_id` for `answer_2`."""


def read_own(
    questions: Path, documents: Path | Mapping[str, str | Document]
) -> Dataset:
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
        documents: A folder of text, Markdown, HTML and PDF files, read with the
            folders inside it, without hidden files, in the order of their names; or
            texts or documents by name. The questions and files that hold no text are
            left out, and the notes name them.

    Raises:
        UnreadableFileError: A line has no question, a misspelt name, names a document
            that is not there, or has no right option; with file and line.
        UnreadableFileError: The file or the folder is not there, the folder holds no
            text, or the file no questions; or its name ends in neither.
    """
    is_csv = questions.suffix.lower() == ".csv"
    rows, unused = _fields(_rows(questions), is_csv=is_csv)
    notes = [f"the field {name!r} is not used" for name in unused]
    if isinstance(documents, Mapping):
        held: Mapping[str, Document] = {
            name: given if isinstance(given, Document) else Document(name, name, given)
            for name, given in documents.items()
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
        raise unreadable(questions, takes)
    rows = list(found)
    if not rows:
        raise unreadable(questions, "holds no questions")
    return rows


def _folder(folder: Path, questions: Path, notes: list[str]) -> LazyDocuments[Path]:
    if not folder.is_dir():
        raise unreadable(folder, "is not a folder")
    found: dict[str, Path] = {}
    skipped: list[UnreadableFileError] = []
    for path in files_in(folder, skipped):
        if os.path.realpath(path) == os.path.realpath(questions):
            notes.append(f"left out: {str(path)!r} holds the questions.")
            continue
        try:
            read_file(path)
        except UnreadableFileError as error:
            skipped.append(error)
        else:
            found[path.relative_to(folder).as_posix()] = path
    if not found:
        raise unreadable(folder, "holds no file that can be read", skipped)
    notes += [f"skipped: {error.message}" for error in skipped]
    return LazyDocuments(
        found, lambda name, path: _document(name, path.stem, read_file(path))
    )


def _document(name: str, title: str, texts: Sequence[FileText]) -> Document:
    return Document(name, title, joined(texts), pages=page_places(texts))


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


def _fields(rows: Sequence[Row], *, is_csv: bool) -> tuple[list[Row], list[str]]:
    """Return the rows with the names that fields are read by, and the unknown names.

    Known names get small letters and `_` for spaces. Of CSV they are the heading,
    which is line 1.

    Raises:
        UnreadableFileError: A name looks like a known one misspelt, two are the same,
            there is no `question`, or CSV has what only JSON Lines can have.
    """
    found = []
    unused: dict[str, None] = {}
    for row in rows:
        where = Row(row.values, row.path, 1, row.place) if is_csv else row
        names: dict[str, str] = {}
        for name in row.values:
            known = _known(name, where, is_csv=is_csv)
            if known in names:
                reason = f"{names[known]!r} and {name!r} are the same field"
                raise where.error(reason)
            names[known or name] = name
            if known is None and name.strip():
                unused[name] = None
        if "question" not in names:
            where.get("question")  # raises, with the names that there are
        values = {known: row.values[name] for known, name in names.items()}
        found.append(Row(values, row.path, row.line, row.place))
    return found, list(unused)


def _known(name: str, where: Row, *, is_csv: bool) -> str | None:
    """The name that a field is read by; None: it is not known."""
    folded = "_".join(name.casefold().split())
    if folded in _PLAIN or _NUMBERED.fullmatch(folded):
        return folded
    if folded in ONLY_JSON:
        if not is_csv:
            return folded
        reason = (
            f"{name!r} is read from JSON Lines only; CSV has answer, answer_2, … and "
            "option_a, option_b, …, correct"
        )
        raise where.error(reason)
    known = (*_PLAIN, "answer_2", "option_a", *(() if is_csv else ONLY_JSON))
    if alike := difflib.get_close_matches(folded, known, n=1, cutoff=_ALIKE):
        reason = f"{name!r} looks like {alike[0]!r} misspelt; give it another name"
        raise where.error(reason)
    return None
