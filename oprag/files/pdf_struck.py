"""Struck text of a PDF page: a line runs through it, or a reader's mark says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from oprag.files.pdf_boxes import Box, Boxes, Word
from oprag.files.pdf_checks import HIDDEN
from oprag.files.pdf_hidden import leave_out
from oprag.files.pdf_objects import PageObjects
from oprag.files.pdf_rules import Rule, read_thin_shapes
from oprag.files.pdfium import import_raw_pdfium

_FEWEST = 2
"""Letters and digits through which a line runs, at least."""
_LOWEST, _HIGHEST = 0.15, 0.75
"""Share of the height of a text at which a line runs through it."""
_INSIDE = 0.1
"""Share of a letter's height that is on each side of the line, at least."""
_STEP = 12.0
"""Points of a page's height that are looked at together."""
_HIGHEST_TEXT, _FAR = 400.0, 1e6
"""Points of a text's height, and from the corner of a page to a line on it, at most."""
_BEYOND = 0.8
"""Heights of a text that a line may be longer than it, at most, on each side."""


def read_strike(annotation: Any) -> Iterator[Box]:
    """Return the places that a reader's mark strikes; none for other annotations."""
    raw = import_raw_pdfium()
    is_strike = raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_STRIKEOUT
    if not is_strike or raw.FPDFAnnot_GetFlags(annotation) & HIDDEN:
        return
    corners = raw.FS_QUADPOINTSF()
    for number in range(raw.FPDFAnnot_CountAttachmentPoints(annotation)):
        raw.FPDFAnnot_GetAttachmentPoints(annotation, number, corners)
        across = [getattr(corners, f"x{corner}") for corner in range(1, 5)]
        up = [getattr(corners, f"y{corner}") for corner in range(1, 5)]
        yield Box(min(across), min(up), max(across), max(up))


def leave_out_struck(
    objects: PageObjects,
    text: str,
    indices: Sequence[int],
    boxes: Boxes,
    *,
    rectangles: Sequence[Box],
    marked: Sequence[Box],
) -> tuple[str, list[int]]:
    """Leave out struck text.

    Args:
        objects: What is drawn on a page.
        text: Its text.
        indices: For each character, its number on the page.
        boxes: The places of its characters.
        rectangles: The places of its pieces of text.
        marked: See `read_strike`.
    """
    rules = [*_find_strikes(read_thin_shapes(objects), rectangles)]
    struck: set[int] = set()
    words = [*boxes.find_words(text, indices)] if rules or marked else []
    for mark in (boxes.turn.place(*place) for place in marked):
        for at in _letters_of(words, mark.left, mark.right, indices, boxes):
            box = boxes.of(indices[at])
            if mark.bottom <= (box.bottom + box.top) / 2 <= mark.top:
                struck.add(at)
    for rule in rules:
        crossed = [word for word in words if word.bottom < rule.at < word.top]
        found = [*_letters_of(crossed, rule.start, rule.end, indices, boxes)]
        if _runs_through(rule, [boxes.of(indices[at]) for at in found], text, found):
            struck.update(found)
    if not struck:
        return text, [*indices]
    return leave_out(text, indices, struck)


def _find_strikes(rules: Iterable[Rule], rectangles: Sequence[Box]) -> Iterator[Rule]:
    """Return the lines that may run through a piece of text."""
    level: dict[int, list[Box]] | None = None
    for rule in rules:
        if not abs(rule.at) < _FAR:
            continue
        if level is None:
            level = {}
            for box in rectangles:
                if not box.top - box.bottom <= _HIGHEST_TEXT:
                    continue  # also for numbers that a damaged file has
                for at in range(int(box.bottom // _STEP), int(box.top // _STEP) + 1):
                    level.setdefault(at, []).append(box)
        if _may_strike(rule, level.get(int(rule.at // _STEP), ())):
            yield rule


def _may_strike(rule: Rule, rectangles: Sequence[Box]) -> bool:
    """Tell whether a line is inside a piece of text."""
    for left, bottom, right, top in rectangles:
        height = top - bottom
        is_level = bottom + _LOWEST * height < rule.at < bottom + _HIGHEST * height
        slack = _BEYOND * height
        if is_level and left - slack <= rule.start and rule.start < right:
            return True
    return False


def _letters_of(
    words: Sequence[Word],
    left: float,
    right: float,
    indices: Sequence[int],
    boxes: Boxes,
) -> Iterator[int]:
    """Return the characters of words whose middle is between two distances."""
    for word in words:
        if word.left < right and word.right > left:
            for at in range(word.start, word.end):
                box = boxes.of(indices[at])
                if left <= (box.left + box.right) / 2 <= right:
                    yield at


def _runs_through(
    rule: Rule, places: Sequence[Box], text: str, found: Sequence[int]
) -> bool:
    letters = [box for at, box in zip(found, places, strict=True) if text[at].isalnum()]
    if len(letters) < _FEWEST:
        return False
    bottom = min(box.bottom for box in letters)
    height = max(box.top for box in letters) - bottom
    slack = _BEYOND * height
    return (
        _LOWEST * height < rule.at - bottom < _HIGHEST * height
        and rule.start >= min(box.left for box in places) - slack
        and rule.end <= max(box.right for box in places) + slack
        and all(_is_inside(rule.at, box) for box in letters)
    )


def _is_inside(at: float, box: Box) -> bool:
    edge = _INSIDE * (box.top - box.bottom)
    return box.bottom + edge < at < box.top - edge
