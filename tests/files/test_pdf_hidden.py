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


def tiny(page: Canvas) -> None:
    page.setFont("Helvetica", 0.1)
    page.drawString(72, 600, "Secret")


def clipped_away(page: Canvas) -> None:
    path = page.beginPath()
    path.rect(0, 0, 10, 10)
    page.clipPath(path, stroke=0, fill=0)
    page.drawString(72, 600, "Secret")


def white_on_black(page: Canvas) -> None:
    page.rect(60, 590, 300, 30, fill=1)
    white(page)


def white_on_a_picture(page: Canvas) -> None:
    picture(page, "navy")
    white(page)


def recognized_in_a_picture(page: Canvas) -> None:
    picture(page, "white")
    not_drawn(page)


@pytest.mark.parametrize(
    "draw", [white, white_on_white_box, not_drawn, tiny, clipped_away]
)
def test_text_is_left_out_where_nothing_is_to_be_seen(draw):
    assert text_of(draw) == "Shown"


@pytest.mark.parametrize(
    "draw", [white_on_black, white_on_a_picture, recognized_in_a_picture]
)
def test_text_is_kept_where_something_is_to_be_seen(draw):
    assert text_of(draw) == "Shown\nSecret"


def layered(is_on: bytes) -> bytes:
    drawn = b"BT /F 12 Tf 72 700 Td (Shown) Tj ET /OC /L BDC BT /F 12 Tf 72 600 Td "
    drawn += b"(Layer) Tj ET EMC"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[6 0 R]/D<</%s[6 0 R]>>>>>>"
        % is_on,
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
            b"/Resources<</Font<</F 5 0 R>>/Properties<</L 6 0 R>>>>>>"
        ),
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/OCG/Name(L)>>",
    )
    numbered = (b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(objects, 1))
    return b"%PDF-1.5\n" + b"".join(numbered) + b"trailer<</Root 1 0 R>>\n%%EOF"


@pytest.mark.parametrize(
    ("state", "text"), [(b"OFF", "Shown"), (b"ON", "Shown\nLayer")]
)
def test_a_layer_that_is_switched_off_is_not_read(state, text):
    assert pdf_pages(layered(state))[0].text == text
