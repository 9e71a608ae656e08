"""Kinds of files: their texts, and what places in them are named by."""

import json
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from pptx import Presentation
from pptx.util import Inches
from xlsxwriter import Workbook

from oprag.errors import UnreadableFileError
from oprag.files import FileText, read_file, read_files
from tests.files.mixed_files import pdf


def units(text: FileText) -> list[tuple[str, tuple[str, int]]]:
    """What each landmark that is counted begins with."""
    return [
        (text.text[each.start :].partition("\n")[0], each.unit)
        for each in text.landmarks
        if each.unit
    ]


def headings(text: FileText) -> list[tuple[str, str]]:
    return [
        (text.text[each.start :].partition("\n")[0], each.heading)
        for each in text.landmarks
        if each.heading is not None
    ]


def test_slides_are_parts_with_titles_tables_and_notes(tmp_path):
    made = Presentation()
    for number in range(3):
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = f"Part {number}"
        box = slide.shapes.add_textbox(0, 0, Inches(2), Inches(1))
        box.text_frame.text = f"The harbour in year {number}."
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
    for number, text in enumerate(("Year", "Coal", "1900", "")):
        table.cell(number // 2, number % 2).text = text
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    made.slides[1]._element.set("show", "0")
    made.save(tmp_path / "a.pptx")

    first, last = read_file(tmp_path / "a.pptx")

    assert first.text == "# Part 0\n\nThe harbour in year 0."
    assert first.metadata["part_name"] == "slide 1"
    assert first.notice == "1 of 3 slides is hidden (2)"
    assert last.part_name == "slide 3"
    assert "| Year | Coal |\n| 1900 | |" in last.text.replace("  ", " ")
    assert last.text.endswith("Notes: Say it slowly.")


def test_sheets_are_parts_of_rows_under_their_columns(tmp_path):
    rows = [["Year", "Coal", "Iron"], [1900, 12, 5.5], [], [1901, None, 7]]
    with Workbook(tmp_path / "a.xlsx") as made:
        prices, _, hidden = map(made.add_worksheet, ("Prices", "Empty", "Hidden"))
        hidden.write(0, 0, "Secret")
        hidden.hide()
        for number, row in enumerate(rows):
            prices.write_row(number, 0, row)

    (text,) = read_file(tmp_path / "a.xlsx")

    assert text.notice == 'sheet "Hidden" is hidden'
    assert text.part_name == 'sheet "Prices"'
    assert units(text) == [
        ("| Year | Coal | Iron |", ("row", 1)),
        ("| 1900 | 12 | 5.5 |", ("row", 2)),
        ("| 1901 |  | 7 |", ("row", 4)),
    ]
    assert {path for _, path in headings(text)} == {"Year | Coal | Iron"}


def test_what_excel_hides_strikes_and_raises_is_read_as_it_is_seen(tmp_path):
    with Workbook(tmp_path / "a.xlsx") as made:
        sheet = made.add_worksheet("A")
        for number, row in enumerate((["Port", "Secret", "Coal"], ["Hull", "x", 1])):
            sheet.write_row(number + 3, 2, row)
        sheet.write_row(5, 2, ["Secret", "Secret", 2])
        sheet.write_row(6, 2, ["Folded", "x"])
        struck = made.add_format({"font_strikeout": True})
        sheet.write(6, 4, 500, struck)
        raised = made.add_format({"font_script": 1})
        sheet.write(7, 2, "York")
        sheet.write_rich_string(7, 4, "10", raised, "6", struck, " old", " t")
        sheet.set_column(3, 3, None, None, {"hidden": True})
        sheet.set_row(5, None, None, {"hidden": True})
        sheet.set_row(6, None, None, {"hidden": True, "level": 1})

    (text,) = read_file(tmp_path / "a.xlsx")

    assert (
        text.text == "| Port | Coal |\n| Hull | 1 |\n| Folded |  |\n| York | 10^6 t |"
    )
    assert text.notice == '1 row and 1 column of sheet "A" are hidden'
    assert [unit for _, unit in units(text)] == [("row", n) for n in (4, 5, 7, 8)]


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("a.html", "<p>Käse für 5 € – überall</p>", "Käse für 5 € – überall"),
        ("a.csv", "Stadt;Preis\nKöln;5 €\n", "Stadt;Preis\nKöln;5 €\n"),
        ("a.srt", "00:00:01,000 --> 00:00:02,000\nCafé olé\n", "Café olé"),
        ("a.eml", "To: A\nContent-Type: text/plain\n\nGrüße", "To: A\n\nGrüße"),
    ],
)
def test_what_names_no_encoding_may_be_of_western_europe(
    name, content, shown, tmp_path
):
    (tmp_path / name).write_bytes(content.encode("cp1252"))

    (text,) = read_file(tmp_path / name)

    assert text.text == shown
    assert text.notice == "it names no encoding, and is read as Windows-1252"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("Гавань открылась в мае", "cp1251"),
        ("Гавань открылась в мае", "koi8-r"),
        ("Coal in May, Гавань", "cp1251"),
        ("Το λιμάνι άνοιξε", "cp1253"),
        ("הנמל נפתח במאי", "cp1255"),
        ("Zażółć gęślą jaźń, a potem w domu", "cp1250"),
        ("Příliš žluťoučký kůň, a potom doma", "cp1250"),
        ("Şehir çok güzel, ağaçlar yeşil", "cp1254"),
        ("港は五月に開いた", "shift_jis"),
    ],
)
def test_other_encodings_are_not_taken_for_western(content, encoding, tmp_path):
    page = f"<html><body><p>{content}</p></body></html>"
    (tmp_path / "a.html").write_bytes(page.encode(encoding))

    with pytest.raises(UnreadableFileError, match="save it as UTF-8"):
        read_file(tmp_path / "a.html")


