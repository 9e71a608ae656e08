"""A PDF page as it is seen, with all of its text or without some."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from oprag.files.pdf_boxes import Box, Turn, read_page_box
from oprag.files.pdfium import import_raw_pdfium

_MOST_PIXELS = 4e6
"""Pixels of a page that is looked at, at most."""
_ONE_SHADE = 8
"""Difference of two shades of grey that nobody sees, of 255."""


class Drawing:
    """A page in shades of grey."""

    def __init__(self, page: Any, turn: Turn) -> None:
        box = read_page_box(page, turn)
        self._left, self._top = box.left, box.top
        size = max((box.right - box.left) * (box.top - box.bottom), 1.0)
        self._scale = min(1.0, (_MOST_PIXELS / size) ** 0.5)
        turned = (90 * turn.quarters - page.get_rotation()) % 360
        bitmap = page.render(scale=self._scale, rotation=turned, grayscale=True)
        self._stride, self._height = bitmap.stride, bitmap.height
        self._pixels = bytes(bitmap.buffer)
        bitmap.close()

    def is_empty(self, places: Sequence[Box]) -> bool:
        """Tell whether all is of one shade where a line of text is."""
        shades: set[int] = set()
        for row in self._rows(places):
            shades.update(row)
        return not shades or max(shades) - min(shades) <= _ONE_SHADE

    def is_like(self, other: Drawing, places: Sequence[Box]) -> bool:
        """Tell whether another drawing shows the same inside of a line of text."""
        rows = zip(self._rows(places, inside=1), other._rows(places, 1), strict=True)
        return all(
            row == its
            or all(abs(a - b) <= _ONE_SHADE for a, b in zip(row, its, strict=True))
            for row, its in rows
        )

    def _rows(self, places: Sequence[Box], inside: int = 0) -> Iterator[bytes]:
        """Yield the pixels of a place, without some at its edges if it has more."""
        left, bottom, right, top = zip(*places, strict=True)
        first = max(int((min(left) - self._left) * self._scale), 0)
        end = max(int((max(right) - self._left) * self._scale), first) + 1
        row = max(int((self._top - max(top)) * self._scale), 0)
        last = min(int((self._top - min(bottom)) * self._scale), self._height - 1)
        if end - first > 2 * inside:
            first, end = first + inside, end - inside
        if last - row >= 2 * inside:
            row, last = row + inside, last - inside
        for number in range(row, last + 1):
            start = number * self._stride
            yield self._pixels[start + first : start + min(end, self._stride)]


def draw_without(page: Any, turn: Turn, texts: Collection[Any]) -> Drawing:
    """Draw a page without some of the objects that draw its text."""
    raw = import_raw_pdfium()
    modes = [(text, raw.FPDFTextObj_GetTextRenderMode(text)) for text in texts]
    try:
        for text, _ in modes:
            raw.FPDFTextObj_SetTextRenderMode(text, raw.FPDF_TEXTRENDERMODE_INVISIBLE)
        return Drawing(page, turn)
    finally:
        for text, mode in modes:
            raw.FPDFTextObj_SetTextRenderMode(text, mode)
