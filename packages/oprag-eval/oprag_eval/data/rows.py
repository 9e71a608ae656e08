"""Rows of data files, each knowing where it stands, so that errors can say it."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from oprag.errors import UnreadableFileError
from oprag.files import unreadable


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its fields, and where it was found."""

    values: Mapping[str, Any]
    path: str
    """The file, or the set on the hub."""
    line: int | None
    """The line of the file (from 1) or the row of a table (from 1), or None."""
    place: int
    """What `Rows.again` takes to read this row once more."""

    def error(self, reason: str) -> UnreadableFileError:
        """Return the error that says what is wrong with this row."""
        return malformed(self.path, self.line, reason)

    def get(self, *names: str) -> Any:
        """Return the field of the first name that is there.

        Raises:
            UnreadableFileError: None of them is.
        """
        for name in names:
            if name in self.values:
                return self.values[name]
        wanted = " or ".join(repr(name) for name in names)
        found = ", ".join(repr(name) for name in self.values) or "none"
        raise self.error(f"it has no field {wanted} (fields found: {found})")

    def text(self, *names: str, empty: bool = False) -> str:
        """Return a text field.

        Args:
            *names: Its possible names.
            empty: Whether it may be blank.

        Raises:
            UnreadableFileError: It is not there, no text, or blank.
        """
        value = self.get(*names)
        if not isinstance(value, str):
            raise self.error(f"{names[0]!r} is {type(value).__name__}, not text")
        if not (empty or value.strip()):
            raise self.error(f"{names[0]!r} is empty")
        return value

    def label(self, *names: str) -> str:
        """Return an identifier, text or a whole number, as text.

        Raises:
            UnreadableFileError: It is not there or neither.
        """
        value = self.get(*names)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(*names)

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return a field that is a list of texts.

        Raises:
            UnreadableFileError: It is not there, no list, or holds something else. A
                bare text is no list.
        """
        value = self.get(*names)
        if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
            return tuple(value)
        raise self.error(f"{names[0]!r} is not a list of texts: {value!r:.80}")

    def inner(self, name: str) -> Row:
        """Return a field that is an object, as a row of its own.

        Raises:
            UnreadableFileError: It is not there or no object.
        """
        value = self.get(name)
        if not isinstance(value, Mapping):
            raise self.error(f"{name!r} is no object")
        return Row(value, self.path, self.line, self.place)

    def objects(self, name: str) -> list[Row]:
        """Return a field that is a list of objects.

        Raises:
            UnreadableFileError: It is not there, no list, or holds something else.
        """
        values = self.get(name)
        if isinstance(values, list) and all(isinstance(v, Mapping) for v in values):
            return [Row(value, self.path, self.line, self.place) for value in values]
        raise self.error(f"{name!r} is not a list of objects")


class Rows(Protocol):
    """A file or table of rows, which can be read more than once."""

    @property
    def path(self) -> str:
        """The file, or the set on the hub."""

    def __iter__(self) -> Iterator[Row]:
        """All rows in order, one at a time."""

    def again(self, place: int) -> Row:
        """Read one row once more, by its `place`."""


class HeldRows:
    """Rows that are in memory.

    Args:
        path: What errors name.
        rows: (line, fields) of each row.
    """

    def __init__(
        self, path: str, rows: Sequence[tuple[int | None, Mapping[str, Any]]]
    ) -> None:
        self.path = path
        self._rows = rows

    def __iter__(self) -> Iterator[Row]:
        """All rows in order."""
        return map(self.again, range(len(self._rows)))

    def again(self, place: int) -> Row:
        """Return one row by its index."""
        line, values = self._rows[place]
        return Row(values, self.path, line, place)


class TableRows(HeldRows):
    """Rows of a table of the package `datasets`, which leaves them on disk.

    Args:
        path: What errors name.
        table: Gives a mapping for an index and has a length.
    """

    def __init__(self, path: str, table: Any) -> None:
        super().__init__(path, table)

    def again(self, place: int) -> Row:
        """Read one row by its index."""
        values: Any = self._rows[place]
        return Row(values, self.path, place + 1, place)


def malformed(path: str, line: int | None, reason: str) -> UnreadableFileError:
    """Return the error for a line of a file, or for the whole file."""
    where = path if line is None else f"{path}, line {line}"
    return UnreadableFileError(
        f"{where}: {reason}.", path=path, line=line, reason=reason
    )


_BOM = b"\xef\xbb\xbf"
_LONGEST_FIELD = 2**31 - 1
"""Characters; the reader's own limit of 128 Ki is less than a long text."""


