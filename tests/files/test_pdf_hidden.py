"""Text of PDF pages that nobody sees is not read; text that somebody sees is."""

import io
from collections.abc import Callable

import pytest
from PIL import Image
from reportlab.lib import colors
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from oprag.files.pdf import pdf_pages


def text_of(draw: Callable[[Canvas], object]) -> str:
    made = io.BytesIO()
    page = Canvas(made, invariant=1)
    page.drawString(72, 700, "Shown")
    draw(page)
    page.save()
    return pdf_pages(made.getvalue())[0].text


def picture(page: Canvas, colour: str) -> None:
    page.drawImage(ImageReader(Image.new("RGB", (9, 9), colour)), 60, 590, 300, 30)


def white(page: Canvas) -> None:
    page.setFillColor(colors.white)
    page.drawString(72, 600, "Secret")


def white_on_white_box(page: Canvas) -> None:
    page.setFillColor(colors.white)
    page.rect(60, 590, 300, 30, fill=1, stroke=0)
    white(page)


def not_drawn(page: Canvas) -> None:
    text = page.beginText(72, 600)
    text.setTextRenderMode(3)
    text.textLine("Secret")
    page.drawText(text)


def white_on_black(page: Canvas) -> None:
    page.rect(60, 590, 300, 30, fill=1)
    white(page)


def white_on_a_picture(page: Canvas) -> None:
    picture(page, "navy")
    white(page)


def recognized_in_a_picture(page: Canvas) -> None:
    picture(page, "white")
    not_drawn(page)


@pytest.mark.parametrize("draw", [white, white_on_white_box, not_drawn])
def test_text_is_left_out_where_nothing_is_to_be_seen(draw):
    assert text_of(draw) == "Shown"


@pytest.mark.parametrize(
    "draw", [white_on_black, white_on_a_picture, recognized_in_a_picture]
)
def test_text_is_kept_where_something_is_to_be_seen(draw):
    assert text_of(draw) == "Shown\nSecret"