def test_a_csv_is_as_it_is_written_and_its_rows_are_known(tmp_path):
    written = 'Team;Note\r\nA;"two\nlines; and ""more"""\r\nB;\r\n'
    (tmp_path / "a.csv").write_bytes(written.encode())

    (text,) = read_file(tmp_path / "a.csv")

    assert text.text == written
    starts = [each.start for each in text.landmarks]
    assert [written[start] for start in starts] == ["T", "A", "B"]
    assert [each.unit for each in text.landmarks] == [("row", n) for n in (1, 2, 3)]
    assert text.landmarks[2].heading == "Team | Note"


def test_chapters_of_an_e_book_come_in_the_order_of_reading(tmp_path):
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        '<item id="b" href="text/b%20c.xhtml"/><item id="a" href="a.xhtml"/>'
        '<item id="c" href="c.xhtml"/>'
        '</manifest><spine><itemref idref="a" linear="no"/><itemref idref="b"/>'
        '<itemref idref="c"/><itemref idref="gone"/></spine></package>'
    )
    with zipfile.ZipFile(tmp_path / "a.epub", "w") as packed:
        packed.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="in/p.opf"/></rootfiles></container>',
        )
        packed.writestr("in/p.opf", package)
        packed.writestr("in/text/b c.xhtml", "<h1>The tide</h1><p>It is high.</p>")
        latin = '<?xml version="1.0" encoding="iso-8859-1"?><p>It is l\xf6w.</p>'
        packed.writestr("in/a.xhtml", latin.encode("latin-1"))
        packed.writestr("in/c.xhtml", bytes(range(256)))

    first, second = read_file(tmp_path / "a.epub")

    assert (first.part_name, first.text) == ("chapter 1", "# The tide\n\nIt is high.")
    assert headings(first) == [("# The tide", "The tide")]
    assert (second.part_name, second.text) == ("chapter 2", "It is l\xf6w.")
    assert first.notice == "2 of 4 chapters are damaged or missing"


