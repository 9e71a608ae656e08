"""Rows of data files, each knowing where it stands, so that errors can say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from oprag.errors import MalformedDataError


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

    def error(self, reason: str) -> MalformedDataError:
        """Make the error that says what is wrong with this row."""
        return malformed(self.path, self.line, reason)

    def get(self, *names: str) -> Any:
        """Return the field of the first name that is there.

        Raises:
            MalformedDataError: None of them is.
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
            MalformedDataError: It is not there, no text, or blank.
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
            MalformedDataError: It is not there or neither.
        """
        value = self.get(*names)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(*names)

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return a field that is a list of texts.

        Raises:
            MalformedDataError: It is not there, no list, or holds something else. A
                bare text is no list.
        """
        value = self.get(*names)
        if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
            return tuple(value)
        raise self.error(f"{names[0]!r} is not a list of texts: {value!r:.80}")


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


class TableRows:
    """Rows of a table of the package `datasets`, which leaves them on disk.

    Args:
        path: What errors name.
        table: Gives a mapping for an index and has a length.
    """

    def __init__(self, path: str, table: Any) -> None:
        self.path = path
        self._table = table

    def __iter__(self) -> Iterator[Row]:
        """All rows in order, one at a time."""
        return map(self.again, range(len(self._table)))

    def again(self, place: int) -> Row:
        """Read one row by its index."""
        return Row(self._table[place], self.path, place + 1, place)


def malformed(path: str, line: int | None, reason: str) -> MalformedDataError:
    """Make the error for a line of a file, or for the whole file."""
    where = path if line is None else f"{path}, line {line}"
    return MalformedDataError(
        f"{where}: {reason}.", path=path, line=line, reason=reason
    )
