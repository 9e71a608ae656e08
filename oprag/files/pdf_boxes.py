"""The places of the characters of a PDF page, turned so that its lines are level."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double, sizeof
from math import pi
from typing import Any, NamedTuple

from oprag.files.pdfium import import_raw_pdfium

_WORD = re.compile(r"\S+")
_LOOKED_AT = 25
"""Characters of a page whose direction is asked for, about."""
_QUARTERS = 4


class Box(NamedTuple):
    """The place of a character, in points from a corner of the page."""

    left: float
    bottom: float
    right: float
    top: float

    def holds_middle(self, other: Box, *, margin: float = 0.0) -> bool:
        """Tell whether the middle of another box is in it, or as near, in points."""
        x, y = (other.left + other.right) / 2, (other.bottom + other.top) / 2
        is_level = self.bottom - margin <= y <= self.top + margin
        return is_level and self.left - margin <= x <= self.right + margin


class Turn(NamedTuple):
    """The quarters of a circle, clockwise, by which a page is turned for its reader.

    Then most of its text runs from left to right, as a viewer shows it if the page asks
    for the same turn, or as a reader holds it.
    """

    quarters: int

    def place(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return the place of a box of the page when the page is turned."""
        for _ in range(self.quarters):
            left, bottom, right, top = bottom, -right, top, -left
        return Box(left, bottom, right, top)


def read_turn(characters: Any, text: str, indices: Sequence[int]) -> Turn:
    """Return the turn that makes most characters of a page upright.

    Args:
        characters: PDFium's characters of it.
        text: The text of the page.
        indices: For each of its characters, its number among those of the page.
    """
    ask = import_raw_pdfium().FPDFText_GetCharAngle
    step = max(len(text) // _LOOKED_AT, 1)
    looked_at = (at for at in range(0, len(text), step) if not text[at].isspace())
    turns = Counter(
        -round(2 * ask(characters, indices[at]) / pi) % _QUARTERS for at in looked_at
    )
    return Turn(turns.most_common(1)[0][0] if turns else 0)


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

    def __init__(self, characters: Any, turn: Turn) -> None:
        self._characters = characters
        self.turn = turn
        self._known: dict[int, Box] = {}
        self._ask = import_raw_pdfium().FPDFText_GetCharBox
        self._edges = (c_double * len(Box._fields))()
        left, bottom, right, top = (
            byref(c_double.from_buffer(self._edges, at * sizeof(c_double)))
            for at in range(len(Box._fields))
        )
        self._given = characters.raw, (left, right, bottom, top)

    def of(self, index: int) -> Box:
        """Return the box of a character by its number on the page."""
        found = self._known.get(index)
        if found is None:
            characters, edges = self._given
            self._ask(characters, index, *edges)
            found = Box(*self._edges)
            if self.turn.quarters:
                found = self.turn.place(*found)
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
        return self.turn.place(*self._characters.get_charbox(index, loose=True))


def read_page_box(page: Any, turn: Turn) -> Box:
    """Return the place of the page that is seen."""
    raw = import_raw_pdfium()
    found = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page, found)
    return turn.place(found.left, found.bottom, found.right, found.top)


def read_rectangles(
    characters: Any, turn: Turn, start: int = 0, count: int = -1
) -> list[Box]:
    """Return the places of the pieces of text on a page, in their order.

    Args:
        characters: PDFium's characters of it.
        turn: How the page is turned.
        start: The number of the first character whose piece is wanted.
        count: How many characters; -1 for all.
    """
    found = characters.count_rects(start, count)
    return [turn.place(*characters.get_rect(at)) for at in range(found)]
