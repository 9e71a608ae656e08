"""Sheets of OpenDocument: hidden, struck, raised and merged cells."""

import zipfile

import pytest

from oprag.files import read_file

_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}:1.0"'
    for name, path in (
        *((name, name) for name in ("office", "table", "text", "style")),
        ("draw", "drawing"),
    )
)
_LOOKS = """
<style:style style:name="struck" style:family="table-cell">
  <style:text-properties style:text-line-through-style="solid"/></style:style>
<style:style style:name="too" style:family="text" style:parent-style-name="struck"/>
<style:style style:name="up" style:family="text">
  <style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="higher" style:family="text">
  <style:text-properties style:text-position="33% 58%"/></style:style>
"""
_FOLDED = '<table:table-row-group table:display="false">'


def _cell(text, more=""):
    kind = 'office:value-type="string"'
    return f"<table:table-cell {kind} {more}><text:p>{text}</text:p></table:table-cell>"


def _row(*cells, more=""):
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


def _read(folder, *parts):
    sheet = f'<table:table table:name="A">{"".join(parts)}</table:table>'
    with zipfile.ZipFile(folder / "a.ods", "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("META-INF/manifest.xml", "<manifest/>")
        packed.writestr(
            "content.xml",
            f"<office:document-content {_NAMES}>"
            f"<office:automatic-styles>{_LOOKS}</office:automatic-styles><office:body>"
            f"<office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
            "</office:document-content>",
        )
    (text,) = read_file(folder / "a.ods")
    return text


@pytest.mark.parametrize("visibility", ["collapse", "filter"])
def test_hidden_rows_and_columns_are_left_out_and_counted(visibility, tmp_path):
    hides = f'table:visibility="{visibility}"'
    text = _read(
        tmp_path,
        "<table:table-column/>",
        f'<table:table-column {hides} table:number-columns-repeated="2"/>',
        f"<table:table-header-rows>{_row(*map(_cell, 'AXYB'))}",
        "</table:table-header-rows>",
        _row("<table:table-cell/>", more='table:number-rows-repeated="3"'),
        _row(*map(_cell, "1xy2"), more=f'{hides} table:number-rows-repeated="2"'),
        f"{_FOLDED}{_row(*map(_cell, '3xy4'), more=hides)}</table:table-row-group>",
        _row(
            "<table:table-cell/>", more=f'{hides} table:number-rows-repeated="999999"'
        ),
    )

    assert text.text == "| A | B |\n| 3 | 4 |"
    assert text.notice == '2 rows and 2 columns of sheet "A" are hidden'
    assert [each.unit for each in text.landmarks] == [("row", 1), ("row", 7)]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (_cell("old", 'table:style-name="struck"'), ""),
        (_cell('5<text:span text:style-name="too">6</text:span>7'), "57"),
        (_cell('10<text:span text:style-name="up">6</text:span> t'), "10^6 t"),
        (_cell('10<text:span text:style-name="higher">6</text:span>'), "10^6"),
        (
            _cell("one<text:line-break/>two<text:tab/>three<text:s/>4"),
            "one two three 4",
        ),
        (_cell("#DIV/0!", 'office:string-value=""'), "#DIV/0!"),
        ('<table:table-cell table:formula="of:=SUM([.A1:.A2])"/>', "=SUM(A1:A2)"),
    ],
)
def test_a_cell_is_read_as_it_is_seen(cell, shown, tmp_path):
    text = _read(tmp_path, _row(_cell("a"), cell, _cell("b")))

    assert text.text == f"| a | {shown} | b |"


def test_a_column_says_how_its_cells_look(tmp_path):
    column = '<table:table-column table:default-cell-style-name="struck"/>'
    text = _read(tmp_path, column, _row(_cell("old"), _cell("new")))

    assert text.text == "|  | new |"


def test_a_cell_over_several_rows_is_in_each(tmp_path):
    over_two = _cell("1900", 'table:number-rows-spanned="2"')
    text = _read(
        tmp_path,
        _row(over_two, _cell("coal")),
        _row("<table:covered-table-cell/>", _cell("iron")),
    )

    assert text.text == "| 1900 | coal |\n| 1900 | iron |"


def test_a_sheet_says_that_its_text_boxes_are_not_read(tmp_path):
    box = (
        "<draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame>"
    )
    text = _read(tmp_path, f"<table:shapes>{box}</table:shapes>", _row(_cell("a")))

    assert text.text == "| a |"
    assert text.notice == 'text boxes of sheet "A" are not read'
