"""Word files of real people: boxes, fields, styles, equations and numbers."""

from pathlib import Path
from typing import Any

import pytest
from docx import Document
from docx.oxml import parse_xml

from oprag.errors import UnreadableFileError
from oprag.files import read_file

_NAMES = (
    ("w", "http://schemas.openxmlformats.org/wordprocessingml/2006/main"),
    ("m", "http://schemas.openxmlformats.org/officeDocument/2006/math"),
    ("a", "http://schemas.openxmlformats.org/drawingml/2006/main"),
    ("wp", "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"),
    ("wps", "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"),
    ("mc", "http://schemas.openxmlformats.org/markup-compatibility/2006"),
    ("v", "urn:schemas-microsoft-com:vml"),
    ("w14", "http://schemas.microsoft.com/office/word/2010/wordml"),
)


def element(written: str) -> Any:
    """Parse an element, with the names that Word uses."""
    names = " ".join(f'xmlns:{name}="{address}"' for name, address in _NAMES)
    return parse_xml(written.replace(">", f" {names}>", 1))


def run(text: str, look: str = "") -> str:
    return f"<w:r><w:rPr>{look}</w:rPr><w:t>{text}</w:t></w:r>"


def written(made: Any, folder: Path) -> str:
    made.save(folder / "a.docx")
    (text,) = read_file(folder / "a.docx")
    return text.text


BOX = "<w:txbxContent><w:p><w:r><w:t>Boxed</w:t></w:r></w:p></w:txbxContent>"
DRAWING = (
    "<w:drawing><wp:anchor><a:graphic><a:graphicData><wps:wsp><wps:txbx>"
    f"{BOX}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>"
)
VML = f"<w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict>"
CHOICE = f"<mc:Choice>{DRAWING}</mc:Choice>"
FALLBACK = f"<mc:Fallback>{VML}</mc:Fallback>"
TICKED = "<w:sdtPr><w14:checkbox><w14:checked w14:val='1'/></w14:checkbox></w:sdtPr>"
FIELD = '<w:r><w:fldChar w:fldCharType="{}">{}</w:fldChar></w:r>'
CITIES = (
    '<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="Rome"/>'
    '<w:listEntry w:val="Paris"/></w:ddList></w:ffData>'
)


def equation(inner: str) -> str:
    return f"<m:oMath>{inner}</m:oMath>"


def part(name: str, *texts: str) -> str:
    return "".join(f"<m:{name}><m:r><m:t>{t}</m:t></m:r></m:{name}>" for t in texts)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["<w:r>" + VML + "</w:r>"], "\n\nBoxed"),
        (["<w:r>" + DRAWING + "</w:r>"], "\n\nBoxed"),
        (
            [f"<w:r><mc:AlternateContent>{CHOICE}</mc:AlternateContent></w:r>"],
            "\n\nBoxed",
        ),
        (
            [
                f"<w:r><mc:AlternateContent>{CHOICE}{FALLBACK}</mc:AlternateContent></w:r>"
            ],
            "\n\nBoxed",
        ),
        ([FIELD.format("begin", CITIES), FIELD.format("end", "")], "Paris"),
        (
            [
                f"<w:sdt>{TICKED}<w:sdtContent>{run('☒')}</w:sdtContent></w:sdt>",
                run(" Ok"),
            ],
            "☒ Ok",
        ),
        ([run("a"), "<w:r><w:cr/></w:r>", run("b")], "a\nb"),
        ([run("a"), '<w:r><w:br w:type="page"/></w:r>', run("b")], "a\nb"),
        ([run("Rent"), "<w:r><w:ptab/></w:r>", run("500")], "Rent 500"),
        ([run("infor"), "<w:r><w:softHyphen/></w:r>", run("mation")], "information"),
        ([run("10"), run("6", '<w:position w:val="8"/>')], "10^6"),
        ([run("500", "<w:strike/>"), run("600")], "600"),
        ([equation(f"<m:m><m:mr>{part('e', '1', '2')}</m:mr></m:m>")], "1, 2"),
        ([equation(f"<m:eqArr>{part('e', 'x=1', 'y=2')}</m:eqArr>")], "x=1, y=2"),
        (
            [
                equation(
                    '<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>'
                    f"{part('e', 'a')}</m:d>"
                )
            ],
            "[a]",
        ),
        (
            [equation(f"<m:limLow>{part('e', 'lim')}{part('lim', 'n→∞')}</m:limLow>")],
            "lim_(n→∞)",
        ),
        (
            [equation(f"<m:func>{part('fName', 'sin')}{part('e', 'x')}</m:func>")],
            "sin x",
        ),
    ],
)
def test_what_a_paragraph_shows_is_read(parts, text, tmp_path):
    made = Document()
    paragraph = made.add_paragraph("Here: ")
    for each in parts:
        paragraph._p.append(element(each))

    shown = written(made, tmp_path)

    assert shown == f"Here: {text}".replace(" \n", "\n")


