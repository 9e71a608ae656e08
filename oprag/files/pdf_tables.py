"""Tables of a PDF page in which cells are empty: each value stays in its column.

A page has no tables, only text at places. Lines of it are taken for rows only if the
columns are proved: by ruled lines, or by values that stand under one another. All other
text stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from oprag.files.pdf_boxes import Boxes, Word
from oprag.files.pdf_changes import Change, apply_changes
from oprag.files.pdf_grids import Region, is_value, read_grids
from oprag.files.pdf_objects import PageObjects

_APART = 1.0
"""Heights of a line that are between two cells, at least."""
_GUTTER = 0.4
"""Heights of a line that are between two columns, at least."""
_ALIGNED = 2.5
"""Points by which the cells of a column may begin, or end, apart."""
_NEXT_ROW = 4.5
"""Heights of a line from one row to the next, at most."""
_FEWEST = 3
"""Rows of a table, and columns, at least."""
_FEWEST_GAPS = 2
"""Wide gaps in the lines of a page with a table, at least."""
_LONG = 70
"""Characters of a line from which on most of its words may not be in small letters."""
_LINES_BETWEEN = 2
"""Lines of a single cell between two rows, at most."""
_WORDS = 4.0
"""Words that the cells of a column of names have on average, at most."""
_DIGIT = re.compile(r"\d")


Line = Sequence[Word]
_Column = tuple[float, float]


def may_have_tables(text: str, rectangles: Sequence[Sequence[float]]) -> bool:
    """Tell whether some lines near one another may be rows of a table."""
    gaps = 0
    for last, box in pairwise(rectangles):
        height = max(box[3] - box[1], last[3] - last[1], 1.0)
        is_beside = abs(box[1] - last[1]) < height / 2
        gaps += is_beside and box[0] - last[2] > _APART * height
        if gaps >= _FEWEST_GAPS:
            return True
    rows = 0
    for line in text.split("\n"):
        rows = rows + 1 if _holds_many_values(line) else max(rows - 1, 0)
        if rows >= _FEWEST - 1:
            return True
    return False


def _holds_many_values(line: str) -> bool:
    words = line.split(" ")
    values = sum(not word.isalpha() and bool(_DIGIT.search(word)) for word in words)
    return len(words) > 1 and _WORDS * values >= len(words)


def _is_running_text(line: str) -> bool:
    if len(line) <= _LONG or _holds_many_values(line):
        return False
    words = line.split()
    return 2 * sum(word[0].islower() for word in words) >= len(words)


def mark_empty_cells(
    objects: PageObjects, text: str, indices: Sequence[int], boxes: Boxes
) -> tuple[str, list[int]]:
    """Write the rows of tables with empty cells before others as `| a |  | c |`."""
    lines = [*_read_lines(text, indices, boxes)]
    regions = read_grids(objects, text, indices, boxes)
    ruled = [(region.start, region.end) for region in regions]
    for number, line in enumerate(lines):
        if line and any(start <= line[0].start < end for start, end in ruled):
            lines[number] = []
    regions += _find_rows(text, lines)
    rows = [_write_rows(region, text, indices) for region in regions]
    return apply_changes(text, indices, rows)


def _write_rows(region: Region, text: str, indices: Sequence[int]) -> Change:
    """Write a region as rows; a mark between cells has the number of its neighbour."""
    shown: list[str] = []
    numbers: list[int] = []
    near = indices[region.start]

    def mark(marks: str) -> None:
        shown.extend(marks)
        numbers.extend([near] * len(marks))

    for number, row in enumerate(region.rows):
        mark("\n|" if number else "|")
        for column in range(region.width):
            pieces = row.get(column, ())
            mark("" if pieces else " ")
            for piece in pieces:
                mark(" ")
                for at in range(piece.start, piece.end):
                    near = indices[at]
                    mark("\\|" if text[at] == "|" else text[at])
            mark(" |")
    return Change(region.start, region.end, "".join(shown), numbers)


def _read_lines(text: str, indices: Sequence[int], boxes: Boxes) -> Iterator[Line]:
    """Return the cells of each line, which wide gaps divide.

    Of a line that is not level there are none.
    """
    for match in re.finditer(r"[^\n]+", text):
        cells: list[Word] = []
        if _is_running_text(match[0]):
            yield cells
            continue
        for found in boxes.find_words(text, indices, *match.span()):
            before = cells[-1] if cells else None
            if before is None:
                cells.append(found)
                continue
            height = max(before.height, found.height, 4.0)
            if abs(before.bottom + before.top - found.bottom - found.top) > height:
                cells = []
                break
            if found.left - before.right >= _APART * height:
                cells.append(found)
                continue
            bottom, top = min(before.bottom, found.bottom), max(before.top, found.top)
            right = max(before.right, found.right)
            cells[-1] = Word(before.start, found.end, before.left, bottom, right, top)
        yield cells


def _find_rows(text: str, lines: Sequence[Line]) -> Iterator[Region]:
    """Yield the rows of tables whose columns are proved by the cells alone.

    A block is of lines one below another, whose cells fit into common columns. Between
    two of them may be a few lines that are no rows: a group's name, or the rest of a
    cell that is broken.
    """
    block: list[Line] = []
    columns: list[_Column] = []
    last: Line = ()
    between = 0
    for line in [*lines, ()]:  # the empty one ends the last block
        fitted = _fit(columns, line) if block and _is_below(line, last) else []
        if _is_between_rows(text, line, columns, fitted):
            between += 1
            last = line
            if between <= _LINES_BETWEEN:
                continue
            fitted = []
        if fitted:
            block.append(line)
            columns = fitted
        else:
            yield from _judge(text, block, columns)
            block = [line] if len(line) > 1 else []
            columns = [(cell.left, cell.right) for cell in line]
        last = line
        between = 0
    yield from _judge(text, block, columns)


def _is_between_rows(
    text: str, line: Line, columns: Sequence[_Column], fitted: Sequence[_Column]
) -> bool:
    """Tell whether a line is one cell that is no row: in the first column, or words.

    Args:
        text: The text of the page.
        line: The cells of the line.
        columns: Those of the block before it.
        fitted: The same with this line; none if it does not fit into them.
    """
    if len(line) != 1 or not fitted or len(fitted) != len(columns):
        return False
    return line[0].left < columns[0][1] or not _is_value(text, line[0])


def _is_below(line: Line, last: Line) -> bool:
    """Tell whether a line may be the next row."""
    if not line or not last:
        return False
    height = max(line[0].height, last[0].height, 6.0)
    return 0.5 * height < last[0].bottom - line[0].bottom < _NEXT_ROW * height


def _fit(columns: Sequence[_Column], line: Line) -> list[_Column]:
    """Return the columns with a line more; none if it does not fit into them."""
    margin = _GUTTER * max((cell.height for cell in line), default=0.0)
    fitted = [*columns]
    taken: set[int] = set()
    for cell in line:
        hit = [
            number
            for number, (left, right) in enumerate(columns)
            if cell.left < right + margin and cell.right > left - margin
        ]
        if len(hit) > 1 or not taken.isdisjoint(hit):
            return []
        if not hit:
            fitted.append((cell.left, cell.right))
            continue
        taken.update(hit)
        left, right = columns[hit[0]]
        fitted[hit[0]] = (min(left, cell.left), max(right, cell.right))
    fitted.sort()
    for last, column in pairwise(fitted):
        if column[0] - last[1] < margin:
            return []
    return fitted


def _judge(
    text: str, block: Sequence[Line], columns: Sequence[_Column]
) -> Iterator[Region]:
    """Return the lines as rows if they are proved to be those of a table."""
    block = [*block]
    while block and len(block[-1]) == 1:
        block.pop()
    if len(block) < _FEWEST or len(columns) < _FEWEST:
        return
    rows = [_place_cells(line, columns) for line in block]
    moved = [row for row in rows if max(row) >= len(row)]  # empty before another
    if not moved or not _is_table(text, rows, len(columns)):
        return
    body = _first_of_values(text, rows)
    doubtful = [
        row
        for number, row in enumerate(rows)
        if number >= body and max(row) >= len(row) and not _holds_values(text, row)
    ]
    holds_names = all(0 in row for row in doubtful) and _holds_names(text, rows)
    if doubtful and not holds_names:
        return
    for line, row in zip(block, rows, strict=True):
        cells = {column: (cell,) for column, cell in row.items()}
        yield Region(line[0].start, line[-1].end, (cells,), len(columns))


def _place_cells(line: Line, columns: Sequence[_Column]) -> dict[int, Word]:
    """Return the cells of a line by the numbers of their columns."""
    found: dict[int, Word] = {}
    for cell in line:
        for number, (left, right) in enumerate(columns):
            if left <= cell.left and cell.right <= right:
                found[number] = cell
    return found


def _first_of_values(text: str, rows: Sequence[Mapping[int, Word]]) -> int:
    """Return the number of the first row that is none of headings."""
    for number, row in enumerate(rows):
        if any(column and _is_value(text, cell) for column, cell in row.items()):
            return max(number, 1)
    return 1


def _is_table(text: str, rows: Sequence[Mapping[int, Word]], width: int) -> bool:
    """Tell whether all columns are there, and the cells of each stand in line."""
    full = sum(len(row) == width for row in rows)
    if full < 2 and len(rows[0]) < width:  # noqa: PLR2004 -- one may be by chance
        return False
    body = _first_of_values(text, rows)
    for column in range(width):
        cells = [row[column] for row in rows if column in row]
        inner = [row[column] for row in rows[body:] if column in row]
        if len(cells) < 2:  # noqa: PLR2004 -- as above
            return False
        are_values = all(_is_value(text, cell) for cell in inner)
        if not _stand_in_line(
            inner if len(inner) > 1 else cells, are_values=are_values
        ):
            return False
    return True


def _stand_in_line(cells: Sequence[Word], *, are_values: bool) -> bool:
    """Tell whether cells have one edge or one middle in common."""
    lefts = [cell.left for cell in cells]
    rights = [cell.right for cell in cells]
    middles = [(cell.left + cell.right) / 2 for cell in cells]
    if any(max(each) - min(each) < _ALIGNED for each in (lefts, rights, middles)):
        return True
    return are_values and max(lefts) < min(rights)


def _holds_values(text: str, row: Mapping[int, Word]) -> bool:
    """Tell whether all cells after the first empty one hold values."""
    first = next(column for column in range(max(row)) if column not in row)
    return all(_is_value(text, row[column]) for column in row if column > first)


def _holds_names(text: str, rows: Sequence[Mapping[int, Word]]) -> bool:
    """Tell whether all cells are short, and none goes on from the line above."""
    cells = [text[cell.start : cell.end] for row in rows for cell in row.values()]
    words = sum(len(cell.split()) for cell in cells)
    return words < _WORDS * len(cells) and not any(cell[0].islower() for cell in cells)


def _is_value(text: str, cell: Word) -> bool:
    return is_value(text[cell.start : cell.end])
