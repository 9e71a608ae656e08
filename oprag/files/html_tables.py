"""Tables of a page as rows: each value stays in its column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from oprag.files.html_lists import name_power

UNSEEN = frozenset(
    (
        *("annotation", "annotation-xml", "audio", "canvas", "embed", "iframe"),
        *("noscript", "object", "script", "style", "svg", "template", "title", "video"),
    )
)
CONTROLS = frozenset(("button", "datalist", "input", "select", "textarea"))
STRUCK = frozenset(("del", "s", "strike"))
PARAGRAPHS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "details", "dialog"),
        *("div", "dl", "fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4"),
        *("h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section"),
        *("summary", "table", "ul"),
    )
)
LINES = frozenset(
    ("br", "caption", "dd", "dt", "figcaption", "li", "option", "td", "th", "tr")
)
_BLOCKS = "h1|h2|h3|h4|h5|h6|table|article|section|form|pre"
_LONGEST_CELL = 600
"""Characters of a cell; one with more holds paragraphs, and its table a layout."""
_WIDEST = 100
"""Columns or rows that one cell may have: pages write any number."""
_SPACE = re.compile(r"\s+")


def read_rows(table: Any) -> list[str]:
    """Return the rows of a table, `| a | b |`; none where it only lays out a page.

    A cell over several columns is followed by empty ones; one over several rows is
    repeated in each.
    """
    if (table.get("role") or "") in {"presentation", "none"}:
        return []
    if any(each is not table for tag in _BLOCKS.split("|") for each in table.iter(tag)):
        return []
    rows: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    for row in table.iter("tr"):
        rows.append(_read_row(row, below))
        if any(len(text) > _LONGEST_CELL for text in rows[-1]):
            return []
    if max(map(len, rows), default=0) < 2:  # noqa: PLR2004 -- one column is a list
        return []
    captions = ["".join(each.itertext()).strip() for each in table.iter("caption")]
    shown = [f"| {' | '.join(map(_escape, row))} |" for row in rows if any(row)]
    return [*filter(None, captions), *shown]


def _read_row(row: Any, below: dict[int, tuple[int, str]]) -> list[str]:
    """Return the cells of a row.

    Args:
        row: The element.
        below: How many rows each cell of a column still reaches down, and its text;
            brought up to date.
    """
    cells: list[str] = []
    above = {at: text for at, (left, text) in below.items() if left > 0}
    for at, text in above.items():
        below[at] = (below[at][0] - 1, text)
    for cell in row.iterchildren("td", "th"):
        _repeat(cells, above)
        text = _SPACE.sub(" ", "".join(_read_cell(cell))).strip()
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


def _read_cell(element: Any) -> Iterator[str]:
    """Return the pieces of text in a cell that are seen."""
    if element.tag in UNSEEN | STRUCK | CONTROLS:
        return
    if element.tag in {"sup", "sub"}:
        before = "".join(element.getparent().text or "")
        yield name_power(element, before)
        return
    yield element.text or ""
    for child in element:
        if not isinstance(child.tag, str):  # a comment
            yield child.tail or ""
            continue
        between = " " if child.tag in PARAGRAPHS | LINES else ""
        yield between
        yield from _read_cell(child)
        yield between + (child.tail or "")


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(max(int(value), 1), _WIDEST) if value.isdecimal() else 1
