"""Tables of a PDF page whose cells are divided by ruled lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from unicodedata import category

from oprag.files.pdf_boxes import Boxes, Word
from oprag.files.pdf_objects import PageObjects
from oprag.files.pdf_rules import Grid, find_grids

_LETTERS = 3
"""Letters of a value, such as those of a unit or a month, at most."""
_SAID = frozenset(("n/a", "no", "none", "yes", "\u2022", "\u221a"))
"""Words and marks that are values; the marks are a bullet and a root for a hook."""
_KINDS = frozenset(("Nd", "Nl", "No", "Pd", "Sc", "So", "Co"))
"""Categories of digits, dashes and marks: `=` and `+` are in none of them."""
_LONGEST = 400
"""Characters of a cell, at most: a longer one is layout."""
_FEWEST_CELLS = 2
"""Words of a column that hold text, at least, the heading among them."""


Row = Mapping[int, Sequence[Word]]
"""The pieces of text in each column that holds some, by its number."""


class Region(NamedTuple):
    """Characters of the text, `[start, end)`, that are rows of a table."""

    start: int
    end: int
    rows: Sequence[Row]
    width: int
    """The number of columns."""


def is_value(said: str) -> bool:
    """Tell whether a cell holds a number, a date or a mark."""
    if said.lower() in _SAID:
        return True
    letters = sum(map(str.isalpha, said))
    if not letters:
        return not _KINDS.isdisjoint(map(category, said))
    return letters <= _LETTERS and any(map(str.isdigit, said))


def read_grids(
    objects: PageObjects, text: str, indices: Sequence[int], boxes: Boxes
) -> list[Region]:
    """Return the ruled tables of a page in which a cell before another is empty."""
    grids = find_grids(objects)
    if not grids:
        return []
    words = [*boxes.find_words(text, indices)]
    found = (_read_grid(grid, text, words) for grid in grids)
    return [*_without_overlaps(filter(None, found))]


def _without_overlaps(regions: Iterator[Region]) -> Iterator[Region]:
    done = 0
    for region in sorted(regions, key=lambda region: region.start):
        if region.start >= done:
            yield region
            done = region.end


def _read_grid(grid: Grid, text: str, words: Sequence[Word]) -> Region | None:
    """Return a grid with its text; None if it is no table with an empty cell."""
    cells: dict[tuple[int, int], list[Word]] = {}
    inside: list[int] = []
    for number, word in enumerate(words):
        if not grid.may_hold(word.left, word.bottom):
            continue
        y = (word.bottom + word.top) / 2
        place = grid.find(word.left + 0.5, y)
        if place is None or place != grid.find(word.right - 0.5, y):
            return None
        cells.setdefault(place, []).append(word)
        inside.append(number)
    if not inside or inside[-1] - inside[0] >= len(inside):  # other text is between
        return None
    start, end = words[inside[0]].start, words[inside[-1]].end
    if not _are_whole_lines(text, start, end) or not _is_table(grid, text, cells):
        return None
    rows: dict[int, dict[int, Sequence[Word]]] = {}
    for row, column in sorted(cells):
        pieces = _pieces(text, cells[row, column])
        rows.setdefault(row, {})[column] = pieces
    return Region(start, end, [*rows.values()], len(grid.columns) - 1)


def _are_whole_lines(text: str, start: int, end: int) -> bool:
    before, after = text[:start].rstrip(" "), text[end:].lstrip(" ")
    return before[-1:] in {"", "\n"} and after[:1] in {"", "\n"}


def _is_table(
    grid: Grid, text: str, cells: Mapping[tuple[int, int], Sequence[Word]]
) -> bool:
    """Tell whether a grid has headings, and an empty cell before another."""
    first = min(row for row, _ in cells)
    width = len(grid.columns) - 1
    for column in range(width):
        is_named = (first, column) in cells or not grid.is_single(first, column)
        filled = sum(place[1] == column for place in cells)
        if column and (not is_named or filled < _FEWEST_CELLS):
            return False
    for (row, column), words in cells.items():
        if _is_unruled(text, words, grid.count_rows(row, column)):
            return False
    return any(
        (row, before) not in cells and grid.is_single(row, before)
        for row, column in cells
        for before in range(column)
    )


def _is_unruled(text: str, words: Sequence[Word], rows: int) -> bool:
    """Tell whether a cell holds the text of several rows, or of a page."""
    pieces = [text[each.start : each.end] for each in _pieces(text, words)]
    if sum(map(len, pieces)) > _LONGEST:
        return True
    if len(pieces) > 1 and all(map(is_value, pieces)):
        return True
    return len(pieces) >= rows > 2  # noqa: PLR2004 -- a heading of two lines


def _pieces(text: str, words: Sequence[Word]) -> list[Word]:
    """Join the words of a line."""
    pieces: list[Word] = []
    for word in words:
        last = pieces[-1] if pieces else None
        if last is not None and not text[last.end : word.start].strip(" "):
            pieces[-1] = last._replace(end=word.end)
        else:
            pieces.append(word)
    return pieces
