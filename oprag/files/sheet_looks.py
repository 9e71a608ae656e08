"""Cells that Excel (.xlsx) hides, strikes or raises, which values do not show."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oprag.files.equations import write_raised
from oprag.files.packed_xml import parse_xml
from oprag.optional import require

_ANY = "{*}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
BOOK = "xl/workbook.xml"
"""The file that lists the sheets."""
_STYLES, _STRINGS = "xl/styles.xml", "xl/sharedStrings.xml"
_MAY_DIFFER = re.compile(
    rb'\bhidden="(?:1|true)"|\bwidth="0"|\bht="0"|\bt="e"'
    rb"|<(?:\w+:)?(?:strike|vertAlign)\b"
    rb"|</(?:\w+:)?f>\s*(?:</(?:\w+:)?c>|<(?:\w+:)?v(?:\s*/>|></))"
)
"""In a sheet that hides rows, or has cells that show something else than a value."""
_DRAWING = re.compile(rb'\bTarget="([^"]*/drawing\d*\.xml)"')
_BOX = re.compile(rb"</?(?:\w+:)?txBody\b")
_BOXED = re.compile(rb"<(?:\w+:)?t>\s*[^<\s]")
_INSTEAD = re.compile(rb"</?(?:\w+:)?Fallback\b")
"""Around shapes for programs that cannot show the real ones."""
_COLUMN = re.compile(r"[A-Z]+")
_LETTERS = 26
_LAST_COLUMN = 16_384
_ON = frozenset(("1", "true"))
_RAISED = {"superscript": "super", "subscript": "sub"}


class Looks(NamedTuple):
    """How the cells of a sheet look; rows and columns are counted from 0."""

    rows: Container[int] = ()
    """The hidden rows, without those that are only folded."""
    columns: Container[int] = ()
    cells: Mapping[tuple[int, int], str] = {}
    """The text that cells show in the place of their values: none if it is struck,
    `10^6` if the 6 is raised."""
    has_boxes: bool = False
    """Whether text is in boxes above the cells, where it is not read."""
    merged: Sequence[tuple[tuple[int, int], tuple[int, int]]] = ()
    """The first and the last row and column of each merged cell, where the library
    that reads the values does not know them."""


def read_xlsx_looks(packed: zipfile.ZipFile) -> dict[str, Looks]:
    """Return how the sheets of a workbook look, by their names.

    Args:
        packed: The workbook, with a file `BOOK`.

    Raises:
        MissingDependencyError: lxml is not installed.
        zipfile.BadZipFile: It is damaged. Errors of lxml mean the same.
    """
    names = {*packed.namelist()}
    struck = _struck_styles(packed) if _STYLES in names else set()
    strings = _rich_strings(packed) if _STRINGS in names else {}
    looks = {}
    for name, path in _sheets(packed):
        sheet = packed.read(path) if path in names else b""
        if struck or strings or _MAY_DIFFER.search(sheet):
            looks[name] = _read_sheet(sheet, struck, strings)
        if any(_has_box(packed.read(each)) for each in _drawings(packed, path)):
            looks[name] = looks.get(name, Looks())._replace(has_boxes=True)
    return looks


def _parse(packed: zipfile.ZipFile, path: str) -> Any:
    return parse_xml(packed.read(path), purpose="Reading spreadsheets")


def _sheets(packed: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Return the name and the file of each sheet."""
    links = _parse(packed, "xl/_rels/workbook.xml.rels")
    files = {link.get("Id"): link.get("Target") or "" for link in links}
    for sheet in _parse(packed, BOOK).iter(f"{_ANY}sheet"):
        target = files.get(sheet.get(_LINK), "")
        path = posixpath.normpath(posixpath.join("/xl", target))
        yield sheet.get("name") or "", path.lstrip("/")


def _drawings(packed: zipfile.ZipFile, path: str) -> Iterator[str]:
    """Return the files with the drawings of a sheet."""
    names = {*packed.namelist()}
    folder, name = posixpath.split(path)
    links = f"{folder}/_rels/{name}.rels"
    found = _DRAWING.findall(packed.read(links)) if links in names else []
    for target in found:
        full = posixpath.join("/", folder, target.decode("utf-8", "replace"))
        drawing = posixpath.normpath(full).lstrip("/")
        if drawing in names:
            yield drawing


