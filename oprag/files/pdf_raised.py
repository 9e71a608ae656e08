"""Raised numbers on a PDF page: 10 with a raised 6 is not 106."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from oprag.files.pdf_boxes import Boxes
from oprag.files.pdf_changes import Change, apply_changes

_SMALLER = 0.85
"""Height of raised text, as a share of that of the text before it, at most."""
_HIGHER = 0.15
"""Share of that height by which it is raised, at least."""
_MAY_BE_RAISED = re.compile(r"(?<=\d)[-\u2212]?\d")


def has_raised(rectangles: Sequence[Sequence[float]]) -> bool:
    """Tell whether some text is smaller and higher than the text drawn before it."""
    return any(_is_raised(box, last) for last, box in pairwise(rectangles))


def mark_raised(
    text: str, indices: Sequence[int], boxes: Boxes
) -> tuple[str, list[int]]:
    """Put a `^` before numbers that are raised beside another."""
    marks = []
    for match in _MAY_BE_RAISED.finditer(text):
        at = match.start()
        before, here = boxes.loose(indices[at - 1]), boxes.loose(indices[at])
        if _is_raised(here, before):
            marks.append(Change(at, at, "^", [indices[at]]))
    return apply_changes(text, indices, marks)


def _is_raised(box: Sequence[float], last: Sequence[float]) -> bool:
    """Tell whether text is raised beside the text before it."""
    height = last[3] - last[1]
    is_beside = abs(box[0] - last[2]) < height
    is_smaller = box[3] - box[1] < _SMALLER * height
    return is_beside and is_smaller and box[1] - last[1] > _HIGHER * height
