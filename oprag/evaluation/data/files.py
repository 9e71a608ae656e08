"""JSON Lines, CSV and text files, read line by line with their line numbers."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from oprag.errors import UnreadableFileError
from oprag.evaluation.data.rows import HeldRows, Row, malformed

_BOM = b"\xef\xbb\xbf"
_OTHER_SEPARATORS = {";": "';'", "\t": "tabs"}
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
        """All rows in order; `MalformedDataError` at the first bad line."""
        place = 0
        with self._file.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.removeprefix(_BOM).strip():
                    yield _row(line, self.path, number, place)
                place += len(line)

    def again(self, place: int) -> Row:
        """Read one row by the offset of its line, in bytes; its number is not known."""
        with self._file.open("rb") as file:
            file.seek(place)
            return _row(file.readline(), self.path, None, place)


def zip_rows(path: Path, member: str) -> HeldRows:
    """Read a JSON Lines file inside a zip file whole into memory.

    Raises:
        UnreadableFileError: The zip file is not there or damaged, or lacks the file.
        MalformedDataError: A line is no JSON object.
    """
    _check_file(path)
    name = f"{path}/{member}"
    try:
        with zipfile.ZipFile(path) as archive:
            lines = archive.read(member).split(b"\n")
    except (KeyError, zipfile.BadZipFile) as error:
        reason = f"has no {member} that can be read ({error})"
        raise _unreadable(path, reason) from error
    return HeldRows(
        name,
        [
            (number, _row(line, name, number, 0).values)
            for number, line in enumerate(lines, 1)
            if line.strip()
        ],
    )


def csv_rows(path: Path) -> HeldRows:
    """Read a CSV file with a heading line whole into memory, UTF-8.

    Raises:
        UnreadableFileError: It is not there, not UTF-8, or has no heading.
        MalformedDataError: A line has more or fewer fields than the heading, or the
            fields seem to be separated by something else than commas.
    """
    _check_file(path)
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return HeldRows(str(path), list(_csv_lines(path, file)))
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"is not UTF-8 ({error.reason})") from error
    finally:
        csv.field_size_limit(limit)


def _csv_lines(path: Path, file: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(file, strict=True)
    try:
        if not reader.fieldnames:
            raise _unreadable(path, "is empty")
        size = len(reader.fieldnames)
        for mark, called in _OTHER_SEPARATORS.items():
            if size == 1 and mark in reader.fieldnames[0]:
                reason = f"its fields seem to be separated by {called}, not by commas"
                raise malformed(str(path), 1, reason)
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
        MalformedDataError: It is no JSON; the line is where it breaks off.
    """
    _check_file(path)
    try:
        return json.loads(path.read_bytes().removeprefix(_BOM))
    except json.JSONDecodeError as error:
        raise malformed(str(path), error.lineno, f"no JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise malformed(str(path), None, f"no UTF-8: {error.reason}") from error


def read_text(path: Path) -> str:
    """Read a text file: UTF-8, line ends as they are.

    Raises:
        UnreadableFileError: It is not there or not UTF-8.
    """
    _check_file(path)
    try:
        return path.read_bytes().removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"is not UTF-8 ({error.reason})") from error


def _row(line: bytes, path: str, number: int | None, place: int) -> Row:
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
        raise _unreadable(path, what)


def _unreadable(path: Path, reason: str) -> UnreadableFileError:
    return UnreadableFileError(
        f"{str(path)!r} {reason}.", path=str(path), reason=reason
    )
