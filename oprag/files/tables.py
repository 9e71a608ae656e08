"""Sheets of Excel and OpenDocument, and CSV: rows with their numbers."""

from __future__ import annotations

import csv
import datetime as dt
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from oprag.files.bodies import Body, Landmark, as_row, damaged, join_pieces
from oprag.files.columns import head_rows
from oprag.files.ods_looks import CONTENT, read_ods_looks
from oprag.files.sheet_looks import BOOK, Looks, read_xlsx_looks
from oprag.files.text import NoTextError, decode_or_guess, name_guess
from oprag.files.word_parts import check_unpacked
from oprag.optional import require

_LONGEST_WHOLE = 1e16
"""Up to here whole numbers are written with all of their digits."""
_SEPARATORS = ",;\t|"
_LONGEST_VALUE = (1 << 31) - 1
"""Characters of a value, at most, as any system can count them."""
_SAMPLE = 4096
"""Characters from which the separator of a CSV is found."""


def read_sheets(data: bytes) -> list[Body]:
    """Read a workbook: each sheet that is shown, row by row.

    Raises:
        MissingDependencyError: python-calamine is not installed.
        NoTextError: It is damaged or locked.
    """
    library = require("python_calamine", extra="cli", purpose="Reading spreadsheets")
    try:
        book = library.CalamineWorkbook.from_filelike(io.BytesIO(data))
        looks = _read_looks(data)
        sheets = [
            sheet
            for sheet in book.sheets_metadata
            if sheet.typ == library.SheetTypeEnum.WorkSheet
        ]
        bodies = [
            _read_sheet(book.get_sheet_by_name(sheet.name), looks.get(sheet.name))
            for sheet in sheets
            if sheet.visible == library.SheetVisibleEnum.Visible
        ]
    except NoTextError:
        raise
    except (*_complaints(), library.CalamineError) as error:
        raise damaged("a spreadsheet") from error
    hidden = [
        sheet.name
        for sheet in sheets
        if sheet.visible != library.SheetVisibleEnum.Visible
    ]
    notices = [body.notice for body in bodies if body.notice]
    notices += [
        f'text boxes of sheet "{name}" are not read'
        for name, look in looks.items()
        if look.has_boxes and name not in hidden
    ]
    notices += [f'sheet "{name}" is hidden' for name in hidden]
    bodies = [body._replace(notice="") for body in bodies if body.text]
    if bodies:
        bodies[0] = bodies[0]._replace(notice="; ".join(notices))
    return bodies


