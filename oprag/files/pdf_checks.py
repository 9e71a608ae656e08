"""Boxes and buttons of a form that are checked, or not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from oprag.files.pdf_boxes import Box, Boxes, Turn
from oprag.files.pdf_changes import Change, apply_changes
from oprag.files.pdfium import import_raw_pdfium

CHECKED, UNCHECKED = "☒", "☐"
HIDDEN = 2 | 32
"""Flags of an annotation that no screen shows."""
_TOLERANCE = 1.0
"""Points that a label may reach into its box."""


class Check(NamedTuple):
    """A box or a button."""

    box: Box
    is_checked: bool

    def holds(self, box: Box) -> bool:
        """Tell whether the middle of a character is in it."""
        x, y = (box.left + box.right) / 2, (box.bottom + box.top) / 2
        left, bottom, right, top = self.box
        return left <= x <= right and bottom <= y <= top


def read_check(page: Any, annotation: Any) -> Check | None:
    """Return a box or a button of a form; None for other annotations."""
    raw, form = import_raw_pdfium(), page.formenv
    if form is None or raw.FPDFAnnot_GetFlags(annotation) & HIDDEN:
        return None
    kinds = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
    if raw.FPDFAnnot_GetFormFieldType(form, annotation) not in kinds:
        return None
    place = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(annotation, place)
    box = Box(place.left, place.bottom, place.right, place.top)
    return Check(box, bool(raw.FPDFAnnot_IsChecked(form, annotation)))


def turn_checks(checks: Collection[Check], turn: Turn) -> list[Check]:
    """Return the boxes where they are when their page is turned."""
    return [check._replace(box=turn.place(*check.box)) for check in checks]


def insert_checks(
    text: str, indices: Sequence[int], checks: Collection[Check], boxes: Boxes
) -> tuple[str, list[int]]:
    """Write a mark for each box beside the nearest text in its line.

    A box without text in its line has no mark.
    """
    places = [
        (boxes.of(index), at)
        for at, (character, index) in enumerate(zip(text, indices, strict=True))
        if not character.isspace()
    ]
    marks: list[Change] = []
    for check in checks:
        mark = CHECKED if check.is_checked else UNCHECKED
        beside = [place for place in places if _is_level(check.box, place[0])]
        after = [
            (box.left - check.box.right, at)
            for box, at in beside
            if box.left >= check.box.right - _TOLERANCE
        ]
        before = [
            (check.box.left - box.right, -at)
            for box, at in beside
            if box.right <= check.box.left + _TOLERANCE
        ]
        if after and min(after) <= min(before, default=min(after)):
            at = min(after)[1]
            marks.append(Change(at, at, f"{mark} ", [indices[at]] * 2))
        elif before:
            at = -min(before)[1]
            marks.append(Change(at + 1, at + 1, f" {mark}", [indices[at]] * 2))
    return apply_changes(text, indices, marks)


def _is_level(check: Box, box: Box) -> bool:
    """Tell whether a character is in the line of a box."""
    middle = (box.bottom + box.top) / 2
    return check.bottom - _TOLERANCE <= middle <= check.top + _TOLERANCE