def test_a_notebook_is_what_somebody_wrote_and_what_the_code_said(tmp_path):
    def code(source: str, *outputs: Any) -> dict[str, Any]:
        return {"cell_type": "code", "source": source, "outputs": outputs}

    picture = {"data": {"image/png": "iVBORw0KGgo" * 400, "text/plain": "<Figure>"}}
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "High."]},
        code("# plot\nplot()", picture),
        code("1/0", {"ename": "ZeroDivisionError", "evalue": "division by zero"}),
        code("", {"text": "lost"}),
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))

    (text,) = read_file(tmp_path / "a.ipynb")

    assert text.text == (
        "# Tides\nHigh.\n\n```\n# plot\nplot()\n```\n<Figure>\n\n"
        "```\n1/0\n```\nZeroDivisionError: division by zero"
    )
    assert [unit for _, unit in units(text)] == [("cell", n) for n in (1, 2, 3)]
    assert headings(text) == [("# Tides", "Tides")]


VTT = """\
WEBVTT

NOTE not shown

1
00:00:01.000 --> 00:00:02.500 align:start
<v Anna>The tide &amp; the <i>wind</i>.

00:12:30.000 --> 01:13:05.000
The tide is high.
It falls.

01:13:05.000 --> 01:13:06.000
It falls.
At last.
"""


def test_subtitles_are_what_is_said_and_when(tmp_path):
    (tmp_path / "a.vtt").write_text(VTT)
    (tmp_path / "a.srt").write_text("1\r\n00:00:01,5 --> 00:00:02,000\r\nHigh.\r\n")

    (talk,) = read_file(tmp_path / "a.vtt")
    (film,) = read_file(tmp_path / "a.srt")

    said = "Anna: The tide & the wind.\nThe tide is high.\nIt falls.\nAt last."
    assert talk.text == said
    assert [each.time for each in talk.landmarks] == [
        (1.0, 2.5),
        (750.0, 4385.0),
        (4385.0, 4386.0),
    ]
    assert (film.text, film.landmarks[0].time) == ("High.", (1.5, 2.0))


SRT = """\
1
00:00:01,000 --> 00:00:02,000
High.

Still high.
2
00:00:aa --> 00:00:05,500
A bad time.

3
00:00:06,000 --> 00:00:07,000
No.

4
00:00:16,000 --> 00:00:17,000
No.
"""


@pytest.mark.parametrize(
    "codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]
)
def test_subtitles_with_mistakes_lose_nothing(codec, tmp_path):
    (tmp_path / "a.srt").write_bytes(SRT.encode(codec))

    (film,) = read_file(tmp_path / "a.srt")

    assert film.text == "High.\nStill high.\nA bad time.\nNo.\nNo."
    assert [each.time for each in film.landmarks][1:] == [(5.5, 5.5), (6, 7), (16, 17)]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ({"data": {"text/html": "<table><tr><td>12</table>"}}, "12"),
        ({"data": {"text/markdown": ["**12**"]}}, "**12**"),
        ({"text": "\x1b[31m12\x1b[0m"}, "12"),
        ({"data": {"text/html": "<p>12", "text/plain": "<IPy.HTML object>"}}, "12"),
        ({"data": {"text/markdown": "12", "text/plain": "<a.B at 0x1f>"}}, "12"),
        ({"data": {"text/html": "<script>", "text/plain": "<a.B>"}}, "<a.B>"),
        ({"text": "  1%|\r 50%|\rdone\nnext"}, "done\nnext"),
        ({"text": "1\r2\r3\r"}, "3"),
    ],
)
def test_an_output_is_what_is_seen_of_it(output, text, tmp_path):
    cell = {"cell_type": "code", "input": "x", "outputs": [output]}
    picture = f"![a](data:image/png;base64,{'iVBORw0KGgo' * 40})"
    title = {"cell_type": "heading", "level": 2, "source": f"Tides {picture}"}
    sheets = {"worksheets": [{"cells": [title, cell]}]}
    (tmp_path / "a.ipynb").write_text(json.dumps(sheets))

    (book,) = read_file(tmp_path / "a.ipynb")

    assert book.text == f"## Tides ![a]()\n\n```\nx\n```\n{text}"