def _has_box(drawing: bytes) -> bool:
    """Tell whether text is in a drawing; text of charts stands elsewhere."""
    shown = b"".join(_INSTEAD.split(drawing)[::2])
    return any(_BOXED.search(box) for box in _BOX.split(shown)[1::2])


def _struck_styles(packed: zipfile.ZipFile) -> set[str]:
    data = packed.read(_STYLES)
    if b"strike" not in data:
        return set()
    root = parse_xml(data, purpose="Reading spreadsheets")
    fonts = root.find(f"{_ANY}fonts")
    struck = {str(at) for at, font in enumerate(fonts) if _is_struck(font)}
    styles = root.find(f"{_ANY}cellXfs")
    return {str(at) for at, style in enumerate(styles) if style.get("fontId") in struck}


def _is_struck(look: Any) -> bool:
    found = None if look is None else look.find(f"{_ANY}strike")
    return found is not None and (found.get("val") or "1") in _ON


def _rich_strings(packed: zipfile.ZipFile) -> dict[str, str]:
    """Return the texts in which something is struck or raised, by their numbers."""
    data = packed.read(_STRINGS)
    if b"strike" not in data and b"vertAlign" not in data:
        return {}
    root = parse_xml(data, purpose="Reading spreadsheets")
    texts = enumerate(root.iterchildren(f"{_ANY}si"))
    seen = ((str(at), _seen(text)) for at, text in texts)
    return {at: text for at, text in seen if text is not None}


def _seen(text: Any) -> str | None:
    """Return the text that is seen of several runs; None if it has none."""
    if text.find(f"{_ANY}r") is None:
        return None
    seen = ""
    for run in text.iterchildren(f"{_ANY}r"):
        look = run.find(f"{_ANY}rPr")
        written = "".join(each.text or "" for each in run.iterchildren(f"{_ANY}t"))
        align = None if look is None else look.find(f"{_ANY}vertAlign")
        raised = "" if align is None else _RAISED.get(align.get("val") or "", "")
        if not _is_struck(look):
            seen += write_raised(written, raised, seen) if raised else written
    return seen


def _read_sheet(
    data: bytes, struck: Container[str], strings: Mapping[str, str]
) -> Looks:
    etree = require("lxml.etree", extra="cli", purpose="Reading spreadsheets")
    rows: set[int] = set()
    columns: set[int] = set()
    cells: dict[tuple[int, int], str] = {}
    tags = (f"{_ANY}col", f"{_ANY}row")
    number = -1
    for _, element in etree.iterparse(
        io.BytesIO(data), tag=tags, resolve_entities=False, huge_tree=True
    ):
        if element.tag.endswith("}col"):
            first, last = element.get("min") or "1", element.get("max") or "1"
            hidden = range(int(first) - 1, min(int(last), _LAST_COLUMN))
            columns.update(hidden if _is_hidden(element) else ())
            continue
        number = int(element.get("r") or number + 2) - 1
        if _is_hidden(element):
            rows.add(number)
        for at, cell in enumerate(element):
            seen = "" if cell.get("s") in struck else _other_text(cell, strings)
            if seen is not None:
                cells[number, _column(cell.get("r"), at)] = seen
        element.clear()
    return Looks(rows, columns, cells)


def _other_text(cell: Any, strings: Mapping[str, str]) -> str | None:
    """Return the text that a cell shows; None if it is its value."""
    value = cell.findtext(f"{_ANY}v") or ""
    formula = cell.find(f"{_ANY}f")
    if formula is not None and not value and cell.get("t") != "str":
        # It was never computed. If it is shared, only its first cell has its text.
        return f"={formula.text}" if formula.text else None
    if cell.get("t") == "e":
        return value
    if cell.get("t") == "inlineStr":
        text = cell.find(f"{_ANY}is")
        return None if text is None else _seen(text)
    return strings.get(value) if cell.get("t") == "s" else None


def _is_hidden(element: Any) -> bool:
    if (element.get("outlineLevel") or "0") != "0":  # folded: it can be unfolded
        return False
    is_flat = (element.get("width") or element.get("ht")) == "0"
    return is_flat or element.get("hidden") in _ON


def _column(name: str | None, at: int) -> int:
    """Return the number of the column of a cell such as `AB12`."""
    found = _COLUMN.match(name or "")
    if found is None:
        return at
    number = 0
    for letter in found[0]:
        number = number * _LETTERS + ord(letter) - ord("A") + 1
    return number - 1