def test_text_looks_as_its_styles_say(tmp_path):
    made = Document()
    for name in ("Raised", "Struck", "Gone"):
        style = made.styles.add_style(name, 2)
        style.font.superscript = name == "Raised" or None
        style.font.strike = name == "Struck" or None
        style.font.hidden = name == "Gone" or None
    unseen = made.styles.add_style("Unseen", 1)
    unseen.font.hidden = True
    made.styles.add_style("Unseen too", 1).base_style = unseen
    paragraph = made.add_paragraph("10")
    for style, text in (("Raised", "6"), ("Struck", " no"), ("Gone", " no")):
        paragraph.add_run(text, style=style)
    made.add_paragraph("no", style="Unseen")
    made.add_paragraph("no", style="Unseen too")
    made.add_paragraph("yes")

    assert written(made, tmp_path) == "10^6\n\nyes"


def test_headings_are_known_by_what_their_style_is_based_on(tmp_path):
    made = Document()
    made.styles.add_style("Ours", 1).base_style = made.styles["Heading 2"]
    made.add_paragraph("One", style="Ours")
    outlined = made.add_paragraph("Two")
    outlined._p.get_or_add_pPr().append(
        element('<w:outlineLvl w:val="0"></w:outlineLvl>')
    )
    made.add_paragraph("Three")

    assert written(made, tmp_path) == "## One\n\n# Two\n\nThree"


def test_ordinal_numbers_are_as_word_writes_them(tmp_path):
    made = Document()
    numbering = made.part.numbering_part.element
    numbering.insert(
        0,
        element(
            '<w:abstractNum w:abstractNumId="77"><w:lvl w:ilvl="0">'
            '<w:start w:val="11"/><w:numFmt w:val="ordinal"/><w:lvlText w:val="%1"/>'
            "</w:lvl></w:abstractNum>"
        ),
    )
    numbering.append(
        element('<w:num w:numId="77"><w:abstractNumId w:val="77"/></w:num>')
    )
    for _ in range(12):
        paragraph = made.add_paragraph("x")
        paragraph._p.get_or_add_pPr().append(
            element('<w:numPr><w:ilvl w:val="0"/><w:numId w:val="77"/></w:numPr>')
        )

    numbers = [line.split()[0] for line in written(made, tmp_path).split("\n\n")]

    assert numbers[:3] == ["11th", "12th", "13th"]
    assert numbers[-3:] == ["20th", "21st", "22nd"]


def test_a_table_keeps_its_columns_whatever_is_in_its_cells(tmp_path):
    made = Document()
    rows = [("Year", "Coal", "Note"), ("1900", "", "long " * 200), ("1901", "", "7")]
    table = made.add_table(3, 3)
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(at, column).text = text
    table.cell(0, 0).paragraphs[0].style = made.styles["Heading 1"]
    table.cell(1, 1).add_table(1, 1).cell(0, 0).text = "inner"

    lines = written(made, tmp_path).splitlines()

    assert lines[0] == "| Year | Coal | Note |"
    assert lines[1].startswith("| 1900 | inner | long long")
    assert lines[2] == "| 1901 | | 7 |"


