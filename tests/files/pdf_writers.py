"""PDFs as two writers make them: in one column or two, with footnotes."""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_MARGIN = 56
_NOTES = 70
"""Points at the foot of a page that its notes have."""


class Form(NamedTuple):
    columns: int
    embedded: bool
    """Whether the font is embedded, as TrueType, and not one of those that every viewer
    has."""


FORMS = {
    "one column": Form(1, embedded=False),
    "one column, embedded font": Form(1, embedded=True),
    "two columns": Form(2, embedded=False),
    "two columns, embedded font": Form(2, embedded=True),
}


def _written(text: str) -> str:
    """The characters of both kinds of fonts."""
    return text.encode("cp1252", "replace").decode("cp1252")


def _font() -> Path:
    """A TrueType font that ReportLab brings."""
    import reportlab

    return Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"


def by_fpdf(paragraphs: Sequence[str], notes: Sequence[str], form: Form) -> bytes:
    """Paragraphs with a mark behind each; as many notes as fit on each page."""
    from fpdf import FPDF

    name = "text" if form.embedded else "Times"

    class Noted(FPDF):
        def footer(self) -> None:
            self.set_y(-_NOTES)
            self.set_font(name, size=7)
            number = self.page_no()
            self.multi_cell(0, 8, f"{number} {_written(notes[number % len(notes)])}")

    made: Any = Noted(unit="pt")
    made.core_fonts_encoding = "windows-1252"
    if form.embedded:
        made.add_font(name, "", _font())
    made.set_margin(_MARGIN)
    made.set_auto_page_break(auto=True, margin=_NOTES + 12)
    made.add_page()
    made.set_font(name, size=10)
    columns = made.text_columns(
        ncols=form.columns, gutter=18, text_align="J", line_height=1.2
    )
    with columns:
        for number, text in enumerate(paragraphs, 1):
            columns.write(_written(text))
            made.char_vpos = "SUP"
            columns.write(str(number))
            made.char_vpos = "LINE"
            columns.ln()
            columns.ln()
    return bytes(made.output())


def by_reportlab(paragraphs: Sequence[str], notes: Sequence[str], form: Form) -> bytes:
    from html import escape

    from reportlab.lib.enums import TA_JUSTIFY
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

    name = "Times-Roman"
    if form.embedded:
        name = "text"
        pdfmetrics.registerFont(TTFont(name, str(_font())))
    body = ParagraphStyle(
        "body",
        fontName=name,
        fontSize=10,
        leading=12,
        alignment=TA_JUSTIFY,
        spaceAfter=6,
    )
    small = ParagraphStyle("small", parent=body, fontSize=7, leading=8)
    width, height = A4

    def noted(canvas: Any, template: Any) -> None:
        text = escape(_written(notes[template.page % len(notes)]))
        note = Paragraph(f"<super>{template.page}</super> {text}", small)
        _, tall = note.wrap(width - 2 * _MARGIN, _NOTES)
        note.drawOn(canvas, _MARGIN, _NOTES - tall)

    each = (width - 2 * _MARGIN - 18 * (form.columns - 1)) / form.columns
    frames = [
        Frame(
            _MARGIN + column * (each + 18),
            _NOTES + 12,
            each,
            height - _NOTES - 12 - _MARGIN,
            leftPadding=0,
            rightPadding=0,
        )
        for column in range(form.columns)
    ]
    made = io.BytesIO()
    template = BaseDocTemplate(made, pagesize=A4, invariant=True)
    template.addPageTemplates(PageTemplate(frames=frames, onPage=noted))
    template.build(
        [
            Paragraph(f"{escape(_written(text))}<super>{number}</super>", body)
            for number, text in enumerate(paragraphs, 1)
        ]
    )
    return made.getvalue()


WRITERS: Mapping[str, Callable[[Sequence[str], Sequence[str], Form], bytes]] = {
    "fpdf2": by_fpdf,
    "ReportLab": by_reportlab,
}


_WIDE_CODES = b"""\
/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /X def /CMapType 1 def
2 begincodespacerange <00> <7F> <F0808080> <F7BFBFBF> endcodespacerange
2 begincidchar <41> 34 <f0a8a780> 35 endcidchar
endcmap"""


def font_of_wide_codes() -> bytes:
    """`AA`, a code of four bytes that is no character, and `A`."""
    content = b"BT /F 12 Tf 72 700 Td <4141f0a8a78041> Tj ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
            b"/Resources<</Font<</F 5 0 R>>>>>>"
        ),
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        (
            b"<</Type/Font/Subtype/Type0/BaseFont/Helvetica/Encoding 6 0 R"
            b"/DescendantFonts[7 0 R]>>"
        ),
        b"<</Type/CMap/CMapName/X/CIDSystemInfo<</Registry(Adobe)/Ordering(CNS)"
        b"/Supplement 7>>/Length %d>>stream\n%s\nendstream"
        % (len(_WIDE_CODES), _WIDE_CODES),
        (
            b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Helvetica/DW 1000"
            b"/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
            b"/FontDescriptor 8 0 R>>"
        ),
        (
            b"<</Type/FontDescriptor/FontName/Helvetica/Flags 4/FontBBox[0 0 1000 1000]"
            b"/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>"
        ),
    ]
    numbered = [b"%d 0 obj %s endobj" % each for each in enumerate(objects, 1)]
    return b"\n".join([b"%PDF-1.4", *numbered, b"trailer << /Root 1 0 R >>", b"%%EOF"])
