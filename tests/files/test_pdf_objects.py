"""What is drawn on a PDF page is read once, by kinds, in the order of drawing."""

import io

from reportlab.pdfgen.canvas import Canvas

from oprag.files.pdf import open_page, open_pdf
from oprag.files.pdf_boxes import Turn
from oprag.files.pdf_objects import PageObjects, look_at


def made_page() -> bytes:
    made = io.BytesIO()
    page = Canvas(made, invariant=1)
    page.rect(10, 20, 30, 40, fill=1, stroke=0)
    page.drawString(72, 700, "The rent is 500 euros")
    page.rect(10, 120, 30, 40, fill=0, stroke=1)
    page.save()
    return made.getvalue()


def test_objects_are_read_by_kinds_in_the_order_of_drawing():
    with open_pdf(made_page()) as document, open_page(document, 0) as opened:
        objects = PageObjects(opened.page, Turn(0))
        texts, shapes, others, holds_forms = objects.kinds
        assert [each.number for each in shapes] == [0, 2]
        assert [each.number for each in texts] == [1]
        assert (others, holds_forms) == ([], False)
        assert objects.kinds is objects.kinds
        assert [tuple(look_at(each)) for each in shapes] == [
            (True, False),
            (False, True),
        ]


def test_places_are_of_the_turned_page_and_edges_are_not():
    with open_pdf(made_page()) as document, open_page(document, 0) as opened:
        objects = PageObjects(opened.page, Turn(1))
        first = objects.kinds.shapes[0]
        assert objects.edges_of(first) == (10, 20, 40, 60)
        assert objects.place_of(first) == (20, -40, 60, -10)
