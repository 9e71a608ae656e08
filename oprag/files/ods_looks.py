"""Cells that OpenDocument sheets (.ods) hide, strike, raise or merge."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from oprag.files.equations import write_raised
from oprag.files.packed_xml import parse_xml
from oprag.files.sheet_looks import Looks
from oprag.optional import require

CONTENT = "content.xml"
"""The file that holds the sheets."""
_STYLES = "styles.xml"
_MAY_DIFFER = re.compile(
    rb"""=["'](?:collapse|filter)["']|line-through|text-position|<(?:\w+:)?(?:line-break"""
    rb"""|s|tab|text-box|custom-shape|ruby)\b|rows-spanned|string-value|:formula="""
)
"""In a workbook with cells that show something else than their values."""
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_BOXES = ("{*}text-box", "{*}custom-shape")
_UNSEEN = frozenset((f"{_OFFICE}annotation", f"{_TEXT}ruby-text"))
_GAPS = frozenset(f"{_TEXT}{name}" for name in ("line-break", "s", "tab"))
_PARTS = tuple(
    f"{_TABLE}{name}" for name in ("table", "table-column", "table-row", "shapes")
)
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_HIDDEN = frozenset(("collapse", "filter"))
_REFERENCE = re.compile(r"\[\$?\.?([^\]]*)\]")
_MOST_ROWS, _MOST_COLUMNS = 1 << 20, 1 << 14
"""Rows and columns of a sheet, at most, as files name any number."""
_MOST_STYLES = 20
"""Longest chain of styles based on one another, as files may hold a circle."""


def read_ods_looks(packed: zipfile.ZipFile) -> dict[str, Looks]:
    """Return how the sheets of a workbook look, by their names.

    Args:
        packed: The workbook, with a file `CONTENT`.

    Raises:
        MissingDependencyError: lxml is not installed.
        zipfile.BadZipFile: It is damaged. Errors of lxml mean the same.
    """
    content = packed.read(CONTENT)
    if not _MAY_DIFFER.search(content):
        return {}
    styles = _Styles()
    if _STYLES in packed.namelist():
        common = parse_xml(packed.read(_STYLES), purpose="Reading spreadsheets")
        for style in common.iter(_Styles.TAG):
            styles.add(style)
    return _read_content(content, styles)


def _read_content(content: bytes, styles: _Styles) -> dict[str, Looks]:
    etree = require("lxml.etree", extra="cli", purpose="Reading spreadsheets")
    looks = {}
    sheet = _Sheet(styles)
    for _, element in etree.iterparse(
        io.BytesIO(content),
        tag=(_Styles.TAG, *_PARTS),
        resolve_entities=False,
        huge_tree=True,
    ):
        if element.tag == _Styles.TAG:
            styles.add(element)
        elif next(element.iterancestors(*_CELLS, f"{_TABLE}shapes"), None) is not None:
            continue  # of a table in a cell or in a drawing
        elif element.tag != f"{_TABLE}table":
            sheet.read(element)
            element.clear()
        else:
            looks[element.get(f"{_TABLE}name") or ""] = sheet.looks
            sheet = _Sheet(styles)
    return looks


class _Style(NamedTuple):
    """How text looks by a style; None where the style it is based on says it."""

    based_on: str
    is_struck: bool | None
    raised: str | None
    """`super`, `sub`, or empty."""


class _Styles:
    """The styles of a workbook, by their names."""

    TAG = f"{_STYLE}style"

    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}

    def add(self, style: Any) -> None:
        struck: bool | None = None
        raised: str | None = None
        for look in style.iterchildren(f"{_STYLE}text-properties"):
            for name in ("style", "type"):
                said = look.get(f"{_STYLE}text-line-through-{name}")
                struck = struck if said is None else said != "none"
            raised = _read_position(look.get(f"{_STYLE}text-position"))
        based_on = style.get(f"{_STYLE}parent-style-name") or ""
        self._styles[style.get(f"{_STYLE}name")] = _Style(based_on, struck, raised)

    def strikes(self, name: str | None) -> bool:
        said = (each.is_struck for each in self._based_on(name))
        return next((each for each in said if each is not None), False)

    def raises(self, name: str | None) -> str:
        said = (each.raised for each in self._based_on(name))
        return next((each for each in said if each is not None), "")

    def _based_on(self, name: str | None) -> Iterator[_Style]:
        for _ in range(_MOST_STYLES):
            style = self._styles.get(name or "")
            if style is None:
                return
            yield style
            name = style.based_on


def _read_position(said: str | None) -> str | None:
    """Read `super 58%`, or how high a text is raised: `33% 58%`."""
    if not said:
        return None
    place = said.split()[0]
    if place in {"super", "sub"}:
        return place
    if not place.strip("+-0.%"):
        return ""
    return "sub" if place.startswith("-") else "super"


