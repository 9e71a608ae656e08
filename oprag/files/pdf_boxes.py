"""The places of the characters of a PDF page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double
from typing import Any, NamedTuple

from oprag.files.pdfium import import_raw_pdfium

_WORD = re.compile(r"\S+")


class Box(NamedTuple):
    """The place of a character, in points from the lower left corner."""

    left: float
    bottom: float
    right: float
    top: float


class Word(NamedTuple):
    """Characters `[start, end)` of a text without a blank, and their place."""

    start: int
    end: int
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        """Points from the lowest to the highest."""
        return self.top - self.bottom


class Boxes:
    """The places of characters, looked up one by one because this takes long."""

    def __init__(self, characters: Any) -> None:
        self._characters = characters
        self._known: dict[int, Box] = {}
        self._ask = import_raw_pdfium().FPDFText_GetCharBox
        self._edges = [c_double() for _ in Box._fields]
        self._given = [byref(edge) for edge in self._edges]

    def of(self, index: int) -> Box:
        """Return the box of a character by its number on the page."""
        found = self._known.get(index)
        if found is None:
            self._ask(self._characters, index, *self._given)
            left, right, bottom, top = self._edges
            found = Box(left.value, bottom.value, right.value, top.value)
            self._known[index] = found
        return found

    def find_words(
        self, text: str, indices: Sequence[int], start: int = 0, end: int | None = None
    ) -> Iterator[Word]:
        """Yield the words of a text with their places.

        Args:
            text: The text of the page.
            indices: For each of its characters, its number on the page.
            start: The first character to look at.
            end: One past the last; None for the end of the text.
        """
        end = len(text) if end is None else end
        for match in _WORD.finditer(text, start, end):
            first, past = match.span()
            yield self._place_word(first, past, indices[first], indices[past - 1])

    def _place_word(self, start: int, end: int, first: int, last: int) -> Word:
        left, bottom, right, top = self.of(first)
        if first == last:
            return Word(start, end, left, bottom, right, top)
        other = self.of(last)
        bottom = min(bottom, other.bottom)
        return Word(start, end, left, bottom, other.right, max(top, other.top))

    def loose(self, index: int) -> Box:
        """Return the box of a character, as high as its font whatever its shape."""
        return Box(*self._characters.get_charbox(index, loose=True))


def read_page_box(page: Any) -> Box:
    """Return the place of the page that is seen."""
    raw = import_raw_pdfium()
    found = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page, found)
    return Box(found.left, found.bottom, found.right, found.top)


def read_rectangles(characters: Any) -> list[Box]:
    """Return the places of the pieces of text on a page, in their order."""
    return [Box(*characters.get_rect(at)) for at in range(characters.count_rects())]
