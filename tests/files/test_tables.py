"""Sheets and CSV of real people: formulas without values, titles, huge values."""

import csv
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from xlsxwriter import Workbook

from oprag.files import columns, read_file, tables


def _change(folder: Path, *changes: tuple[bytes, bytes]) -> None:
    """Write `made.xlsx` as `a.xlsx`, with other bytes in its files."""
    with (
        zipfile.ZipFile(folder / "made.xlsx") as old,
        zipfile.ZipFile(folder / "a.xlsx", "w") as new,
    ):
        for name in old.namelist():
            written = old.read(name)
            for before, after in changes:
                written = written.replace(before, after)
            new.writestr(name, written)


def test_a_formula_that_was_never_computed_and_an_error_are_shown(tmp_path):
    with Workbook(tmp_path / "made.xlsx") as made:
        sheet = made.add_worksheet("A")
        sheet.write_row(0, 0, ["Sum", "Empty", "Bad"])
        sheet.write_formula(1, 0, "=SUM(1,2)", None, 3)
        sheet.write_formula(1, 1, '=""', None, "")
        sheet.write_formula(1, 2, "=1/0", None, "#DIV/0!")
    _change(
        tmp_path, (b"</f><v>3</v>", b"</f>"), (b'<c r="B2">', b'<c r="B2" t="str">')
    )

    (text,) = read_file(tmp_path / "a.xlsx")

    assert text.text.splitlines()[1] == "| =SUM(1,2) |  | #DIV/0! |"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("<c r='B2'><f>A2*2</f><v /></c>", "| Sum |  |\n| 3 | =A2*2 |"),
        ("<x:c r='B2'><x:f>A2*2</x:f></x:c>", "| Sum |  |\n| 3 | =A2*2 |"),
        (
            "<c r='B2'><f t='shared'/></c></row><row r='3'><c r='B3'><v>1</v></c>",
            "| Sum |  |\n| 3 |  |\n|  | 1 |",
        ),
        (
            "<c r='B2'><f>A2</f></c></row><row r='4'><c r='C4'><f>A2+1</f></c>",
            "| Sum |  |  |\n| 3 | =A2 |  |\n|  |  | =A2+1 |",
        ),
    ],
)
def test_a_formula_is_shown_though_no_value_is_in_its_column(cell, shown, tmp_path):
    with Workbook(tmp_path / "made.xlsx") as made:
        made.add_worksheet("A").write_column(0, 0, ["Sum", 3])
    names = b'xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    _change(
        tmp_path,
        (b"<worksheet ", b"<worksheet " + names + b" "),
        (b"<v>3</v></c>", b"<v>3</v></c>" + cell.encode()),
    )

    assert read_file(tmp_path / "a.xlsx")[0].text == shown


def test_struck_text_of_a_workbook_with_prefixes_is_not_read(tmp_path):
    with Workbook(tmp_path / "made.xlsx") as made:
        struck = made.add_format({"font_strikeout": True})
        made.add_worksheet("A").write_rich_string(0, 0, "1", struck, "2", "3")
    names = b'xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    _change(tmp_path, (b"<sst ", b"<sst " + names + b" "), (b"<strike", b"<x:strike"))

    assert read_file(tmp_path / "a.xlsx")[0].text == "| 13 |"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<r><rPr><strike/></rPr><t>5</t></r><r><t>6</t></r>", "6"),
        ("<r><rPr><strike/></rPr><t>5</t></r>", ""),
        (
            "<r><t>10</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>6</t></r>",
            "10^6",
        ),
        ("<t>one</t><rPh sb='0' eb='1'><t>two</t></rPh>", "one"),
    ],
)
def test_a_text_is_as_it_looks_in_its_cell_and_in_the_list_of_texts(
    text, shown, tmp_path
):
    with Workbook(tmp_path / "made.xlsx") as made:
        struck = made.add_format({"font_strikeout": True})
        sheet = made.add_worksheet("A")
        sheet.write_row(0, 0, [1, "Text"])
        sheet.write_rich_string(1, 0, "1", struck, "2", "3")
    listed = b"<si><t>Text</t></si>", f"<si>{text}</si>".encode()
    inside = (
        b'<c r="B1" t="s"><v>0</v></c>',
        f'<c r="B1" t="inlineStr"><is>{text}</is></c>'.encode(),
    )

    for change in (listed, inside):
        _change(tmp_path, change)
        (read,) = read_file(tmp_path / "a.xlsx")
        assert read.text.splitlines() == [f"| 1 | {shown} |", "| 13 |  |"]


