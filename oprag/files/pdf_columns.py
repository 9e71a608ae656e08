"""Columns of a PDF page that were drawn line by line, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from oprag.files.pdf_boxes import Boxes, Word

WIDE = 1.5
"""Heights of a character that are between two columns, at least."""
_FEWEST_LINES = 3
"""Lines side by side that make columns, at least."""
_WORDS = 2.5
"""Words that the lines of a column have on average, at least."""
_ALIGNED = 2.0
"""Points by which the lines of a column may begin apart."""


def has_columns(rectangles: Sequence[Sequence[float]]) -> bool:
    """Tell from the drawn boxes whether some lines in a row may be of two columns."""
    lines = 0
    last: Sequence[float] | None = None
    for box in rectangles:
        if last is not None:
            height = max(box[3] - box[1], last[3] - last[1], 1.0)
            same = abs(box[1] - last[1]) < height / 2
            if same and box[0] - last[2] > WIDE * height:
                lines += 1
                if lines >= _FEWEST_LINES:
                    return True
            elif box[0] - last[2] > height:
                lines = 0
        last = box
    return False


def order_columns(
    text: str, indices: Sequence[int], boxes: Boxes
) -> tuple[str, list[int]]:
    """Put columns that were drawn line by line one after the other.

    Only running text is moved: each value of a table stays in its row.
    """
    order: list[tuple[int, int]] = []
    block: list[list[Word]] = []
    for line in [*_segments(text, indices, boxes), []]:
        if len(line) > 1 and _gutters_hold([*block, line]):
            block.append(line)
            continue
        order += _read_block(text, block)
        block = [line] if len(line) > 1 else []
        if line and not block:
            order.append((line[0].start, line[-1].end))
    shown: list[str] = []
    numbers: list[int] = []
    for start, end in order:
        if shown:
            shown.append("\n")
            numbers.append(numbers[-1])
        shown += text[start:end]
        numbers += indices[start:end]
    return "".join(shown), numbers


def _segments(text: str, indices: Sequence[int], boxes: Boxes) -> Iterator[list[Word]]:
    """Return the segments of each line, which wide gaps divide."""
    for match in re.finditer(r"[^\n]+", text):
        segments: list[Word] = []
        for found in boxes.find_words(text, indices, *match.span()):
            last = segments[-1] if segments else None
            height = max(found.height, 6.0)
            if last is not None and found.left - last.right < WIDE * height:
                segments[-1] = Word(last.start, found.end, *last[2:4], *found[4:])
            else:
                segments.append(found)
        if segments:
            yield segments


def _gutters_hold(lines: Sequence[Sequence[Word]]) -> bool:
    """Tell whether the same gaps are in all lines, and the columns are aligned."""
    if len({len(line) for line in lines}) > 1:
        return False
    for side in range(1, len(lines[-1])):
        lefts = [line[side].left for line in lines]
        ends = max(line[side - 1].right for line in lines)
        if ends >= min(lefts) or max(lefts) - min(lefts) >= _ALIGNED:
            return False
    return True


def _read_block(text: str, block: Sequence[Sequence[Word]]) -> list[tuple[int, int]]:
    """Return spans of the text in reading order."""
    whole = [(line[0].start, line[-1].end) for line in block]
    sides = range(len(block[0]) if block else 0)
    columns = [
        [text[line[side].start : line[side].end] for line in block] for side in sides
    ]
    if len(block) < _FEWEST_LINES or not all(map(_is_prose, columns)):
        return whole
    spans: list[tuple[int, int]] = []
    first = 0
    for number in range(1, len(block) + 1):
        # If all sides begin anew, it may be the next row of a table of sentences.
        if number < len(block) and any(
            column[number][0].islower() for column in columns
        ):
            continue
        for side in sides:
            spans += [
                (line[side].start, line[side].end) for line in block[first:number]
            ]
        first = number
    return spans


def _is_prose(lines: Sequence[str]) -> bool:
    """Tell whether the text runs on from line to line."""
    words = sum(len(line.split()) for line in lines)
    going_on = sum(line[0].islower() for line in lines[1:])
    return words >= _WORDS * len(lines) and 2 * going_on >= len(lines) - 1
