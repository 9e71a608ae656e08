"""Slides of PowerPoint: titles, text, tables, charts, diagrams and notes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from oprag.files.bodies import Body, as_row, damaged, with_headings
from oprag.files.chart_points import read_points
from oprag.files.equations import OFFICE, write_office_math, write_raised
from oprag.files.html_lists import write_number
from oprag.files.packed_xml import parse_xml
from oprag.optional import require
from oprag.splitting import Heading

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_NUMBERS = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_ENDS = {"Period": "{}.", "ParenBoth": "({})", "ParenR": "{})"}
_STRUCK = frozenset(("sngStrike", "dblStrike"))


def read_slides(data: bytes) -> list[Body]:
    """Read a presentation (.pptx), slide by slide, without those that are hidden.

    Raises:
        MissingDependencyError: python-pptx is not installed.
        NoTextError: It is damaged or locked.
    """
    library = require("pptx", extra="cli", purpose="Reading slides")
    try:
        made = library.Presentation(io.BytesIO(data))
        size = made.slide_width, made.slide_height
        read = [
            (slide.element.get("show") == "0", _read_slide(slide, f"slide {at}", size))
            for at, slide in enumerate(made.slides, 1)
        ]
    except Exception as error:  # a damaged file makes the library raise anything
        raise damaged("a presentation") from error
    hidden = [str(at) for at, (is_hidden, _) in enumerate(read, 1) if is_hidden]
    are = "is" if len(hidden) == 1 else "are"
    notice = f"{len(hidden)} of {len(read)} slides {are} hidden ({', '.join(hidden)})"
    bodies = [body for is_hidden, body in read if body.text.strip() and not is_hidden]
    if hidden and bodies:
        bodies[0] = bodies[0]._replace(notice=notice)
    return bodies


def _read_slide(slide: Any, name: str, size: tuple[int, int]) -> Body:
    _choose(slide.element)
    title = slide.shapes.title
    written = "" if title is None else " ".join(_texts(title.text_frame))
    written = " ".join(written.split())
    marked = [f"# {written}\n"] if written else []
    text = "\n".join([*marked, *_lines(slide, title, size)])
    headings = [Heading(len("# "), written, 1)] if written else []
    return with_headings(text, headings, name=name)


def _lines(slide: Any, title: Any, size: tuple[int, int]) -> Iterator[str]:
    """Return the lines of a slide below its title."""
    for shape in slide.shapes:
        is_title = title is not None and shape.shape_id == title.shape_id
        if not is_title and _is_on_slide(shape, size):
            yield from _shape_lines(shape)
    if slide.has_notes_slide:
        notes = slide.notes_slide.notes_text_frame
        said = "" if notes is None else "\n".join(_texts(notes))
        if said:
            yield f"\nNotes: {said}"


def _choose(slide: Any) -> None:
    """Keep the form that PowerPoint shows of each element that has two."""
    for element in [*slide.iter(f"{_MC}AlternateContent")]:
        chosen = element.find(f"{_MC}Choice")
        parent = element.getparent()
        at = parent.index(element)
        parent[at : at + 1] = [] if chosen is None else [*chosen]


def _is_on_slide(shape: Any, size: tuple[int, int]) -> bool:
    """Tell whether any part of a shape is visible."""
    if shape.is_placeholder:  # its place is in its layout, which takes long to read
        return True
    place = shape.left, shape.top, shape.width, shape.height
    if None in place:
        return True
    left, top, width, height = place
    is_inside = left < size[0] and top < size[1]
    return bool(is_inside and left + width >= 0 and top + height >= 0)


def _is_hidden(shape: Any) -> bool:
    for element in shape._element.iterdescendants("{*}cNvPr"):  # noqa: SLF001 -- not in its API
        return element.get("hidden") in {"1", "true"}
    return False


def _shape_lines(shape: Any) -> Iterator[str]:
    if _is_hidden(shape):
        return
    if hasattr(shape, "shapes"):  # a group
        for each in shape.shapes:
            yield from _shape_lines(each)
    elif getattr(shape, "has_table", False):
        yield ""
        yield from _table_lines(shape.table)
        yield ""
    elif getattr(shape, "has_chart", False):
        yield from _chart_lines(shape.chart)
    elif shape.has_text_frame:
        yield from _texts(shape.text_frame)
    else:
        yield from _diagram_lines(shape)


def _texts(frame: Any) -> Iterator[str]:
    counts: dict[int, tuple[str, int]] = {}
    for paragraph in frame.paragraphs:
        text = _paragraph_text(paragraph._p).strip()  # noqa: SLF001 -- not all are runs
        if text:
            yield _take_number(paragraph, counts) + text


def _take_number(paragraph: Any, counts: dict[int, tuple[str, int]]) -> str:
    """Return the number shown before a paragraph; empty if it has none.

    Args:
        paragraph: The paragraph.
        counts: How the last paragraph of each level was numbered; brought up to date.
    """
    numbers = next(paragraph._p.iter(f"{_A}buAutoNum"), None)  # noqa: SLF001 -- as above
    for level in [each for each in counts if each > paragraph.level]:
        del counts[level]
    if numbers is None:
        counts.pop(paragraph.level, None)
        return ""
    kind = numbers.get("type") or ""
    last = counts.get(paragraph.level)
    number = int(numbers.get("startAt") or 1)
    if last is not None and last[0] == kind:
        number = last[1] + 1
    counts[paragraph.level] = kind, number
    shape = next((_NUMBERS[name] for name in _NUMBERS if kind.startswith(name)), "1")
    end = next((_ENDS[name] for name in _ENDS if kind.endswith(name)), "{}")
    return f"{end.format(write_number(number, shape))} "


def _paragraph_text(paragraph: Any) -> str:
    """Return the visible text of a paragraph, without struck text."""
    text = ""
    for look, pieces in groupby(paragraph, key=_look):
        written = "".join(map(_piece_text, pieces))
        if look == "struck":
            continue
        text += write_raised(written, look, text) if look else written
    return text


def _look(piece: Any) -> str:
    properties = piece.find(f"{_A}rPr")
    if properties is None:
        return ""
    if properties.get("strike") in _STRUCK:
        return "struck"
    baseline = properties.get("baseline") or "0"
    if not baseline.strip("0%"):
        return ""
    return "sub" if baseline.startswith("-") else "super"


def _piece_text(piece: Any) -> str:
    if piece.tag == f"{_A}br":
        return "\n"
    equation = next(piece.iter(f"{OFFICE}oMath"), None)
    if equation is not None:
        return write_office_math(equation)
    return "".join(each.text or "" for each in piece.iterchildren(f"{_A}t"))


def _table_lines(table: Any) -> Iterator[str]:
    """Return the rows of a table; a cell over several rows is in each."""
    above: list[str] = []
    for row in table.rows:
        cells: list[str] = []
        for at, cell in enumerate(row.cells):
            reaches_down = cell._tc.vMerge and at < len(above)  # noqa: SLF001
            own = " ".join(_texts(cell.text_frame))
            cells.append(above[at] if reaches_down else own)
        above = cells
        yield as_row(cells)


def _chart_lines(chart: Any) -> Iterator[str]:
    yield ""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield from _texts(chart.chart_title.text_frame)
    before: list[str] = []
    # Its library refuses kinds of charts; the values of all are written alike.
    for series in chart.element.iter(f"{_C}ser"):
        name, across, values = (
            read_points(series, tags)
            for tags in (("tx",), ("cat", "xVal"), ("val", "yVal"))
        )
        if across and across != before:
            yield as_row(["", *across])
            before = across
        yield as_row([" ".join(name), *values])
    yield ""


def _diagram_lines(shape: Any) -> Iterator[str]:
    """Return the texts of a diagram (SmartArt), which are stored beside the slide."""
    element = shape._element  # noqa: SLF001 -- its API has no diagrams
    found = next(element.iter(f"{_DIAGRAM}relIds"), None)
    key = None if found is None else found.get(f"{_LINK}dm")
    if key is None or key not in shape.part.rels:
        return
    diagram = parse_xml(shape.part.related_part(key).blob, purpose="Reading slides")
    for point in diagram.iter(f"{_DIAGRAM}pt"):
        text = "".join(each.text or "" for each in point.iter(f"{_A}t"))
        if text.strip():
            yield text.strip()
