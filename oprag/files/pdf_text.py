"""The text of a PDF page in reading order, and the number of each character on it.

PDFium gives characters in the order in which they were drawn. That is the reading
order, except for values that were filled into forms, and for columns that were drawn
line by line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from oprag.files.pdf_boxes import Box, Boxes, read_page_box, read_rectangles, read_turn
from oprag.files.pdf_changes import Change, apply_changes
from oprag.files.pdf_checks import Check, insert_checks, read_check, turn_checks
from oprag.files.pdf_columns import WIDE, has_columns, order_columns
from oprag.files.pdf_hidden import leave_out_hidden
from oprag.files.pdf_objects import PageObjects
from oprag.files.pdf_raised import has_raised, mark_raised
from oprag.files.pdf_struck import leave_out_struck, read_strike
from oprag.files.pdf_tables import mark_empty_cells, may_have_tables
from oprag.files.pdfium import import_raw_pdfium
from oprag.tokens import encodable

_HYPHENS = "\x02\ufffe"
"""PDFium's characters for a hyphen at the end of a line, whose line break it leaves
out."""
_NO_CHARACTER = "\ufffd"
_LAST_CODE = 0x10FFFF
_HIGH, _LOW = 0xD800, 0xDC00
"""The first codes of the two halves of a surrogate pair."""
_FILLED = ("FPDF_ANNOT_WIDGET", "FPDF_ANNOT_FREETEXT")
"""Annotations whose text is shown on the page."""
_TOLERANCE = 1.0
"""Points that text may reach over the edge of its page."""
_STEP = 250
"""Characters of which all are looked at if a piece of text may reach out there."""
_PART_OF_WORD = re.compile(r"[^\W\d_]+\Z")
_LOWER_WORD = re.compile(r"[^\W\d_]+")
_JOINS_HALVES = frozenset(("bzw", "oder", "sowie", "und"))
"""Words after half a word in German: `Haus- und Hofordnung`."""


class PageText(NamedTuple):
    """The text of a page."""

    text: str
    indices: Sequence[int]
    """For each character of the text, its number among those of the page."""


class Filled(NamedTuple):
    """The parts of a page that were filled into its form."""

    before: int | None
    """The number of characters without the values; None if no value is shown."""
    checks: Sequence[Check] = ()
    struck: Sequence[Box] = ()
    """The places that a reader struck."""


_UNFILLED = Filled(None)


def flatten_values(page: Any) -> Filled:
    """Draw the values that were filled into a page's form as part of the page."""
    raw = import_raw_pdfium()
    shown = {getattr(raw, name) for name in _FILLED}
    checks: list[Check] = []
    struck: list[Box] = []
    has_values = False
    for number in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        if raw.FPDFAnnot_GetSubtype(annotation) in shown:
            has_values = True
            check = read_check(page, annotation)
            checks += [] if check is None else [check]
        struck += read_strike(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
    if not has_values:
        return Filled(None, struck=struck)
    before: int = page.get_textpage().count_chars()
    done = raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    shown_before = before if done == raw.FLATTEN_SUCCESS else None
    return Filled(shown_before, checks, struck)


def read_page_text(page: Any, characters: Any, filled: Filled = _UNFILLED) -> PageText:
    """Read the text of a page in reading order, line by line.

    Text outside of the page, hidden and struck text is left out. A value of a form
    follows the label to its left, else the one above it. Columns that were drawn line
    by line follow one another. A word that is divided at the end of a line is one word.
    Left and above are said of the page as its lines are level, whatever its turn.

    Args:
        page: PDFium's page.
        characters: PDFium's characters of it.
        filled: See `flatten_values`.
    """
    codes, indices = _read_characters(characters)
    boxes = Boxes(characters, read_turn(characters, codes, indices))
    rectangles = read_rectangles(characters, boxes.turn)
    objects = PageObjects(page, boxes.turn)
    edge = read_page_box(page, boxes.turn)
    if _reaches_out(rectangles, edge):
        codes, indices = _leave_out(edge, codes, indices, boxes, characters)
    codes, indices = leave_out_hidden(
        page, characters, codes, indices, boxes, objects=objects
    )
    codes, indices = leave_out_struck(
        objects, codes, indices, boxes, rectangles=rectangles, marked=filled.struck
    )
    codes = _join_lines(codes, indices, boxes)
    if has_raised(rectangles):
        codes, indices = mark_raised(codes, indices, boxes)
    filled = filled._replace(checks=turn_checks(filled.checks, boxes.turn))
    if filled.before is not None:
        codes, indices = _insert_values(codes, indices, filled, boxes)
    if filled.checks:
        codes, indices = insert_checks(codes, indices, filled.checks, boxes)
    if has_columns(rectangles):
        codes, indices = order_columns(codes, indices, boxes)
    if may_have_tables(codes, rectangles):
        codes, indices = mark_empty_cells(objects, codes, indices, boxes)
    return _join_hyphens(codes, indices)


def _read_characters(characters: Any) -> tuple[str, list[int]]:
    """Return the characters without carriage returns, and the number of each."""
    raw = import_raw_pdfium()
    count = characters.count_chars()
    text = characters.get_text_range() if count else ""
    if len(text) != count:  # some have no code, or two
        return _read_one_by_one(characters, count)
    if not text.isascii():
        found = [*text]
        for index, character in enumerate(text):
            # The whole text has 16 bits of each code, whatever the code is.
            if not character.isascii() and (
                raw.FPDFText_GetUnicode(characters, index) > _LAST_CODE
            ):
                found[index] = _NO_CHARACTER
        text = encodable("".join(found))
    indices = [index for index, character in enumerate(text) if character != "\r"]
    return text.replace("\r", "").replace("\0", _NO_CHARACTER), indices


def _read_one_by_one(characters: Any, count: int) -> tuple[str, list[int]]:
    raw = import_raw_pdfium()
    codes: list[int] = []
    indices: list[int] = []
    for index in range(count):
        code = raw.FPDFText_GetUnicode(characters, index)
        if code == ord("\r"):
            continue
        if _LOW <= code < _LOW + 0x400 and codes and _HIGH <= codes[-1] < _LOW:
            codes[-1] = 0x10000 + ((codes[-1] - _HIGH) << 10) + code - _LOW
            continue
        codes.append(code if 0 < code <= _LAST_CODE else ord(_NO_CHARACTER))
        indices.append(index)
    # Damaged fonts yield half characters, which no index can store.
    return encodable("".join(map(chr, codes))), indices


def _is_outside(box: Sequence[float], page: Box) -> bool:
    left, bottom, right, top = box
    return (
        right < page.left - _TOLERANCE
        or left > page.right + _TOLERANCE
        or top < page.bottom - _TOLERANCE
        or bottom > page.top + _TOLERANCE
    )


def _reaches_out(rectangles: Sequence[Box], page: Box) -> bool:
    return any(_is_outside(each, page) for each in rectangles)


def _leave_out(
    page: Box, text: str, indices: Sequence[int], boxes: Boxes, characters: Any
) -> tuple[str, list[int]]:
    """Leave out the characters that are outside of the page."""
    outside: set[int] = set()
    for start in range(0, len(text), _STEP):
        end = min(start + _STEP, len(text))
        first, last = indices[start], indices[end - 1]
        pieces = read_rectangles(characters, boxes.turn, first, last + 1 - first)
        if any(_passes_edge(piece, page) for piece in pieces):
            outside.update(
                at
                for at in range(start, end)
                if not text[at].isspace() and _is_outside(boxes.of(indices[at]), page)
            )
    kept = [at for at in range(len(text)) if at not in outside]
    shown = "".join(text[at] for at in kept)
    end = len(shown.rstrip())
    return shown[:end], [indices[at] for at in kept[:end]]


def _passes_edge(box: Box, page: Box) -> bool:
    """Tell whether a part of a box may be outside of the page."""
    return not (
        box.left >= page.left - _TOLERANCE
        and box.bottom >= page.bottom - _TOLERANCE
        and box.right <= page.right + _TOLERANCE
        and box.top <= page.top + _TOLERANCE
    )


def _join_lines(text: str, indices: Sequence[int], boxes: Boxes) -> str:
    """Put a blank for a line end of PDFium if the next text is right beside it.

    So the cells of a row, which may be far apart, stay in one line.
    """
    shown = [*text]
    for match in re.finditer(r"(?<=\S)\n(?= ?\S)", text):
        at = match.start()
        after = at + 2 if text[at + 1] == " " else at + 1
        if _is_beside(boxes.of(indices[after]), boxes.of(indices[at - 1])):
            shown[at] = " "
    return "".join(shown)


def _is_beside(box: Box, last: Box) -> bool:
    """Tell whether a character is in the line of the one before it, raised or not."""
    if box.left <= last.right:
        return False
    middle = (box.bottom + box.top) / 2
    height = max(box.top - box.bottom, last.top - last.bottom)
    is_near = box.left - last.right < WIDE * height
    overlaps = box.bottom < last.top and last.bottom < box.top
    return last.bottom < middle < last.top or (is_near and overlaps)


def _insert_values(
    text: str, indices: Sequence[int], filled: Filled, boxes: Boxes
) -> tuple[str, list[int]]:
    """Move filled-in values to the place after their labels.

    The signs that are drawn in boxes are left out.
    """
    before = len(indices) if filled.before is None else filled.before
    first = next((at for at, index in enumerate(indices) if index >= before), None)
    if first is None:
        return text, [*indices]
    shown, numbers = [*text[:first].rstrip("\n")], [*indices[:first]]
    del numbers[len(shown) :]
    values = _divide_values(text[first:], indices[first:], boxes)
    for box, value, number in sorted(values, key=lambda each: (-each[0].top, each[0])):
        if any(check.holds(box) for check in filled.checks):
            continue
        at, blank = _place_value(box, shown, numbers, boxes)
        follows = " " if at < len(shown) and not shown[at].isspace() else ""
        shown[at:at] = [*blank, *value, *follows]
        near = numbers[at - 1] if at else number[0]
        numbers[at:at] = [near] * len(blank) + [*number] + [number[-1]] * len(follows)
    return "".join(shown), numbers


def _divide_values(
    text: str, indices: Sequence[int], boxes: Boxes
) -> list[tuple[Box, str, Sequence[int]]]:
    """Return each line of a value, with its place and the numbers of its characters."""
    starts: list[int] = []
    last: Box | None = None
    end = 0
    ends: list[int] = []
    for at, (character, index) in enumerate(zip(text, indices, strict=True)):
        if character.isspace():
            continue
        box = boxes.of(index)
        if last is None or not _follows(box, last) or "\n" in text[end:at]:
            starts.append(at)
            ends.append(at)
        last, end = box, at + 1
        ends[-1] = end
    return [
        (boxes.of(indices[start]), text[start:end], indices[start:end])
        for start, end in zip(starts, ends, strict=True)
    ]


def _follows(box: Box, last: Box) -> bool:
    """Tell whether a character stands beside the one before it."""
    height = max(box.top - box.bottom, last.top - last.bottom, 6.0)
    away = abs(box.bottom + box.top - last.bottom - last.top) / 2
    return away < height and -height < box.left - last.right < WIDE * height


def _place_value(
    value: Box, text: Sequence[str], indices: Sequence[int], boxes: Boxes
) -> tuple[int, str]:
    """Return the place of a value, and the text between it and its label."""
    beside: list[tuple[float, int]] = []
    above: list[tuple[float, int]] = []
    height = max(value.top - value.bottom, 4.0)
    for at, (character, index) in enumerate(zip(text, indices, strict=True)):
        if character.isspace():
            continue
        box = boxes.of(index)
        away = (box.bottom + box.top - value.bottom - value.top) / 2
        if away >= height:
            above.append((-box.bottom, at))
        elif away > -height and box.right <= value.left + _TOLERANCE:
            beside.append((box.right, at))
    if beside:
        return max(beside)[1] + 1, " "
    if not above:
        return len(text), "\n" if text else ""
    line_end = max(above)[1]
    while line_end < len(text) and text[line_end] != "\n":
        line_end += 1
    return line_end, "\n"


def _join_hyphens(text: str, indices: Sequence[int]) -> PageText:
    """Join words that were divided at the end of a line.

    A hyphen stays if the page has the word with it elsewhere, or if no small letter
    follows it (`Anna-Lena`, `2-3`).
    """
    if not any(mark in text for mark in _HYPHENS):
        return PageText(text, indices)
    changes = []
    for match in re.finditer(f"[{_HYPHENS}]", text):
        at = match.start()
        hyphen = "-"
        if _is_divided(text, at):
            hyphen = ""
        else:
            after = _LOWER_WORD.match(text, at + 1)
            if after is not None and after[0] in _JOINS_HALVES:
                hyphen = "- "
        changes.append(Change(at, at + 1, hyphen, [indices[at]] * len(hyphen)))
    return PageText(*apply_changes(text, indices, changes))


def _is_divided(text: str, at: int) -> bool:
    """Tell whether the hyphen at a place was made by the end of the line."""
    before = _PART_OF_WORD.search(text, max(0, at - 40), at)
    after = _LOWER_WORD.match(text, at + 1)
    if before is None or after is None or not text[at + 1].islower():
        return False
    pair = before.group(), after.group()
    if pair[1] in _JOINS_HALVES:
        return "".join(pair) in text
    return "".join(pair) in text or "-".join(pair) not in text
