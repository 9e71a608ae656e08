"""The ruled lines of a PDF page, and the grids that they make."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from ctypes import byref, c_float
from itertools import pairwise
from operator import neg
from typing import Any, NamedTuple

from oprag.files.pdf_boxes import Box
from oprag.files.pdf_objects import Drawn, PageObjects, look_at
from oprag.files.pdfium import import_raw_pdfium

_THIN = 3.0
"""Points that a filled shape is wide or high, at most, to be a line."""
_SHORTEST = 4.0
"""Points of a line, at least."""
_NEAR = 2.5
"""Points between lines that meet, or that are one, at most."""
_MOST = 3000
"""Shapes of a page, and lines of a shape, at most: those of a drawing take long."""
_MOST_PAIRS = 100_000
"""Pairs of lines that may cross, at most."""


class Rule(NamedTuple):
    """A level or an upright line."""

    at: float
    """Its height on the page, or its distance from the left."""
    start: float
    end: float

    def spans(self, point: float) -> bool:
        """Tell whether it runs past a point beside it."""
        return self.start - _NEAR <= point <= self.end + _NEAR


class Grid:
    """Lines that cross one another.

    Args:
        level: The level ones.
        upright: The upright ones.
    """

    def __init__(self, level: Sequence[Rule], upright: Sequence[Rule]) -> None:
        heights = [rule.at for rule in level]
        heights += [end for rule in upright for end in (rule.start, rule.end)]
        sides = [rule.at for rule in upright]
        sides += [end for rule in level for end in (rule.start, rule.end)]
        self.rows = _distinct(heights)[::-1]
        """The heights of its lines, from above; a row is between two of them."""
        self.columns = _distinct(sides)
        self._level = level
        self._upright = upright
        self._known: dict[tuple[int, int], tuple[int, int]] = {}

    def find(self, x: float, y: float) -> tuple[int, int] | None:
        """Return row and column of a point; of a wide cell the first ones.

        None outside of the grid.
        """
        if not self.may_hold(x, y):
            return None
        column = bisect_right(self.columns, x) - 1
        row = bisect_right(self.rows, -y, key=neg) - 1
        if (row, column) not in self._known:
            self._known[row, column] = self._find_first(row, column)
        return self._known[row, column]

    def _find_first(self, row: int, column: int) -> tuple[int, int]:
        while row and not self._is_parted(row, column):
            row -= 1
        while column and not self._is_walled(row, column):
            column -= 1
        return row, column

    def may_hold(self, x: float, y: float) -> bool:
        """Tell whether a point is inside."""
        is_beside = self.columns[0] <= x < self.columns[-1]
        return is_beside and self.rows[-1] < y <= self.rows[0]

    def count_rows(self, row: int, column: int) -> int:
        """Return the number of rows that a cell is high."""
        last = row + 1
        while last < len(self.rows) - 1 and not self._is_parted(last, column):
            last += 1
        return last - row

    def _is_parted(self, row: int, column: int) -> bool:
        """Tell whether a line is over a cell."""
        middle = (self.columns[column] + self.columns[column + 1]) / 2
        return _has_line(self._level, self.rows[row], middle)

    def _is_walled(self, row: int, column: int) -> bool:
        """Tell whether a line is to the left of a cell."""
        middle = (self.rows[row] + self.rows[row + 1]) / 2
        return _has_line(self._upright, self.columns[column], middle)

    def is_single(self, row: int, column: int) -> bool:
        """Tell whether a cell belongs to no cell above or to the left of it."""
        is_top = row == 0 or self._is_parted(row, column)
        return is_top and (column == 0 or self._is_walled(row, column))


def find_grids(objects: PageObjects) -> list[Grid]:
    """Return the grids of a page that have two rows and two columns at least."""
    level, upright = _read_rules(objects)
    level, upright = _merge(level), _merge(upright)
    if len(level) * len(upright) > _MOST_PAIRS:
        return []
    grids = []
    for one, other in _group(level, upright):
        grid = Grid(one, other)
        if min(len(grid.rows), len(grid.columns)) > 2:  # noqa: PLR2004 -- around two
            grids.append(grid)
    return grids


def read_thin_shapes(objects: PageObjects) -> Iterator[Rule]:
    """Return the shapes of a page that are level lines; none of one with too many."""
    for shape in objects.kinds.shapes if objects.count <= _MOST else ():
        left, bottom, right, top = objects.place_of(shape)
        if top - bottom <= _THIN and right - left >= _SHORTEST and any(look_at(shape)):
            yield Rule((bottom + top) / 2, left, right)


def _has_line(rules: Sequence[Rule], at: float, point: float) -> bool:
    return any(abs(rule.at - at) <= _NEAR and rule.spans(point) for rule in rules)


def _distinct(points: Sequence[float]) -> list[float]:
    """Return points in their order, without those that are near another."""
    kept: list[float] = []
    for point in sorted(points):
        if not kept or point - kept[-1] > _SHORTEST:
            kept.append(point)
    return kept


def _merge(rules: Sequence[Rule]) -> list[Rule]:
    """Join lines that go on in one another."""
    merged: list[Rule] = []
    beside: list[Rule] = []
    for rule in sorted(rules):
        if beside and rule.at - beside[0].at > _SHORTEST:
            merged += _join(beside)
            beside = []
        beside.append(rule)
    return merged + _join(beside)


def _join(beside: Sequence[Rule]) -> list[Rule]:
    """Join lines of one height, or of one distance from the left."""
    joined: list[Rule] = []
    for rule in sorted(beside, key=lambda rule: rule.start):
        if joined and rule.start <= joined[-1].end + _NEAR:
            last = joined.pop()
            joined.append(Rule(last.at, last.start, max(last.end, rule.end)))
        else:
            joined.append(Rule(beside[0].at, rule.start, rule.end))
    return joined


def _group(
    level: Sequence[Rule], upright: Sequence[Rule]
) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Return the lines that cross one another, directly or by others."""
    left = {*upright}
    todo = [*level]
    while todo:
        one, other = [todo.pop(0)], list[Rule]()
        grows = True
        while grows:
            new = [each for each in left if any(_cross(rule, each) for rule in one)]
            left.difference_update(new)
            other += new
            more = [each for each in todo if any(_cross(each, rule) for rule in new)]
            one += more
            todo = [each for each in todo if each not in more]
            grows = bool(more)
        if other:
            yield one, other


