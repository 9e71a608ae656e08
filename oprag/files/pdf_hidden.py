"""Text of a PDF page that nobody sees: as white as the page, or not drawn at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
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
from typing import Any

from oprag.files.pdf_boxes import Box, Boxes, Turn, read_page_box
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
_MOST_PIXELS = 4e6
"""Pixels of a page that is looked at, at most."""
_ONE_SHADE = 8
"""Difference of two shades of grey that nobody sees, of 255."""


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


class _Looks:
    """How characters look, asked once for each object that draws some."""

    def __init__(self, characters: Any) -> None:
        self._characters = characters
        self._known: dict[int | None, bool] = {}
        self._colour = [c_uint() for _ in range(4)]
        self._given = [byref(part) for part in self._colour]

    def may_be_hidden(self, index: int) -> bool:
        """Tell whether a character is white, in a layer, or not drawn."""
        return self.draws_nothing(
            import_raw_pdfium().FPDFText_GetTextObject(self._characters, index)
        )

    def draws_nothing(self, drawn: Any) -> bool:
        """Tell whether an object may draw text in white, or none."""
        key = cast(drawn, c_void_p).value
        if key not in self._known:
            self._known[key] = bool(key) and self._ask(drawn)
        return self._known[key]

    def _ask(self, drawn: Any) -> bool:
        mode = import_raw_pdfium().FPDFTextObj_GetTextRenderMode(drawn)
        if mode == _NOT_DRAWN or _is_in_layer(drawn):
            return True
        known = import_raw_pdfium().FPDFPageObj_GetFillColor(drawn, *self._given)
        red, green, blue, opacity = (part.value for part in self._colour)
        is_white = min(red, green, blue) >= _WHITE or opacity == 0
        return bool(known) and is_white and mode == _FILLED


def leave_out_hidden(
    page: Any, characters: Any, text: str, indices: Sequence[int], boxes: Boxes
) -> tuple[str, list[int]]:
    """Leave out text that is as white as the page, and text that is not drawn.

    So is that of a layer that is switched off.

    Only if nothing is to be seen at its place. Text over a picture stays: it may be
    that of a scan.
    """
    looks = _Looks(characters)
    if not _may_hide(page, text, indices, looks):
        return text, [*indices]
    pictures = [boxes.turn.place(*each) for each in _read_pictures(page)]
    drawing: _Drawing | None = None
    unseen: set[int] = set()
    for run in _hidden_runs(text, indices, looks):
        places = [boxes.of(indices[at]) for at in run]
        if any(_is_over(place, pictures) for place in places):
            continue
        drawing = drawing or _Drawing(page, boxes.turn)
        if drawing.is_empty(places):
            unseen.update(run)
    if not unseen:
        return text, [*indices]
    return leave_out(text, indices, unseen)


def _hidden_runs(text: str, indices: Sequence[int], looks: _Looks) -> list[list[int]]:
    """Return the characters of each line that may be hidden, side by side."""
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
    return runs


def leave_out(
    text: str, indices: Sequence[int], unseen: Collection[int]
) -> tuple[str, list[int]]:
    """Leave out characters, and lines of which nothing is left.

    Args:
        text: The text of a page.
        indices: For each of its characters, its number on the page.
        unseen: The characters.
    """
    shown: list[str] = []
    numbers: list[int] = []
    start = 0
    for line in text.splitlines(keepends=True):
        kept = [at for at in range(start, start + len(line)) if at not in unseen]
        start += len(line)
        if len(kept) < len(line) and not any(text[at].strip() for at in kept):
            continue
        shown += [text[at] for at in kept]
        numbers += [indices[at] for at in kept]
    end = len("".join(shown).rstrip())
    return "".join(shown[:end]), numbers[:end]


class _Drawing:
    """A page as it is seen, in shades of grey."""

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
        left, bottom, right, top = zip(*places, strict=True)
        first = max(int((min(left) - self._left) * self._scale), 0)
        end = max(int((max(right) - self._left) * self._scale), first) + 1
        row = max(int((self._top - max(top)) * self._scale), 0)
        last = min(int((self._top - min(bottom)) * self._scale), self._height - 1)
        shades: set[int] = set()
        for number in range(row, last + 1):
            start = number * self._stride
            end = min(end, self._stride)
            shades.update(self._pixels[start + first : start + end])
        return not shades or max(shades) - min(shades) <= _ONE_SHADE


def _may_hide(page: Any, text: str, indices: Sequence[int], looks: _Looks) -> bool:
    """Tell whether some text may be hidden, from its objects or a part of it."""
    raw = import_raw_pdfium()
    count = raw.FPDFPage_CountObjects(page)
    if _FEW * count <= len(text):
        drawn = [raw.FPDFPage_GetObject(page, number) for number in range(count)]
        kinds = [raw.FPDFPageObj_GetType(each) for each in drawn]
        if raw.FPDF_PAGEOBJ_FORM not in kinds:
            texts = zip(drawn, kinds, strict=True)
            return any(
                looks.draws_nothing(each)
                for each, kind in texts
                if kind == raw.FPDF_PAGEOBJ_TEXT
            )
    looked = {*range(0, len(text), _STEP), *_line_starts(text)}
    return any(
        looks.may_be_hidden(indices[at]) for at in looked if not text[at].isspace()
    )


def _line_starts(text: str) -> Iterator[int]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start
        start += len(line)


def _read_pictures(page: Any) -> Iterator[Box]:
    """Return the places of everything on a page that may hold a picture."""
    raw = import_raw_pdfium()
    edges = [c_float() for _ in Box._fields]
    for number in range(raw.FPDFPage_CountObjects(page)):
        drawn = raw.FPDFPage_GetObject(page, number)
        kind = raw.FPDFPageObj_GetType(drawn)
        if kind not in {raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_PATH}:
            raw.FPDFPageObj_GetBounds(drawn, *map(byref, edges))
            yield Box(*(edge.value for edge in edges))


def _is_over(box: Box, pictures: Sequence[Box]) -> bool:
    x, y = (box.left + box.right) / 2, (box.bottom + box.top) / 2
    return any(
        left - _NEAR <= x <= right + _NEAR and bottom - _NEAR <= y <= top + _NEAR
        for left, bottom, right, top in pictures
    )
