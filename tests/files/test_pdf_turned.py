"""A turned PDF page reads as the same page that is not turned."""

import io

import pypdfium2
import pytest
from reportlab.pdfgen.canvas import Canvas

from oprag.files.pdf import pdf_pages

SIZE = (842, 595)


def write_page(page: Canvas) -> None:
    """A table, a raised number, a ruled table, and two columns of text."""
    rows = [("Year", "Coal", "Iron"), ("1900", "12", "5"), ("1901", "", "7")]
    for top, is_ruled in ((550, False), (400, True)):
        for row, cells in enumerate([*rows, ("1902", "3", "")]):
            for column, cell in enumerate(cells):
                left, bottom = 72 + 100 * column, top - 20 * row
                page.drawString(left, bottom, cell)
                if is_ruled:
                    page.rect(left - 4, bottom - 4, 100, 20)
    line = page.beginText(60, 440)
    line.textOut("It made 10")
    line.setFont("Helvetica", 7)
    line.setRise(5)
    line.textOut("6")
    page.drawText(line)
    for number in range(5):
        page.drawString(60, 250 - 14 * number, f"left line {number} of coal")
        page.drawString(420, 250 - 14 * number, f"right line {number} of ferry")


def turned(quarters: int, *, is_asked: bool) -> str:
    """The text of the page, drawn turned against the clock.

    Args:
        quarters: Of a circle.
        is_asked: Whether the page asks a viewer to turn it back.
    """
    made = io.BytesIO()
    page = Canvas(made, SIZE[::-1] if quarters else SIZE, invariant=1)
    width, height = SIZE
    page.translate(*{0: (0, 0), 1: (height, 0), 3: (0, width)}[quarters])
    page.rotate(90 * quarters)
    write_page(page)
    page.save()
    document = pypdfium2.PdfDocument(made)
    if is_asked:
        document[0].set_rotation(90 * quarters)
    written = io.BytesIO()
    document.save(written)
    return pdf_pages(written.getvalue())[0].text


@pytest.mark.parametrize("is_asked", [True, False])
@pytest.mark.parametrize("quarters", [1, 3])
def test_a_turned_page_reads_as_one_that_is_not_turned(quarters, is_asked):
    level = turned(0, is_asked=False)

    assert level.count("| 1901 |  | 7 |") == 2
    assert "10^6" in level
    assert level.index("left line 4") < level.index("right line 0")
    assert turned(quarters, is_asked=is_asked) == level
