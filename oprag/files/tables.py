"""Sheets of Excel and OpenDocument, and CSV: rows with their numbers."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Iterator, Sequence
from typing import Any

from oprag.files.bodies import Body, Landmark, as_row, damaged, join_pieces
from oprag.files.text import decode
from oprag.optional import require
from oprag.splitting import name_columns

_SAMPLE = 4096
"""Characters by which it is known what divides the values of a CSV."""


def read_sheets(data: bytes) -> list[Body]:
    """Read a workbook: each sheet that is shown, row by row.

    Raises:
        MissingDependencyError: python-calamine is not installed.
        NoTextError: It is damaged or locked.
    """
    library = require("python_calamine", extra="cli", purpose="Reading spreadsheets")
    try:
        book = library.CalamineWorkbook.from_filelike(io.BytesIO(data))
        return [
            body
            for sheet in book.sheets_metadata
            if sheet.visible == library.SheetVisibleEnum.Visible
            and sheet.typ == library.SheetTypeEnum.WorkSheet
            and (body := _read_sheet(book.get_sheet_by_name(sheet.name))).text
        ]
    except (library.CalamineError, OSError, ValueError) as error:
        raise damaged("a spreadsheet", error) from error


def _read_sheet(sheet: Any) -> Body:
    first = sheet.start[0] if sheet.start else 0
    rows = sheet.to_python(skip_empty_area=True)
    texts = [[_write(value) for value in row] for row in rows]
    _repeat_down(texts, sheet)
    body = join_pieces(_place_rows([*enumerate(texts, first + 1)], as_row))
    return body._replace(name=f'sheet "{sheet.name}"')


def _repeat_down(rows: list[list[str]], sheet: Any) -> None:
    """Write what one cell says over several rows into each of them."""
    first, left = sheet.start or (0, 0)
    for (top, start), (bottom, _) in getattr(sheet, "merged_cell_ranges", None) or ():
        column = start - left
        inside = rows[max(top - first, 0) : bottom - first + 1]
        for row in inside[1:]:
            if column < len(row):
                row[column] = inside[0][column]


def _place_rows(
    rows: Sequence[tuple[int, Sequence[str]]], write: Any
) -> Iterator[tuple[str, Landmark]]:
    """Return each row that holds something; the first of several values heads them."""
    columns: str | None = None
    for number, row in rows:
        if not any(row):
            continue
        heading = columns
        if columns is None and sum(map(bool, row)) > 1:
            columns = name_columns("", as_row(row))
        yield write(row), Landmark(0, heading=heading, unit=("row", number))


def _write(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return str(value)


def read_csv(data: bytes) -> list[Body]:
    """Read a CSV as it is written; each row is a landmark, the first their heading.

    Raises:
        NoTextError: It is no text.
    """
    text = decode(data)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:_SAMPLE], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    landmarks: list[Landmark] = []
    columns: str | None = None
    lines = io.StringIO(text, newline="")
    start = 0
    try:
        for number, row in enumerate(csv.reader(_Counted(lines), dialect), 1):
            landmarks.append(Landmark(start, heading=columns, unit=("row", number)))
            if columns is None and sum(map(bool, row)) > 1:
                columns = name_columns("", as_row(row))
            start = lines.tell()
    except csv.Error:  # a value that is too long: the text is as it is
        return [Body(text)]
    return [Body(text, landmarks=tuple(landmarks))]


class _Counted:
    """Lines one by one, so that it is known where a row ends."""

    def __init__(self, file: io.StringIO) -> None:
        self._file = file

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.readline, "")