class _Sheet:
    """Goes through the columns and the rows of a sheet once."""

    def __init__(self, styles: _Styles) -> None:
        self._styles = styles
        self._row = self._column = 0
        self._rows: set[int] = set()
        self._columns: set[int] = set()
        self._of_columns: dict[int, str] = {}
        self._cells: dict[tuple[int, int], str] = {}
        self._merged: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._has_boxes = False

    @property
    def looks(self) -> Looks:
        return Looks(
            self._rows, self._columns, self._cells, self._has_boxes, self._merged
        )

    def read(self, element: Any) -> None:
        """Read the next column or row, or the shapes above the cells."""
        self._has_boxes |= any(map(_holds_text, element.iter(*_BOXES)))
        if element.tag == f"{_TABLE}table-column":
            self._read_column(element)
        elif element.tag == f"{_TABLE}table-row":
            self._read_row(element)

    def _read_column(self, column: Any) -> None:
        left = _MOST_COLUMNS - self._column
        count = min(_count(column, "number-columns-repeated"), left)
        numbers = range(self._column, self._column + count)
        self._column += count
        if _is_hidden(column):
            self._columns.update(numbers)
        style = column.get(f"{_TABLE}default-cell-style-name")
        if self._styles.strikes(style):
            self._of_columns.update(dict.fromkeys(numbers, style))

    def _read_row(self, row: Any) -> None:
        left = _MOST_ROWS - self._row
        count = min(_count(row, "number-rows-repeated"), left)
        numbers = range(self._row, self._row + count)
        self._row += count
        cells = [*row.iterchildren(*_CELLS)]
        if not any(map(_holds_something, cells)):
            return
        if _is_hidden(row):
            self._rows.update(numbers)
        own = row.get(f"{_TABLE}default-cell-style-name")
        at = 0
        for cell in cells:
            wide = min(_count(cell, "number-columns-repeated"), _MOST_COLUMNS - at)
            for column in range(at, at + wide) if _holds_something(cell) else ():
                self._read_cell(cell, numbers, column, own)
            at += wide

    def _read_cell(
        self, cell: Any, numbers: range, column: int, own: str | None
    ) -> None:
        style = cell.get(f"{_TABLE}style-name") or own
        seen = self._see(cell, style or self._of_columns.get(column))
        if seen is not None:
            places = ((number, column) for number in numbers)
            self._cells.update(dict.fromkeys(places, seen))
        down = _count(cell, "number-rows-spanned")
        if down > 1:
            top = numbers[0]
            self._merged.append(((top, column), (top + down - 1, column)))

    def _see(self, cell: Any, style: str | None) -> str | None:
        """Return the text that a cell shows; None if it is its value."""
        if self._styles.strikes(style):
            return ""
        paragraphs = [*cell.iterchildren(f"{_TEXT}p")]
        kind = cell.get(f"{_OFFICE}value-type")
        if not paragraphs and kind is None:
            formula = cell.get(f"{_TABLE}formula") or ""
            return _write_formula(formula) if formula else None
        is_plain = cell.get(f"{_OFFICE}string-value") is None and not any(
            map(len, paragraphs)
        )
        if kind != "string" or is_plain:
            return None
        return "\n".join(self._read(paragraph, "") for paragraph in paragraphs)

    def _read(self, element: Any, before: str) -> str:
        """Return the visible text in an element.

        Args:
            element: The element.
            before: The text before it.
        """
        seen = element.text or ""
        for child in element:
            style = child.get(f"{_TEXT}style-name")
            if child.tag in _GAPS:
                seen += " "
            elif child.tag not in _UNSEEN and not self._styles.strikes(style):
                raised = self._styles.raises(style)
                inner = self._read(child, before + seen)
                seen += write_raised(inner, raised, before + seen) if raised else inner
            seen += child.tail or ""
        return seen


def _count(element: Any, name: str) -> int:
    value = element.get(f"{_TABLE}{name}") or "1"
    return int(value) if value.isdecimal() else 1


def _holds_something(cell: Any) -> bool:
    own = (f"{_OFFICE}value-type", f"{_TABLE}formula")
    return len(cell) > 0 or any(map(cell.get, own))


def _is_hidden(element: Any) -> bool:
    """Tell whether a row or a column is hidden, and not only folded."""
    if element.get(f"{_TABLE}visibility") not in _HIDDEN:
        return False
    groups = (f"{_TABLE}table-row-group", f"{_TABLE}table-column-group")
    outer = element.iterancestors(*groups)
    return all(group.get(f"{_TABLE}display") != "false" for group in outer)


def _holds_text(element: Any) -> bool:
    return any("".join(each.itertext()).strip() for each in element.iter(f"{_TEXT}p"))


def _write_formula(formula: str) -> str:
    """Write a formula as it is shown: `=SUM(A1:A2)`, stored as `of:=SUM([.A1:.A2])`."""
    shown = formula[formula.find("=") :]
    return _REFERENCE.sub(lambda match: match[1].replace(":.", ":"), shown)
