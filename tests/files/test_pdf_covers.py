"""Text of PDF pages that is covered is not read; text under a see-through box is."""

import io
from collections.abc import Callable

import pytest
from reportlab.lib import colors
from reportlab.pdfgen.canvas import Canvas

from oprag.files.pdf import pdf_pages


def text_of(cover: Callable[[Canvas], object]) -> str:
    """The text of a page on which a 500 is from 132 to 152, and then covered."""
    made = io.BytesIO()
    page = Canvas(made, invariant=1)
    page.drawString(72, 700, "The rent is 500 euros")
    cover(page)
    page.setFillColor(colors.black)
    page.drawString(200, 700, "a month.")
    page.save()
    return pdf_pages(made.getvalue())[0].text


def box(page: Canvas, colour: colors.Color, left: float = 131) -> None:
    page.setFillColor(colour)
    page.rect(left, 697, 22, 14, fill=1, stroke=0)


@pytest.mark.parametrize(
    ("cover", "text"),
    [
        (lambda page: box(page, colors.white), "The rent is euros a month."),
        (lambda page: box(page, colors.black), "The rent is euros a month."),
        (lambda page: box(page, colors.Color(1, 1, 0, 0.4)), None),
        (lambda page: page.rect(131, 697, 22, 14), None),
        (lambda page: box(page, colors.black, 300), None),
    ],
    ids=["white", "black", "see-through", "empty", "elsewhere"],
)
def test_text_under_a_box_is_not_read_if_the_box_hides_it(cover, text):
    assert text_of(cover) == (text or "The rent is 500 euros a month.")


def test_text_that_was_drawn_again_on_a_box_is_read():
    def draw(page: Canvas) -> None:
        box(page, colors.white)
        page.setFillColor(colors.black)
        page.drawString(132.04, 700, "500")

    assert "500" in text_of(draw)