def test_a_sheet_says_that_its_text_boxes_are_not_read(tmp_path):
    with Workbook(tmp_path / "a.xlsx") as made:
        for name, boxed in (("A", "Boxed"), ("B", " ")):
            sheet = made.add_worksheet(name)
            sheet.write(0, 0, 1)
            sheet.insert_textbox(2, 2, boxed)
            sheet.insert_textbox(9, 2, boxed)

    assert [each.notice for each in read_file(tmp_path / "a.xlsx")] == [
        'text boxes of sheet "A" are not read',
        "",
    ]


def test_what_is_hidden_in_each_sheet_is_said_once(tmp_path):
    with Workbook(tmp_path / "a.xlsx") as made:
        for name in ("A", "B"):
            sheet = made.add_worksheet(name)
            sheet.write_column(0, 0, [1, 2])
            sheet.set_row(1, None, None, {"hidden": True})

    assert [each.notice for each in read_file(tmp_path / "a.xlsx")] == [
        '1 row of sheet "A" is hidden; 1 row of sheet "B" is hidden',
        "",
    ]


def test_a_number_is_as_long_as_it_is_exact(tmp_path):
    numbers = [1e300, 4111111111111111, -1e16, 0.5]
    with Workbook(tmp_path / "a.xlsx") as made:
        made.add_worksheet("A").write_row(0, 0, numbers)

    (text,) = read_file(tmp_path / "a.xlsx")

    assert text.text == "| 1e+300 | 4111111111111111 | -10000000000000000 | 0.5 |"


@pytest.mark.parametrize(
    ("written", "columns", "last"),
    [
        ("Report of 2024\n\nTeam;Cups\nA;3\nB;4\n", "Team | Cups", 5),
        ("sep=;\nTeam;Cups\nA;3\n", "Team | Cups", 3),
        (f'Team,Note\nA,"{"high " * 40_000}"\nB,low\n', "Team | Note", 3),
    ],
)
def test_rows_of_a_csv_are_known_whatever_is_above_or_in_them(
    written, columns, last, tmp_path
):
    (tmp_path / "a.csv").write_text(written)

    landmark = read_file(tmp_path / "a.csv")[0].landmarks[-1]

    assert (landmark.heading, landmark.unit) == (columns, ("row", last))


@pytest.mark.parametrize(
    ("usual", "odd"),
    [
        ("A,'x',low\n", 'A,"two\nlines",low\n'),
        ('A,"b c",low\n', 'A,"say ""a""\nor ""b""\nto us",low\n'),
        ('A, "b, c", low\n', 'A, "two\nlines", low\n'),
    ],
)
def test_rows_of_a_csv_are_known_though_its_beginning_shows_no_quotes(
    usual, odd, tmp_path
):
    above = "Team,Note,Rank\n" + usual * 600
    (tmp_path / "a.csv").write_text(f"{above}{odd}{usual}")

    *_, wide, last = read_file(tmp_path / "a.csv")[0].landmarks

    assert (wide.start, wide.unit) == (len(above), ("row", 602))
    assert (last.start, last.unit) == (len(above + odd), ("row", 603))


def test_csv_in_two_threads_have_long_values(monkeypatch):
    first_reads, second_reads = Event(), Event()

    def name_columns(_: str, row: str) -> str:
        if row == "| 1 | A |":
            first_reads.set()
            second_reads.wait(10)
        else:
            second_reads.set()
            first.result(10)
        return row

    monkeypatch.setattr(columns, "name_columns", name_columns)
    csv.field_size_limit(131_072)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(tables.read_csv, b"1,A\n")
        first_reads.wait(10)
        long = b"2,B\n3,C\n4,%s\n" % (b"D" * 200_000)
        second = threads.submit(tables.read_csv, long)

    assert len(second.result()[0].landmarks) == 3
