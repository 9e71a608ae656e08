"""Struck text of PDF pages is not read beside what replaced it."""

import io
from collections.abc import Callable

import pytest
from reportlab.pdfgen.canvas import Canvas

from oprag.files.pdf import pdf_pages


def text_of(draw: Callable[[Canvas], object]) -> str:
    made = io.BytesIO()
    page = Canvas(made, invariant=1)
    for x, text in ((72, "Price"), (110, "500"), (140, "600 each"), (210, "pay")):
        page.drawString(x, 700, text)
    draw(page)
    page.save()
    return pdf_pages(made.getvalue())[0].text


@pytest.mark.parametrize("is_filled", [False, True])
def test_text_with_a_line_through_it_is_not_read(is_filled):
    def draw(page: Canvas) -> None:
        if is_filled:
            page.rect(109, 704, 25, 0.8, fill=1, stroke=0)
        else:
            page.line(109, 704, 132, 704)

    assert text_of(draw) == "Price 600 each pay"


@pytest.mark.parametrize(
    "line",
    [
        (109, 698, 134, 698),  # under it
        (109, 711, 134, 711),
        (209, 698.5, 232, 698.5),
        (60, 704, 400, 704),  # of a drawing
        (112, 704, 116, 704),  # through one digit
    ],
)
def test_other_lines_strike_nothing(line):
    assert text_of(lambda page: page.line(*line)) == "Price 500 600 each pay"


@pytest.mark.parametrize(("flags", "text"), [(4, "Price 600 each pay"), (2, None)])
def test_text_that_a_reader_struck_is_not_read(flags, text):
    mark = (
        b"<</Type/Annot/Subtype/StrikeOut/Rect[109 697 134 712]/F %d"
        b"/QuadPoints[109 712 134 712 109 697 134 697]>>"
    )
    drawn = b"BT /F 12 Tf 72 700 Td (Price) Tj 38 0 Td (500) Tj 30 0 Td (600 each) Tj "
    drawn += b"70 0 Td (pay) Tj ET"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
            b"/Annots[6 0 R]/Resources<</Font<</F 5 0 R>>>>>>"
        ),
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        mark % flags,
    )
    numbered = (b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(objects, 1))
    made = b"%PDF-1.5\n" + b"".join(numbered) + b"trailer<</Root 1 0 R>>\n%%EOF"

    assert pdf_pages(made)[0].text == (text or "Price 500 600 each pay")
