"""Rows of data files, checked field by field; an error names the file and the line."""

from __future__ import annotations

import csv
import hashlib
import json
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from oprag.errors import OpragWarning, UnreadableFileError
from oprag.files import unreadable
from oprag_eval.data.records import Dataset, Document, Question

_BOM = b"\xef\xbb\xbf"


def _filled(text: str) -> str:
    if not text.strip():
        message = "it is empty"
        raise ValueError(message)
    return text


Text: TypeAlias = Annotated[str, AfterValidator(_filled)]
"""Text that is not blank."""


class Fields(BaseModel):
    """The fields of a row that a reader takes; other fields are let pass."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


FieldsT = TypeVar("FieldsT", bound=Fields)


@dataclass(frozen=True)
class Rows:
    """Rows of a file or table, in order."""

    path: str
    """The path that errors name."""
    values: Iterable[tuple[int | None, Mapping[str, Any]]]
    """The line, or the row of a table, from 1; and the fields by name."""

    def of(self, fields: type[FieldsT]) -> Iterator[tuple[int | None, FieldsT]]:
        """Yield each line with the fields that are wanted."""
        for line, values in self.values:
            try:
                yield line, fields.model_validate(values)
            except ValidationError as error:
                raise malformed(self.path, line, _said(error)) from error


def malformed(path: str, line: int | None, reason: str) -> UnreadableFileError:
    """Return the error for a line of a file, or for the whole file."""
    where = path if line is None else f"{path}, line {line}"
    return UnreadableFileError(
        f"{where}: {reason}.", path=path, line=line, reason=reason
    )


def _said(error: ValidationError) -> str:
    """Return the error of a row, with its first wrong field."""
    found = error.errors()[0]
    where = ".".join(map(str, found["loc"]))
    return f"{where!r}: {found['msg']}" if where else found["msg"]


def json_rows(path: Path | zipfile.Path) -> Rows:
    """Read a JSON Lines file: one object per line, blank lines skipped, UTF-8.

    One line at a time is in memory.
    """
    _check_file(path)
    return Rows(str(path), _json_values(path))


def zip_rows(path: Path, member: str) -> Rows:
    """Read a JSON Lines file inside a zip file."""
    _check_file(path)
    try:
        return json_rows(zipfile.Path(path, member))
    except zipfile.BadZipFile as error:
        raise unreadable(path, f"is not a zip file ({error})") from error


def csv_rows(path: Path) -> Rows:
    """Read a CSV file with a heading line, UTF-8, whole into memory."""
    _check_file(path)
    found: list[tuple[int, dict[str, Any]]] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            heads = ["_".join(n.casefold().split()) for n in reader.fieldnames or ()]
            if twice := [head for head in heads if head and heads.count(head) > 1]:
                raise malformed(str(path), 1, f"two columns have the name {twice[0]!r}")
            for values in reader:
                if None in values or None in values.values():
                    reason = "it does not have as many fields as the heading"
                    raise malformed(str(path), reader.line_num, reason)
                found.append((reader.line_num, values))
        except (csv.Error, UnicodeDecodeError) as error:
            line = reader.line_num
            raise malformed(str(path), line, f"no CSV in UTF-8: {error}") from error
    return Rows(str(path), found)


def _check_file(path: Path | zipfile.Path) -> None:
    """Make sure that a file is there."""
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise unreadable(Path(str(path)), what)


def _json_values(path: Path | zipfile.Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not (written := line.removeprefix(_BOM).strip()):
                    continue
                try:
                    values = json.loads(written)
                except (ValueError, RecursionError) as error:
                    raise malformed(str(path), number, f"no JSON: {error}") from error
                if not isinstance(values, dict):
                    raise malformed(str(path), number, "it has no fields")
                yield number, values
    except (zipfile.BadZipFile, RuntimeError, zlib.error) as error:
        raise unreadable(Path(str(path)), f"cannot be unpacked ({error})") from error


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
    """Make a data set, and compare its size with the papers'.

    An `OpragWarning` gives each of its notes. An error names `path`. `published` is the
    number of questions in the papers.
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
