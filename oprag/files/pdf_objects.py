"""What is drawn on a PDF page: texts, shapes and the rest, in the order of drawing."""

from __future__ import annotations

from ctypes import byref, c_float, c_int, sizeof
from functools import cached_property
from typing import Any, NamedTuple

from oprag.files.pdf_boxes import Box, Turn
from oprag.files.pdfium import import_raw_pdfium


class Drawn(NamedTuple):
    """An object of a page."""

    number: int
    """In the order of drawing, from 0."""
    handle: Any
    """PDFium's object."""


class Look(NamedTuple):
    """How a shape is drawn."""

    is_filled: bool
    has_outline: bool


class Kinds(NamedTuple):
    """The objects of a page by their kinds."""

    texts: list[Drawn]
    """What draws text, outside of forms."""
    shapes: list[Drawn]
    """Lines and areas, outside of forms."""
    others: list[Drawn]
    """What may hold a picture: forms too."""
    holds_forms: bool


class PageObjects:
    """The objects of a page, read once, when something first asks for them.

    Args:
        page: PDFium's page.
        turn: How it is turned.
    """

    def __init__(self, page: Any, turn: Turn) -> None:
        self.turn = turn
        self.count: int = import_raw_pdfium().FPDFPage_CountObjects(page)
        self._page = page
        self._known: dict[int, Box] = {}
        self._edges = (c_float * len(Box._fields))()
        self._given = [
            byref(c_float.from_buffer(self._edges, at * sizeof(c_float)))
            for at in range(len(Box._fields))
        ]

    def edges_of(self, drawn: Drawn) -> Box:
        """Return the place of an object before the page is turned."""
        found = self._known.get(drawn.number)
        if found is None:
            import_raw_pdfium().FPDFPageObj_GetBounds(drawn.handle, *self._given)
            found = self._known[drawn.number] = Box(*self._edges)
        return found

    def place_of(self, drawn: Drawn) -> Box:
        """Return the place of an object."""
        return self.turn.place(*self.edges_of(drawn))

    @cached_property
    def kinds(self) -> Kinds:
        """The objects by their kinds."""
        raw = import_raw_pdfium()
        read, kind_of = raw.FPDFPage_GetObject, raw.FPDFPageObj_GetType
        text, shape, form = (
            raw.FPDF_PAGEOBJ_TEXT,
            raw.FPDF_PAGEOBJ_PATH,
            raw.FPDF_PAGEOBJ_FORM,
        )
        texts: list[Drawn] = []
        shapes: list[Drawn] = []
        others: list[Drawn] = []
        holds_forms = False
        page = self._page.raw
        for number in range(self.count):
            handle = read(page, number)
            kind = kind_of(handle)
            if kind == text:
                texts.append(Drawn(number, handle))
            elif kind == shape:
                shapes.append(Drawn(number, handle))
            else:
                others.append(Drawn(number, handle))
                holds_forms = holds_forms or kind == form
        return Kinds(texts, shapes, others, holds_forms)


def look_at(shape: Drawn) -> Look:
    """Return how a shape is drawn."""
    fill, stroke = c_int(), c_int()
    import_raw_pdfium().FPDFPath_GetDrawMode(shape.handle, byref(fill), byref(stroke))
    return Look(bool(fill.value), bool(stroke.value))
