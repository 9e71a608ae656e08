"""Text of a PDF page that nobody sees: white, covered, cut off, or not drawn at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from ctypes import (
    POINTER,
    byref,
    c_float,
    c_uint,
    c_ulong,
    c_ushort,
    c_void_p,
    cast,
    create_string_buffer,
)
from itertools import chain
from typing import Any

from oprag.files.pdf_boxes import Box, Boxes
from oprag.files.pdf_covers import Covers, Run
from oprag.files.pdf_drawing import Drawing, draw_without
from oprag.files.pdf_objects import PageObjects
from oprag.files.pdfium import import_raw_pdfium

_STEP = 40
"""Characters from one that is looked at to the next."""
_FEW = 12
"""Characters for each object of a page, at least, if all of these are looked at."""
_WHITE = 250
"""The least of red, green and blue that is as white as a page."""
_NOT_DRAWN = 3
"""The mode of text that is there to be searched, such as that of a scan."""
_FILLED = 0
"""The mode of text that has no outline."""
_LAYER = "OC\0"
"""The name of a mark for what is in a layer."""
_LONGEST_NAME = 8
"""Bytes of the name of a mark that are read; of a longer one nothing is."""
_WORD = re.compile(r"\S+")
_NEAR = 1.0
"""Points that a picture may be smaller than a character, at most."""
_TINY = 1.0
"""Points of a font's size below which text may be too small to be seen."""


def _is_in_layer(drawn: Any) -> bool:
    """Tell whether an object is in a layer, which may be switched off."""
    raw = import_raw_pdfium()
    for number in range(max(raw.FPDFPageObj_CountMarks(drawn), 0)):
        mark = raw.FPDFPageObj_GetMark(drawn, number)
        name = create_string_buffer(_LONGEST_NAME)
        units = cast(name, POINTER(c_ushort))
        raw.FPDFPageObjMark_GetName(mark, units, _LONGEST_NAME, byref(c_ulong()))
        if name.raw.decode("utf-16-le", "replace").startswith(_LAYER):
            return True
    return False


def _is_clipped_away(drawn: Any) -> bool:
    """Tell whether an object is outside of one of the shapes that it is cut to."""
    raw = import_raw_pdfium()
    clip = raw.FPDFPageObj_GetClipPath(drawn)
    count = max(raw.FPDFClipPath_CountPaths(clip), 0) if clip else 0
    if not count:
        return False
    edges = [c_float() for _ in Box._fields]
    raw.FPDFPageObj_GetBounds(drawn, *map(byref, edges))
    left, bottom, right, top = (edge.value for edge in edges)
    x, y = c_float(), c_float()
    for path in range(count):
        xs, ys = [], []
        for number in range(raw.FPDFClipPath_CountPathSegments(clip, path)):
            segment = raw.FPDFClipPath_GetPathSegment(clip, path, number)
            raw.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
            xs.append(x.value)
            ys.append(y.value)
        if xs and (
            max(xs) < left or min(xs) > right or max(ys) < bottom or min(ys) > top
        ):
            return True
    return False


class _Looks:
    """How characters look, asked once for each object that draws some."""

    def __init__(self, characters: Any) -> None:
        self._raw = raw = import_raw_pdfium()
        self._characters = characters.raw
        self._size, self._matrix = c_float(), raw.FS_MATRIX()
        self._known: dict[int | None, bool] = {}
        self._colour = [c_uint() for _ in range(4)]
        self._given = [byref(part) for part in self._colour]

    def may_be_hidden(self, index: int) -> bool:
        """Tell whether a character is white, tiny, cut off, layered, or not drawn."""
        return self.draws_nothing(
            self._raw.FPDFText_GetTextObject(self._characters, index)
        )

    def find_texts(self, indices: Iterable[int]) -> list[Any]:
        """Return the objects that draw some characters."""
        ask = self._raw.FPDFText_GetTextObject
        found = (ask(self._characters, index) for index in indices)
        return [*{cast(each, c_void_p).value: each for each in found if each}.values()]

    def draws_nothing(self, drawn: Any) -> bool:
        """Tell whether an object may draw text in white, or none that is seen."""
        key = cast(drawn, c_void_p).value
        if key not in self._known:
            self._known[key] = bool(key) and self._ask(drawn)
        return self._known[key]

    def _ask(self, drawn: Any) -> bool:
        raw = self._raw
        mode = raw.FPDFTextObj_GetTextRenderMode(drawn)
        if mode == _NOT_DRAWN or _is_in_layer(drawn):
            return True
        if self._is_tiny(drawn) or _is_clipped_away(drawn):
            return True
        if mode != _FILLED or not raw.FPDFPageObj_GetFillColor(drawn, *self._given):
            return False
        red, green, blue, opacity = (part.value for part in self._colour)
        return min(red, green, blue) >= _WHITE or opacity == 0

    def _is_tiny(self, drawn: Any) -> bool:
        """Tell whether an object draws text that may be too small to be seen."""
        raw, size, matrix = self._raw, self._size, self._matrix
        raw.FPDFTextObj_GetFontSize(drawn, byref(size))
        raw.FPDFPageObj_GetMatrix(drawn, matrix)
        scale = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
        return float(size.value * scale) < _TINY


