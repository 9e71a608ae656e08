"""The row that names the columns of a table, in sheets and CSV with several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from oprag.files.bodies import as_row
from oprag.splitting import name_columns

_MISSING = frozenset(("n/a", "na", "nan", "none", "null", "#n/a"))
"""Words that stand for a value that is not known: nothing is known of its kind."""


class _Table(NamedTuple):
    columns: str
    """Its names; empty if they are unknown."""
    width: int = 0
    first: Sequence[str] = ()
    """The values of the first row below the names."""


def head_rows(rows: Iterable[Sequence[str]]) -> Iterator[str | None]:
    """Return for each row the names of its columns.

    The first row of several values names the columns of those below. A blank row may
    end a table: the next names new columns if all of its values are words, and it is
    wider, above a number, or below one that the first row of the table has. If it only
    begins with a word where that row has a number, or is wider, then the names of the
    columns below are unknown. A row that stands alone, such as a sum, is part of the
    table above. Between the blank row and these may be titles, rows of one value.

    Args:
        rows: Their values, in order; none in a blank row.

    Yields:
        The names for each row, also for one that names them: None until the first
        has, empty if they are unknown, or the row is blank or a title.
    """
    table: _Table | None = None
    is_apart = is_titled = False
    for row, below in pairwise(chain(rows, [()])):
        count = sum(map(bool, row))
        is_title = is_apart and count == 1
        is_block = is_apart and count > 1 and (is_titled or any(below))
        if table is None:
            yield None
            table = _begin(row, below) if count > 1 else None
        elif count == 0 or is_title:
            yield ""
        else:
            if is_block and not _goes_on(table, row, below):
                table = _begin(row, below) if _are_words(row) else _Table("")
            yield table.columns
        is_apart, is_titled = count == 0 or is_title, is_title


def _begin(row: Sequence[str], below: Sequence[str]) -> _Table:
    return _Table(name_columns("", as_row(row)), _width(row), below)


def _goes_on(table: _Table, row: Sequence[str], below: Sequence[str]) -> bool:
    """Tell whether a row after a blank one belongs to the table above."""
    words = _words(row)
    alien = words & _numbers(table.first)
    if _are_words(row) and (alien or words & _numbers(below)):
        return False
    return _width(row) <= table.width and 0 not in alien


def _are_words(row: Sequence[str]) -> bool:
    return not _numbers(row) and len(_words(row)) > 1


def _width(row: Sequence[str]) -> int:
    return max((at + 1 for at, value in enumerate(row) if value), default=0)


def _numbers(row: Sequence[str]) -> set[int]:
    return {at for at, value in enumerate(row) if _first(value).isdigit()}


def _words(row: Sequence[str]) -> set[int]:
    found = {at for at, value in enumerate(row) if _first(value).isalpha()}
    return {at for at in found if row[at].strip().lower() not in _MISSING}


def _first(value: str) -> str:
    """Return the first letter or digit of a value, by which `$5` is a number."""
    return next(filter(str.isalnum, value), "")