def _read_looks(data: bytes) -> dict[str, Looks]:
    """Return how the sheets of a workbook look; nothing is known of older formats."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return {}
    check_unpacked(data)
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        names = packed.namelist()
        if BOOK in names:
            return read_xlsx_looks(packed)
        return read_ods_looks(packed) if CONTENT in names else {}


def _complaints() -> tuple[type[Exception], ...]:
    etree = require("lxml.etree", extra="cli", purpose="Reading spreadsheets")
    faults = (zipfile.BadZipFile, zlib.error, OSError, ValueError, LookupError)
    return (*faults, TypeError, AttributeError, NotImplementedError, etree.LxmlError)


def _read_sheet(sheet: Any, looks: Looks | None) -> Body:
    rows = sheet.to_python(skip_empty_area=True)
    texts = [[_write(value) for value in row] for row in rows]
    first, left = sheet.start or (0, 0)
    notice = ""
    if looks is not None:
        texts, first, left = _fill_in(texts, first, left, looks)
    merged = getattr(sheet, "merged_cell_ranges", None) or (looks and looks.merged)
    _repeat_down(texts, first, left, merged or ())
    numbered = [*enumerate(texts, first + 1)]
    if looks is not None:
        numbered, notice = _leave_out(numbered, left, looks, sheet.name)
    body = join_pieces(_place_rows(numbered))
    return body._replace(name=f'sheet "{sheet.name}"', notice=notice)


def _fill_in(
    texts: Sequence[Sequence[str]], first: int, left: int, looks: Looks
) -> tuple[list[list[str]], int, int]:
    """Write the texts that cells show; some may be outside of all values.

    Returns:
        The rows, one as wide as another, and the numbers of the first row and column.
    """
    filled = [place for place, text in looks.cells.items() if text]
    if texts:
        last = first + len(texts) - 1, left + len(texts[0]) - 1
        filled += [(first, left), last]
    top = min((row for row, _ in filled), default=0)
    bottom = max((row for row, _ in filled), default=-1)
    start = min((column for _, column in filled), default=0)
    width = max((column for _, column in filled), default=-1) + 1 - start
    rows = [[""] * width for _ in range(top, bottom + 1)]
    for row, values in zip(rows[first - top :], texts, strict=False):
        row[left - start : left - start + len(values)] = values
    for (number, column), text in looks.cells.items():
        if top <= number <= bottom and start <= column < start + width:
            rows[number - top][column - start] = text
    return rows, top, start


def _leave_out(
    rows: Sequence[tuple[int, list[str]]], left: int, looks: Looks, name: str
) -> tuple[list[tuple[int, list[str]]], str]:
    """Leave out hidden rows and columns, and say how many of them hold something."""
    width = max((len(row) for _, row in rows), default=0)
    columns = [at for at in range(width) if at + left in looks.columns]
    lost = [at for at in columns if any(row[at : at + 1] > [""] for _, row in rows)]
    hidden = [row for number, row in rows if number - 1 in looks.rows and any(row)]
    shown = [
        (number, [value for at, value in enumerate(row) if at not in columns])
        for number, row in rows
        if number - 1 not in looks.rows
    ]
    counts = ((len(hidden), "row"), (len(lost), "column"))
    said = [f"{count} {kind}{'s' * (count > 1)}" for count, kind in counts if count]
    are = "is" if len(hidden) + len(lost) == 1 else "are"
    notice = f'{" and ".join(said)} of sheet "{name}" {are} hidden' if said else ""
    return shown, notice


def _repeat_down(
    rows: list[list[str]], first: int, left: int, merged: Sequence[Any]
) -> None:
    """Repeat the value of a cell over several rows in each of them."""
    for (top, start), (bottom, _) in merged:
        column = start - left
        inside = rows[max(top - first, 0) : bottom - first + 1]
        for row in inside[1:]:
            if column < len(row):
                row[column] = inside[0][column]


def _place_rows(
    rows: Sequence[tuple[int, Sequence[str]]],
) -> Iterator[tuple[str, Landmark]]:
    """Return rows that hold something, under the names of their columns."""
    headings = head_rows(row for _, row in rows)
    for (number, row), heading in zip(rows, headings, strict=True):
        if any(row):
            yield as_row(row), Landmark(0, heading=heading, unit=("row", number))


def _write(value: Any) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    if is_whole and abs(value) <= _LONGEST_WHOLE:
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return str(value)


def read_csv(data: bytes) -> list[Body]:
    """Read a CSV unchanged; each row is a landmark, under the names of its columns.

    Raises:
        NoTextError: It is no text.
    """
    text = decode_or_guess(data)
    separator = _find_separator(text[:_SAMPLE])
    lines = io.StringIO(text, newline="")
    starts = [0]
    rows = csv.reader(_Counted(lines), delimiter=separator, skipinitialspace=True)
    # It holds for all threads: to set it back would stop those that still read.
    csv.field_size_limit(_LONGEST_VALUE)
    headings = [*head_rows(_note_ends(rows, lines, starts))]
    placed = zip(starts, headings, strict=False)  # the last row's end is in `starts`
    landmarks = tuple(
        Landmark(start, heading=heading, unit=("row", number))
        for number, (start, heading) in enumerate(placed, 1)
    )
    return [Body(text, landmarks=landmarks, notice=name_guess(data))]


def _find_separator(sample: str) -> str:
    """Return what separates values; how they are quoted no sample tells."""
    try:
        return csv.Sniffer().sniff(sample, _SEPARATORS).delimiter
    except csv.Error:  # a title may stand above the table
        return max(_SEPARATORS, key=sample.count)


def _note_ends(
    rows: Iterable[list[str]], lines: io.StringIO, ends: list[int]
) -> Iterator[list[str]]:
    """Return rows, and add to `ends` where each ends in the text."""
    for row in rows:
        ends.append(lines.tell())
        yield row


class _Counted:
    """Lines one by one, so that the end of each row is known."""

    def __init__(self, file: io.StringIO) -> None:
        self._file = file

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.readline, "")