class JsonlRows:
    """A JSON Lines file: one object per line, blank lines skipped, UTF-8.

    Only one line is in memory at a time.

    Args:
        path: The file.

    Raises:
        UnreadableFileError: It is not there or cannot be read.
    """

    def __init__(self, path: Path) -> None:
        _check_file(path)
        self._file = path
        self.path = str(path)

    def __iter__(self) -> Iterator[Row]:
        """All rows in order; `UnreadableFileError` at the first bad line."""
        place = 0
        with self._file.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.removeprefix(_BOM).strip():
                    yield _json_row(line, self.path, number, place)
                place += len(line)

    def again(self, place: int) -> Row:
        """Read one row by the offset of its line, in bytes; its number is not known."""
        with self._file.open("rb") as file:
            file.seek(place)
            return _json_row(file.readline(), self.path, None, place)


def zip_rows(path: Path, member: str) -> HeldRows:
    """Read a JSON Lines file inside a zip file whole into memory.

    Raises:
        UnreadableFileError: The zip file is not there or damaged, or lacks the file.
        UnreadableFileError: A line is no JSON object.
    """
    _check_file(path)
    name = f"{path}/{member}"
    try:
        with zipfile.ZipFile(path) as archive:
            lines = archive.read(member).split(b"\n")
    except (KeyError, zipfile.BadZipFile) as error:
        reason = f"has no {member} that can be read ({error})"
        raise unreadable(path, reason) from error
    return HeldRows(
        name,
        [
            (number, _json_row(line, name, number, 0).values)
            for number, line in enumerate(lines, 1)
            if line.strip()
        ],
    )


def csv_rows(path: Path) -> HeldRows:
    """Read a CSV file with a heading line whole into memory, UTF-8.

    Raises:
        UnreadableFileError: It is not there, not UTF-8, or has no heading.
        UnreadableFileError: A line has more or fewer fields than the heading.
    """
    _check_file(path)
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return HeldRows(str(path), list(_csv_lines(path, file)))
    except UnicodeDecodeError as error:
        raise unreadable(path, f"is not UTF-8 ({error.reason})") from error
    finally:
        csv.field_size_limit(limit)


def _csv_lines(path: Path, file: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(file, strict=True)
    try:
        if not reader.fieldnames:
            raise unreadable(path, "is empty")
        size = len(reader.fieldnames)
        for values in reader:
            if None in values or None in values.values():
                reason = f"it does not have the {size} fields of line 1"
                raise malformed(str(path), reader.line_num, reason)
            yield reader.line_num, values
    except csv.Error as error:
        raise malformed(str(path), reader.line_num, f"no CSV: {error}") from error


def read_json(path: Path) -> Any:
    """Read a JSON file whole.

    Raises:
        UnreadableFileError: It is not there.
        UnreadableFileError: It is no JSON; the line is where it breaks off.
    """
    _check_file(path)
    try:
        return json.loads(path.read_bytes().removeprefix(_BOM))
    except json.JSONDecodeError as error:
        raise malformed(str(path), error.lineno, f"no JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise malformed(str(path), None, f"no UTF-8: {error.reason}") from error


def _json_row(line: bytes, path: str, number: int | None, place: int) -> Row:
    try:
        values = json.loads(line.removeprefix(_BOM).rstrip())
    except json.JSONDecodeError as error:
        reason = f"no JSON: {error.msg} at column {error.colno}"
        raise malformed(path, number, reason) from error
    except UnicodeDecodeError as error:
        raise malformed(path, number, f"no UTF-8: {error.reason}") from error
    if not isinstance(values, dict):
        raise malformed(path, number, f"{type(values).__name__}, not a JSON object")
    return Row(values, path, number, place)


def _check_file(path: Path) -> None:
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "is not there"
        raise unreadable(path, what)