def _cross(level: Rule, upright: Rule) -> bool:
    return level.spans(upright.at) and upright.spans(level.at)


def _read_rules(objects: PageObjects) -> tuple[list[Rule], list[Rule]]:
    level: list[Rule] = []
    upright: list[Rule] = []
    for shape in objects.kinds.shapes if objects.count <= _MOST else ():
        for line in _read_lines(shape, objects.edges_of(shape)):
            x, y, right, top = objects.turn.place(*line)
            if top - y <= _THIN and right - x >= _SHORTEST:
                level.append(Rule((y + top) / 2, x, right))
            elif right - x <= _THIN and top - y >= _SHORTEST:
                upright.append(Rule((x + right) / 2, y, top))
        if len(level) + len(upright) > _MOST:
            return [], []
    return level, upright


def _read_lines(
    shape: Drawn, edges: Box
) -> Iterator[tuple[float, float, float, float]]:
    """Return the lines of a shape: left, lower, right and upper edge of each."""
    left, bottom, right, top = edges
    width, height = right - left, top - bottom
    if width < _SHORTEST and height < _SHORTEST:
        return
    look = look_at(shape)
    if not any(look):
        return
    if width <= _THIN or height <= _THIN:
        yield edges
        return
    for part in _read_parts(import_raw_pdfium(), shape.handle):
        yield from _edges_of(part, is_line=look.has_outline)


def _read_parts(raw: Any, shape: Any) -> list[list[tuple[float, float]]]:
    """Return the corners of each part of a shape; none of one with curves."""
    matrix = raw.FS_MATRIX()
    count = raw.FPDFPath_CountSegments(shape)
    if count > _MOST or not raw.FPDFPageObj_GetMatrix(shape, matrix):
        return []
    parts: list[list[tuple[float, float]]] = []
    x, y = c_float(), c_float()
    for number in range(count):
        segment = raw.FPDFPath_GetPathSegment(shape, number)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_BEZIERTO:
            return []
        raw.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        if kind == raw.FPDF_SEGMENT_MOVETO or not parts:
            parts.append([])
        parts[-1].append(point)
        if raw.FPDFPathSegment_GetClose(segment):
            parts[-1].append(parts[-1][0])
    return parts


def _edges_of(
    part: Sequence[tuple[float, float]], *, is_line: bool
) -> Iterator[tuple[float, float, float, float]]:
    xs, ys = zip(*part, strict=True)
    if min(max(xs) - min(xs), max(ys) - min(ys)) <= _THIN:
        yield min(xs), min(ys), max(xs), max(ys)
    elif is_line:
        for (x, y), (right, top) in pairwise(part):
            yield min(x, right), min(y, top), max(x, right), max(y, top)
