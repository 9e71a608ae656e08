"""Word files: headings, tables, lists, clauses, and files that are damaged."""

import zipfile
from pathlib import Path

import pytest
from docx import Document
from docx.oxml import parse_xml

from oprag.errors import UnreadableFileError
from oprag.files import read_file


def test_a_word_file_is_its_text_with_headings_tables_and_lists(tmp_path):
    written = Document()
    written.add_heading("Lease & more", 0)
    written.add_heading("Repairs", 1)
    written.add_paragraph("The landlord pays, \u00e9very time.")
    table = written.add_table(2, 2)
    for number, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell {number}"
    written.add_paragraph("No drums.", style="List Bullet")
    written.save(tmp_path / "lease.docx")

    (text,) = read_file(tmp_path / "lease.docx")

    assert text.text == (
        "# Lease & more\n\n# Repairs\n\nThe landlord pays, \u00e9very time.\n\n"
        "| cell 0 | cell 1 |\n| cell 2 | cell 3 |\n\nNo drums."
    )


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def word(path: Path, *parts: str) -> str:
    """Write a paragraph of texts and elements; return what is read of it."""
    written = Document()
    paragraph = written.add_paragraph()
    for part in parts:
        if part.startswith("<"):
            paragraph._p.append(parse_xml(part))
        else:
            paragraph.add_run(part)
    written.save(path)
    return read_file(path)[0].text


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (f"<m:oMath {M}><m:r><m:t>E=mc</m:t></m:r></m:oMath>", "is E=mc here"),
        (
            (
                f"<m:oMath {M}><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num>"
                "<m:den><m:r><m:t>2</m:t></m:r></m:den></m:f><m:sSup>"
                "<m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
            ),
            "is (a+b)/2x^2 here",
        ),
        (f"<w:r {W}><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r>", "is here"),
        (f"<w:r {W}><w:rPr><w:strike/></w:rPr><w:t>no</w:t></w:r>", "is here"),
        (f"<w:del {W}><w:r><w:delText>no</w:delText></w:r></w:del>", "is here"),
        (f"<w:moveTo {W}><w:r><w:t>it</w:t></w:r></w:moveTo>", "is it here"),
        (f"<w:fldSimple {W}><w:r><w:t>it</w:t></w:r></w:fldSimple>", "is it here"),
        (
            (
                f"<w:r {W}><w:rPr><w:vertAlign w:val='superscript'/></w:rPr>"
                "<w:t>6</w:t></w:r>"
            ),
            "is ^6 here",
        ),
    ],
)
def test_what_stands_in_a_paragraph_of_word_is_read_as_it_is_seen(part, text, tmp_path):
    assert word(tmp_path / "a.docx", "is ", part, " here") == text


def test_clauses_of_word_have_their_numbers(tmp_path):
    written = Document()
    for text in ("Definitions", "Rent, see clause 1."):
        written.add_paragraph(text, style="List Number")
    root = written.part.numbering_part.element
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for level, (kind, text) in enumerate(
            [("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)")]
        )
    )
    root.insert(
        0,
        parse_xml(f'<w:abstractNum {W} w:abstractNumId="77">{levels}</w:abstractNum>'),
    )
    root.append(
        parse_xml(f'<w:num {W} w:numId="78"><w:abstractNumId w:val="77"/></w:num>')
    )
    for level in (0, 1, 1, 2, 2, 0, 1):
        paragraph = written.add_paragraph("It is so.")
        paragraph._p.get_or_add_pPr().append(
            parse_xml(
                f'<w:numPr {W}><w:ilvl w:val="{level}"/><w:numId w:val="78"/></w:numPr>'
            )
        )
    written.save(tmp_path / "a.docx")

    lines = read_file(tmp_path / "a.docx")[0].text.split("\n\n")

    assert lines[:2] == ["1. Definitions", "2. Rent, see clause 1."]
    numbers = [line.removesuffix(" It is so.") for line in lines[2:]]
    assert numbers == ["1.", "1.1", "1.2", "(a)", "(b)", "2.", "2.1"]


@pytest.mark.parametrize("damage", ["cut", "bent", "no text", "no main part", "locked"])
def test_a_damaged_word_file_is_named(damage, tmp_path):
    whole, file = tmp_path / "whole.docx", tmp_path / "bad.docx"
    Document().save(whole)
    if damage == "cut":
        file.write_bytes(whole.read_bytes()[:-100])
    elif damage == "locked":  # Office puts it into a container of another kind
        file.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\1" * 4000)
    else:
        with zipfile.ZipFile(whole) as old, zipfile.ZipFile(file, "w", 14) as new:
            for name in old.namelist():
                text = old.read(name)
                if name == "word/document.xml" and damage == "no text":
                    text = text[: len(text) // 2]
                if name != "word/document.xml" or damage != "no main part":
                    new.writestr(name, text)
    if damage == "bent":  # what data of LZMA, method 14, begin with
        file.write_bytes(file.read_bytes().replace(b"\t\4\5\0]", b"\t\4\5\0\xff"))

    with pytest.raises(UnreadableFileError, match="is a Word file that is damaged"):
        read_file(file)
