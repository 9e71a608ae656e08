"""Slides of PowerPoint: titles, text, tables and notes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from oprag.files.bodies import Body, as_row, damaged, with_headings
from oprag.optional import require


def read_slides(data: bytes) -> list[Body]:
    """Read a presentation (.pptx), slide by slide, without those that are hidden.

    Raises:
        MissingDependencyError: python-pptx is not installed.
        NoTextError: It is damaged or locked.
    """
    library = require("pptx", extra="cli", purpose="Reading slides")
    try:
        slides = library.Presentation(io.BytesIO(data)).slides
        read = [
            (number, slide.element.get("show") == "0", "\n".join(_lines(slide)))
            for number, slide in enumerate(slides, 1)
        ]
    except Exception as error:  # a damaged file makes the library raise anything
        raise damaged("a presentation", error) from error
    hidden = [str(number) for number, is_hidden, _ in read if is_hidden]
    are = "is" if len(hidden) == 1 else "are"
    notice = f"{len(hidden)} of {len(read)} slides {are} hidden ({', '.join(hidden)})"
    bodies = [
        with_headings(text, f"slide {number}")
        for number, is_hidden, text in read
        if text.strip() and not is_hidden
    ]
    if hidden and bodies:
        bodies[0] = bodies[0]._replace(notice=notice)
    return bodies


def _lines(slide: Any) -> Iterator[str]:
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        yield f"# {' '.join(title.text_frame.text.split())}\n"
    for shape in _shapes(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape_lines(shape)
    if slide.has_notes_slide:
        notes = slide.notes_slide.notes_text_frame
        if notes is not None and notes.text.strip():
            yield f"\nNotes: {notes.text.strip()}"


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):  # a group
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _shape_lines(shape: Any) -> Iterator[str]:
    if getattr(shape, "has_table", False):
        yield ""
        for row in shape.table.rows:
            yield as_row([cell.text_frame.text for cell in row.cells])
        yield ""
    elif getattr(shape, "has_chart", False):
        yield from _chart_lines(shape.chart)
    elif shape.has_text_frame:
        for paragraph in shape.text_frame.paragraphs:
            if text := paragraph.text.replace("\v", "\n").strip():
                yield text


def _chart_lines(chart: Any) -> Iterator[str]:
    plot = chart.plots[0]
    names = [str(each) for each in plot.categories]
    yield ""
    yield as_row(["", *names])
    for series in plot.series:
        values = ["" if each is None else f"{each:g}" for each in series.values]
        yield as_row([series.name or "", *values])
    yield ""
