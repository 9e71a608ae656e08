"""Forms of PDF pages: what was checked and chosen is read beside its label."""

import io

from reportlab.pdfgen import canvas

from oprag.files.pdf import pdf_pages


def test_boxes_and_buttons_have_their_marks_beside_the_nearest_text():
    made = io.BytesIO()
    page = canvas.Canvas(made, invariant=1)
    form = page.acroForm
    form.checkbox(name="heated", checked=True, x=72, y=698, size=14)
    page.drawString(92, 700, "Heating")
    form.checkbox(name="garage", x=200, y=698, size=14)
    page.drawString(220, 700, "Garage")
    form.radio(name="rent", value="month", selected=True, x=72, y=668, size=14)
    page.drawString(92, 670, "Monthly")
    form.radio(name="rent", value="year", x=200, y=668, size=14)
    page.drawString(220, 670, "Yearly")
    page.drawString(72, 640, "Pets allowed")
    form.checkbox(name="pets", checked=True, x=150, y=638, size=14)
    page.drawString(72, 610, "Town")
    towns = ["Basel", "Bern"]
    form.choice(name="town", value="Bern", options=towns, x=120, y=605, height=18)
    page.save()

    assert pdf_pages(made.getvalue())[0].text.split("\n") == [
        "☒ Heating ☐ Garage",
        "☒ Monthly ☐ Yearly",
        "Pets allowed ☒",
        "Town Bern",
    ]