def test_a_cell_over_several_rows_of_a_sheet_is_in_each(tmp_path):
    with Workbook(tmp_path / "a.xlsx") as made:
        sheet = made.add_worksheet("A")
        sheet.merge_range(1, 1, 2, 1, 1900)
        sheet.merge_range(3, 1, 3, 2, "Sum")
        sheet.write_column(1, 2, [12, 13])

    (text,) = read_file(tmp_path / "a.xlsx")

    assert text.text == "| 1900 | 12 |\n| 1900 | 13 |\n| Sum |  |"


def write_mail(path: Path, *attached: Path, html: bool = False) -> None:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "Ann <a@example.org>", "R\u00e9nt"
    mail.set_content("The rent is due in May.\n", cte="base64")
    if html:
        mail.set_content("<p>The rent is <b>due</b> in May.</p>", subtype="html")
    for each in attached:
        mail.add_attachment(
            each.read_bytes(), maintype="a", subtype="b", filename=each.name
        )
    path.write_bytes(mail.as_bytes())


def test_a_mail_says_what_was_not_read_of_each_attachment(tmp_path):
    pdf(tmp_path / "plan.pdf", ("one", ""))
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\0")
    write_mail(tmp_path / "a.eml", tmp_path / "plan.pdf", tmp_path / "logo.png")

    assert read_file(tmp_path / "a.eml")[0].notice == (
        '1 of 2 attachments holds no text (logo.png); attachment "plan.pdf": 1 of 2 '
        "pages holds no text (2); scanned pages need text recognition"
    )


@pytest.mark.parametrize("html", [False, True])
def test_a_mail_is_what_was_written_and_what_is_attached(html, tmp_path):
    written = Document()
    written.add_heading("Lease", 1)
    written.save(tmp_path / "lease.docx")
    pdf(tmp_path / "plan.pdf", ("one", "two"))
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\0")
    write_mail(tmp_path / "inner.eml")
    attached = ("lease.docx", "plan.pdf", "logo.png", "inner.eml")
    write_mail(tmp_path / "a.eml", *(tmp_path / name for name in attached), html=html)

    first, *others = read_file(tmp_path / "a.eml")

    head = "From: Ann <a@example.org>\nSubject: R\u00e9nt"
    assert first.text == f"{head}\n\nThe rent is due in May."
    assert first.part_name == "message"
    assert first.notice == "1 of 4 attachments holds no text (logo.png)"
    assert [(each.part_name, each.text) for each in others] == [
        ('attachment "lease.docx"', "# Lease"),
        ('attachment "plan.pdf", page 1', "one"),
        ('attachment "plan.pdf", page 2', "two"),
        ('attachment "inner.eml", message', f"{head}\n\nThe rent is due in May."),
    ]


@pytest.mark.parametrize(
    "name",
    [*("a.pptx", "a.xlsx", "a.xls", "a.ods", "a.epub", "a.ipynb", "a.srt", "a.vtt")],
)
@pytest.mark.parametrize("content", [b"PK\3\4 broken", b"plain words", b"{}"])
def test_a_damaged_file_of_each_kind_has_one_sentence(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)

    with pytest.raises(UnreadableFileError, match=r"that is damaged|holds no sub"):
        read_file(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("a.msg", "save it as .eml"),
        ("a.doc", "save it as one"),
        ("a.ppt", "save it as PDF or .pptx"),
        ("a.zip", "unpack it"),
    ],
)
def test_a_kind_that_is_not_read_has_a_sentence_with_a_way_out(name, way_out, tmp_path):
    (tmp_path / name).write_bytes(b"\xd0\xcf\x11\xe0")
    (tmp_path / "good.txt").write_text("Good.")

    (skipped,) = read_files([tmp_path]).skipped

    assert skipped.reason.endswith(way_out)
