"""Places of a PDF's text on its pages: rectangles, and marks on an image.

The spans are of the page's text as `pdf_pages` gives it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from ctypes import c_double
from typing import NamedTuple

from oprag.chunk import Span
from oprag.files.pdf import OpenPage, open_page, open_pdf
from oprag.files.pdfium import import_raw_pdfium
from oprag.files.worker import within_limits

_COLOUR = (255, 214, 0)
"""Colour of a highlight: red, green, blue."""

_SAME_LINE = 0.5
"""Points between the base lines of two characters of one line, at most."""


class Rectangle(NamedTuple):
    """A part of a page, in points from its lower left corner, before it is turned."""

    left: float
    bottom: float
    right: float
    top: float


def pdf_page_image(
    data: bytes, page: int, spans: Sequence[Span] = (), *, width: int = 900
) -> bytes:
    """Draw a page with characters of it marked, as a viewer shows it.

    Args:
        data: The PDF.
        page: Its number, counted from 0.
        spans: Which characters of the page's text are marked.
        width: In pixels; the height follows from the page's proportions.

    Returns:
        A PNG file.

    Raises:
        MissingDependencyError: pypdfium2 is not installed.
        NoTextError: It is damaged or locked.
        IndexError: There is no such page.
    """
    return within_limits(len(data), _page_image, data, page, spans, width)


def _page_image(data: bytes, page: int, spans: Sequence[Span], width: int) -> bytes:
    with open_pdf(data) as document, open_page(document, page) as opened:
        _highlight(opened, spans)
        # PDFium rounds up, and may be given a little more than was meant.
        scale = (width - 0.5) / opened.page.get_width()
        bitmap = opened.page.render(scale=scale, rev_byteorder=True)
        written = io.BytesIO()
        try:
            bitmap.to_pil().save(written, "PNG")
        finally:
            bitmap.close()
        return written.getvalue()


def lines_of(opened: OpenPage, span: Span) -> list[Rectangle]:
    """Return the rectangles of a span, one for each stretch on one line.

    Raised or lowered text, such as the mark of a note, counts as a separate line: one
    rectangle around both would reach into the next line.
    """
    lines: list[Rectangle] = []
    line: tuple[float, float] | None = None
    for index in range(*slice(*span).indices(len(opened.text))):
        character, found = opened.text[index], opened.indices[index]
        if character == "\n":
            line = None
        if character.isspace():
            continue
        start = _origin(opened, found)
        box = Rectangle(*opened.characters.get_charbox(found))
        if line and min(abs(start[0] - line[0]), abs(start[1] - line[1])) < _SAME_LINE:
            lines[-1] = _around([lines[-1], box])
        else:
            lines.append(box)
        line = start
    return lines


def _origin(opened: OpenPage, index: int) -> tuple[float, float]:
    """Return the point on its line where a character begins."""
    x, y = c_double(), c_double()
    import_raw_pdfium().FPDFText_GetCharOrigin(opened.characters, index, x, y)
    return x.value, y.value


def _around(boxes: Sequence[Rectangle]) -> Rectangle:
    left, bottom, right, top = zip(*boxes, strict=True)
    return Rectangle(min(left), min(bottom), max(right), max(top))


def _highlight(opened: OpenPage, spans: Sequence[Span]) -> None:
    """Add one annotation for each span to a page."""
    raw = import_raw_pdfium()
    for span in spans:
        lines = lines_of(opened, span)
        if not lines:
            continue
        annotation = raw.FPDFPage_CreateAnnot(opened.page, raw.FPDF_ANNOT_HIGHLIGHT)
        left, bottom, right, top = _around(lines)
        raw.FPDFAnnot_SetRect(annotation, raw.FS_RECTF(left, top, right, bottom))
        raw.FPDFAnnot_SetColor(annotation, raw.FPDFANNOT_COLORTYPE_Color, *_COLOUR, 255)
        raw.FPDFAnnot_SetFlags(annotation, raw.FPDF_ANNOT_FLAG_PRINT)
        for each in lines:
            corners = raw.FS_QUADPOINTSF(
                *(each.left, each.top, each.right, each.top),
                *(each.left, each.bottom, each.right, each.bottom),
            )
            raw.FPDFAnnot_AppendAttachmentPoints(annotation, corners)
        raw.FPDFPage_CloseAnnot(annotation)
