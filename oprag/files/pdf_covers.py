"""Text of a PDF page over which a filled rectangle was drawn later."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ctypes import c_void_p, cast
from itertools import islice
from typing import Any, NamedTuple

from oprag.files.pdf_boxes import Box, Boxes
from oprag.files.pdf_objects import PageObjects, look_at
from oprag.files.pdfium import import_raw_pdfium

_LEAST = 3.0
"""Points that a rectangle is wide and high, at least: a thinner one is a line."""
_CORNERS = range(4, 7)
"""Corners of a rectangle, with the one from which it began."""
_OVER = 1.0
"""Points of a text's width that a rectangle covers, at least."""
_DRAWN = range(3)
"""The modes of text that is drawn, and through which nothing else is."""
_STEP = 24.0
"""Points of a page's height that are looked at together."""
_MOST = 3000
"""Rectangles of a page, at most: those of a drawing take long."""
_FAR = 1e5
"""Points from the corner of a page to a rectangle, at most."""


class Run(NamedTuple):
    """Characters side by side, and the places where they would be seen."""

    characters: list[int]
    places: list[Box]


class _Cover(NamedTuple):
    """A filled rectangle, and its number in the order of what is drawn."""

    number: int
    box: Box


class Covers:
    """The filled rectangles of a page that were drawn over some of its text.

    Whether they hide it is for the drawn page to say: some are transparent.
    """

    def __init__(self, objects: PageObjects) -> None:
        self._drawn: dict[int, int] = {}
        """The numbers of the objects that draw text under a rectangle."""
        self._levels: dict[int, list[_Cover]] = {}
        covers = [*islice(_read_covers(objects), _MOST + 1)]
        if not covers or len(covers) > _MOST:
            return
        for cover in covers:
            for level in _levels_of(cover.box):
                self._levels.setdefault(level, []).append(cover)
        mode_of = import_raw_pdfium().FPDFTextObj_GetTextRenderMode
        last = covers[-1].number
        for text in objects.kinds.texts:
            if text.number > last:
                break
            if self._is_under(objects.place_of(text), text.number) and (
                mode_of(text.handle) in _DRAWN
            ):
                self._drawn[cast(text.handle, c_void_p).value or 0] = text.number

    def find_runs(
        self, characters: Any, text: str, indices: Sequence[int], boxes: Boxes
    ) -> Iterator[Run]:
        """Yield the characters of each word that are under one rectangle."""
        if not self._drawn:
            return
        ask = import_raw_pdfium().FPDFText_GetTextObject
        for match in re.finditer(r"\S+", text):
            last: _Cover | None = None
            run = Run([], [])
            for at in range(*match.span()):
                drawn = cast(ask(characters, indices[at]), c_void_p).value or 0
                place = boxes.of(indices[at])
                cover = self._find(place, self._drawn.get(drawn))
                if run.characters and cover != last:
                    yield run
                    run = Run([], [])
                if cover is not None:
                    run.characters.append(at)
                    run.places.append(_common(place, cover.box))
                last = cover
            if run.characters:
                yield run

    def _find(self, place: Box, number: int | None) -> _Cover | None:
        """Return the last rectangle over the middle of a character."""
        if number is None:
            return None
        found = None
        level = int((place.bottom + place.top) / 2 // _STEP)
        for cover in self._levels.get(level, ()):
            if cover.number > number and cover.box.holds_middle(place):
                found = cover
        return found

    def _is_under(self, text: Box, number: int) -> bool:
        """Tell whether some of a text is under a rectangle."""
        y = (text.bottom + text.top) / 2
        if not abs(y) < _FAR:
            return False
        return any(
            cover.number > number
            and cover.box.bottom <= y <= cover.box.top
            and min(cover.box.right, text.right) - max(cover.box.left, text.left)
            > _OVER
            for cover in self._levels.get(int(y // _STEP), ())
        )


def _common(one: Box, other: Box) -> Box:
    """Return the place that two boxes have in common."""
    left, bottom = max(one.left, other.left), max(one.bottom, other.bottom)
    return Box(left, bottom, min(one.right, other.right), min(one.top, other.top))


def _levels_of(box: Box) -> range:
    return range(int(box.bottom // _STEP), int(box.top // _STEP) + 1)


def _read_covers(objects: PageObjects) -> Iterator[_Cover]:
    """Yield the filled rectangles of a page that come after some text."""
    first = objects.kinds.texts[0].number if objects.kinds.texts else objects.count
    count_corners = import_raw_pdfium().FPDFPath_CountSegments
    for shape in objects.kinds.shapes:
        if shape.number < first or count_corners(shape.handle) not in _CORNERS:
            continue
        box = objects.place_of(shape)
        is_large = min(box.right - box.left, box.top - box.bottom) >= _LEAST
        if is_large and max(map(abs, box)) < _FAR and look_at(shape).is_filled:
            yield _Cover(shape.number, box)
