"""Tables of a page as rows: each value stays in its column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from oprag.files.html_pieces import LINES, PARAGRAPHS, Pieces

_PARTS = {"thead": 0, "tbody": 1, "tr": 1, "tfoot": 2}
"""Parts of a table, in the order in which they are shown."""
_BLOCKS = ("article", "h1", "h2", "h3", "h4", "h5", "h6", "section", "table")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LONGEST_CELL = 600
"""Characters of a cell, at most: a longer one of several paragraphs is layout."""
_LONGEST_OF_DATA = 5000
"""The same, in a table that says by its headings that it holds data."""
_WIDEST = 100
"""Columns or rows that one cell may span, at most, as pages write any number."""
_SPACE = re.compile(r"\s+")


def read_rows(table: Any, pieces: Pieces) -> list[str]:
    """Return the rows of a table, `| a | b |`; none if it only lays out a page.

    A cell over several columns is followed by empty ones; one over several rows is
    repeated in each.

    Args:
        table: The element.
        pieces: Tells which elements are read.
    """
    if (table.get("role") or "") in {"presentation", "none"}:
        return []
    sources = _rows_of(table)
    holds_data = _says_that_it_holds_data(table, sources)
    if not holds_data and _lays_out(table):
        return []
    rows: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    for row in sources:
        if pieces.is_unseen(row):
            continue
        rows.append(_read_row(row, below, pieces))
        if any(_is_layout(cell, holds_data=holds_data) for cell in row):
            return []
    if max(map(len, rows), default=0) < 2:  # noqa: PLR2004 -- one column is a list
        return []
    captions = [_text(each, pieces) for each in table.iterchildren("caption")]
    shown = [f"| {' | '.join(map(_escape, row))} |" for row in rows if any(row)]
    return [*filter(None, [*captions, _loose_text(table)]), *shown]


def _rows_of(table: Any) -> list[Any]:
    """Return a table's own rows, in the order in which they are shown."""
    parts = [each for each in table if each.tag in _PARTS]
    parts.sort(key=lambda part: _PARTS[part.tag])
    rows: list[Any] = []
    for part in parts:
        rows += [part] if part.tag == "tr" else part.iterchildren("tr")
    return rows


def _says_that_it_holds_data(table: Any, rows: list[Any]) -> bool:
    if (table.get("role") or "") in {"table", "grid", "treegrid"}:
        return True
    if next(table.iterchildren("caption", "thead"), None) is not None:
        return True
    first = [*rows[0].iterchildren("td", "th")] if rows else []
    headings = sum(cell.tag == "th" or _is_heading(cell) for cell in first)
    return headings > 1 or any(cell.tag == "th" for row in rows[1:] for cell in row)


def _is_heading(cell: Any) -> bool:
    """Tell whether a cell holds only a heading."""
    found = next(cell.iterchildren(*_HEADINGS), None)
    return found is not None and len(_bare(found)) == len(_bare(cell)) > 0


def _lays_out(table: Any) -> bool:
    return any(each is not table for each in table.iter(*_BLOCKS))


def _is_layout(cell: Any, *, holds_data: bool) -> bool:
    length = len(_bare(cell)) if isinstance(cell.tag, str) else 0
    if holds_data:
        return length > _LONGEST_OF_DATA
    paragraphs = sum(1 for each in cell.iter(*PARAGRAPHS)) if length else 0
    return length > _LONGEST_CELL and paragraphs != 1


def _bare(element: Any) -> str:
    return _SPACE.sub(" ", "".join(element.itertext())).strip()


def _loose_text(table: Any) -> str:
    """Return the text of a table that is in none of its cells."""
    texts: list[str] = []
    for part in (table, *table.iterchildren(*_PARTS), *_rows_of(table)):
        texts.append(part.text or "")
        texts += [each.tail or "" for each in part]
    return _SPACE.sub(" ", " ".join(texts)).strip()


def _read_row(row: Any, below: dict[int, tuple[int, str]], pieces: Pieces) -> list[str]:
    """Return the cells of a row.

    Args:
        row: The element.
        below: How many rows each cell of a column still reaches down, and its text;
            brought up to date.
        pieces: Tells which elements are read.
    """
    cells: list[str] = []
    above = {at: text for at, (left, text) in below.items() if left > 0}
    for at, text in above.items():
        below[at] = (below[at][0] - 1, text)
    for cell in row.iterchildren("td", "th"):
        _repeat(cells, above)
        is_unseen = pieces.is_unseen(cell)
        if is_unseen and "visibility" not in (cell.get("style") or ""):
            continue  # the cells after it move up
        text = "" if is_unseen else _text(cell, pieces)
        down = _span(cell, "rowspan")
        for each in [text, *[""] * (_span(cell, "colspan") - 1)]:
            below[len(cells)] = (down - 1, each)
            cells.append(each)
    _repeat(cells, above)
    return cells


def _repeat(cells: list[str], above: dict[int, str]) -> None:
    """Add the cells of rows above that reach down to here."""
    while len(cells) in above:
        cells.append(above[len(cells)])


def _text(element: Any, pieces: Pieces) -> str:
    return _SPACE.sub(" ", "".join(_read_inside(element, pieces))).strip()


def _read_inside(element: Any, pieces: Pieces) -> Iterator[str]:
    """Return the visible pieces of text in an element."""
    yield element.text or ""
    last = element.text or ""
    for child in element:
        if not isinstance(child.tag, str) or pieces.is_unseen(child):
            yield child.tail or ""
            continue
        between = " " if child.tag in PARAGRAPHS | LINES else ""
        whole = pieces.read_piece(child, last.rstrip())
        yield between
        if whole is None:
            yield from _read_inside(child, pieces)
        else:
            yield whole
        last = child.tail or whole or _bare(child)
        yield between + (child.tail or "")


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    if not value.isdecimal():
        return 1
    if int(value) == 0 and name == "rowspan":  # down to the end of the table
        return _WIDEST
    return min(max(int(value), 1), _WIDEST)