def test_a_row_that_begins_after_the_first_column_keeps_its_columns(tmp_path):
    made = Document()
    table = made.add_table(2, 3)
    for at, text in enumerate(("Year", "Coal", "Iron", "1900", "12", "5")):
        table.cell(at // 3, at % 3).text = text
    late = table.rows[1]._tr
    late.remove(late.tc_lst[0])
    late.get_or_add_trPr().append(element('<w:gridBefore w:val="1"></w:gridBefore>'))

    assert written(made, tmp_path) == "| Year | Coal | Iron |\n| | 12 | 5 |"


@pytest.mark.parametrize("before", ["Shown", ""])
def test_a_part_that_is_another_file_is_told(before, tmp_path):
    made = Document()
    part = element("<w:altChunk><w:altChunkPr/></w:altChunk>")
    made.add_paragraph(before)._p.addnext(part)
    made.save(tmp_path / "a.docx")

    if before:
        assert read_file(tmp_path / "a.docx")[0].notice.startswith("a part is not read")
    else:
        with pytest.raises(UnreadableFileError, match="save it anew in Word"):
            read_file(tmp_path / "a.docx")


@pytest.mark.parametrize("ending", ["docm", "dotx", "dotm"])
def test_word_files_with_macros_and_models_are_read(ending, tmp_path):
    made = Document()
    made.add_paragraph("Coal")
    made.save(tmp_path / f"a.{ending}")

    assert read_file(tmp_path / f"a.{ending}")[0].text == "Coal"


def numbered(made: Any, levels: str, *paragraphs: tuple[int, str]) -> None:
    """Add paragraphs of a list whose levels are written as in `numbering.xml`."""
    numbering = made.part.numbering_part.element
    abstract = f'<w:abstractNum w:abstractNumId="99">{levels}</w:abstractNum>'
    numbering.insert(0, element(abstract))
    numbering.append(
        element('<w:num w:numId="99"><w:abstractNumId w:val="99"/></w:num>')
    )
    for level, text in paragraphs:
        properties = made.add_paragraph(text)._p.get_or_add_pPr()
        of_list = f'<w:ilvl w:val="{level}"/><w:numId w:val="99"/>'
        properties.append(element(f"<w:numPr>{of_list}</w:numPr>"))


def level(number: int, kind: str, text: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
        f'{more}<w:lvlText w:val="{text}"/></w:lvl>'
    )


@pytest.mark.parametrize(
    ("levels", "lines"),
    [
        (
            level(0, "decimal", "%1.")
            + level(1, "lowerLetter", "%2)", '<w:lvlRestart w:val="0"/>'),
            ["1. A", "a) b", "2. C", "b) d"],
        ),
        (
            level(0, "none", "Whereas") + level(1, "russianLower", "%2)"),
            ["Whereas A", "а) b", "Whereas C", "а) d"],
        ),
        (
            level(0, "chineseCounting", "%1、")
            + level(1, "ideographTraditional", "%2."),
            ["一、 A", "甲. b", "二、 C", "甲. d"],
        ),
        (
            level(0, "japaneseCounting", "%1.", '<w:suff w:val="space"/>').replace(
                'w:start w:val="1"', 'w:start w:val="19"'
            )
            + level(1, "decimalEnclosedCircle", "%2"),
            ["十九. A", "① b", "二十. C", "① d"],
        ),
    ],
)
def test_lists_are_numbered_as_word_numbers_them(levels, lines, tmp_path):
    made = Document()
    numbered(made, levels, (0, "A"), (1, "b"), (0, "C"), (1, "d"))

    assert written(made, tmp_path).split("\n\n") == lines


@pytest.mark.parametrize("gone", ["del", "vanish"])
def test_a_paragraph_that_is_gone_takes_no_number(gone, tmp_path):
    made = Document()
    numbered(made, level(0, "decimal", "%1."), (0, "A"), (0, "Gone"), (0, "C"))
    paragraph = made.paragraphs[1]
    paragraph.runs[0].font.hidden = True
    paragraph._p.pPr.append(element(f"<w:rPr><w:{gone}/></w:rPr>"))

    assert written(made, tmp_path).split("\n\n") == ["1. A", "2. C"]


@pytest.mark.parametrize("effect", ["", "<w:outline/>", "<w:shadow/>"])
def test_white_text_is_read_as_something_may_make_it_seen(effect, tmp_path):
    made = Document()
    white = run("Seen", f'{effect}<w:color w:val="FFFFFF"/>')
    made.add_paragraph("A")._p.addnext(element(f"<w:p>{white}</w:p>"))

    assert written(made, tmp_path) == "A\n\nSeen"