def leave_out_hidden(
    page: Any,
    characters: Any,
    text: str,
    indices: Sequence[int],
    boxes: Boxes,
    *,
    objects: PageObjects,
) -> tuple[str, list[int]]:
    """Leave out text without which the drawn page looks the same.

    Such text may be as white as the page, not drawn, in a layer that may be switched
    off, tiny, clipped away, or under a rectangle. It goes only if nothing is to be seen
    at its place: the letters may be there as shapes, or drawn again upon the rectangle,
    of which PDFium tells once. Text over a picture stays: it may be that of a scan.
    """
    looks = _Looks(characters)
    covers = Covers(objects)
    covered = [*covers.find_runs(characters, text, indices, boxes)]
    hidden: list[Run] = []
    if _may_hide(objects, text, indices, looks):
        under = {*chain.from_iterable(run.characters for run in covered)}
        hidden = [*_hidden_runs(text, indices, looks, boxes, under)]
    if hidden or covered:
        pictures = [objects.place_of(each) for each in objects.kinds.others]
        hidden = [run for run in hidden if not _is_over(run, pictures)]
        covered = [run for run in covered if not _is_over(run, pictures)]
    if not hidden and not covered:
        return text, [*indices]
    drawing = Drawing(page, boxes.turn)
    runs = [run for run in [*hidden, *covered] if drawing.is_empty(run.places)]
    if not runs:
        return text, [*indices]
    texts = looks.find_texts(indices[at] for run in runs for at in run.characters)
    without = draw_without(page, boxes.turn, texts)
    same = [run.characters for run in runs if drawing.is_like(without, run.places)]
    return leave_out(text, indices, {*chain.from_iterable(same)})


def _hidden_runs(
    text: str,
    indices: Sequence[int],
    looks: _Looks,
    boxes: Boxes,
    under: Collection[int],
) -> Iterator[Run]:
    """Yield the characters of each line that may be hidden, side by side.

    Those under a rectangle are not among them.
    """
    runs: list[list[int]] = []
    last = 0
    is_last_hidden = False
    for match in _WORD.finditer(text):
        start, end = match.span()
        is_hidden = looks.may_be_hidden(indices[start]) and looks.may_be_hidden(
            indices[end - 1]
        )
        goes_on = is_last_hidden and "\n" not in text[last:start]
        if is_hidden and goes_on:
            runs[-1] += range(start, end)
        elif is_hidden:
            runs.append([*range(start, end)])
        last, is_last_hidden = end, is_hidden
    for run in runs:
        found = [at for at in run if at not in under]
        if found:
            yield Run(found, [boxes.of(indices[at]) for at in found])


def leave_out(
    text: str, indices: Sequence[int], unseen: Collection[int]
) -> tuple[str, list[int]]:
    """Leave out characters, and lines of which nothing is left.

    Of the blanks before and after them, one stays.

    Args:
        text: The text of a page.
        indices: For each of its characters, its number on the page.
        unseen: The characters.
    """
    shown: list[str] = []
    numbers: list[int] = []
    start = 0
    for line in text.splitlines(keepends=True):
        kept: list[int] = []
        for at in range(start, start + len(line)):
            is_second = at - 1 in unseen and (not kept or text[kept[-1]] == " ")
            if at not in unseen and not (is_second and text[at] == " "):
                kept.append(at)
        start += len(line)
        if len(kept) < len(line) and not any(text[at].strip() for at in kept):
            continue
        shown += [text[at] for at in kept]
        numbers += [indices[at] for at in kept]
    end = len("".join(shown).rstrip())
    return "".join(shown[:end]), numbers[:end]


def _may_hide(
    objects: PageObjects, text: str, indices: Sequence[int], looks: _Looks
) -> bool:
    """Tell whether some text may be hidden, from its objects or a part of it."""
    if _FEW * objects.count <= len(text) and not objects.kinds.holds_forms:
        return any(looks.draws_nothing(each.handle) for each in objects.kinds.texts)
    looked = {*range(0, len(text), _STEP), *_line_starts(text)}
    return any(
        looks.may_be_hidden(indices[at]) for at in looked if not text[at].isspace()
    )


def _line_starts(text: str) -> Iterator[int]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start
        start += len(line)


def _is_over(run: Run, pictures: Sequence[Box]) -> bool:
    """Tell whether some of a text is over a picture."""
    return any(
        picture.holds_middle(place, margin=_NEAR)
        for picture in pictures
        for place in run.places
    )
