"""PDF pages as they look: raised numbers, and more than two columns."""

from pathlib import Path

from reportlab.pdfgen import canvas

from oprag.files import read_file


def page(path: Path) -> canvas.Canvas:
    return canvas.Canvas(str(path), invariant=1)


def raised(made: canvas.Canvas, before: str, text: str, after: str) -> None:
    """Write a text with a part that is smaller and higher."""
    line = made.beginText(72, 700)
    line.setFont("Helvetica", 12)
    line.textOut(before)
    line.setFont("Helvetica", 7)
    line.setRise(5)
    line.textOut(text)
    line.setFont("Helvetica", 12)
    line.setRise(0)
    line.textOut(after)
    made.drawText(line)


def test_a_raised_number_is_no_digit_of_the_one_before_it(tmp_path):
    for number, (before, text) in enumerate((("10", "6"), ("10", "-6"), ("high", "1"))):
        made = page(tmp_path / f"{number}.pdf")
        raised(made, before, text, " units")
        made.save()

    texts = [read_file(tmp_path / f"{number}.pdf")[0].text for number in range(3)]

    assert [" ".join(text.split()) for text in texts] == [
        "10^6 units",
        "10^-6 units",
        "high1 units",
    ]


def test_a_mark_stands_where_the_raised_number_is(tmp_path):
    made = page(tmp_path / "a.pdf")
    raised(made, "10", "6", "")
    made.drawString(72, 600, "2020 and 10.5 and 1,234")
    made.save()

    assert read_file(tmp_path / "a.pdf")[0].text == "10^6\n2020 and 10.5 and 1,234"


def test_three_columns_that_were_drawn_line_by_line_follow_one_another(tmp_path):
    made = page(tmp_path / "a.pdf")
    words = ("the coal of", "the iron of", "the ferry of")
    for line in range(5):
        for column, text in enumerate(words):
            made.drawString(40 + 190 * column, 700 - 15 * line, f"{text} line {line}")
    made.save()

    lines = read_file(tmp_path / "a.pdf")[0].text.split("\n")

    assert lines == [f"{text} line {line}" for text in words for line in range(5)]


def test_a_table_of_three_columns_stays_in_its_rows(tmp_path):
    made = page(tmp_path / "a.pdf")
    for line in range(5):
        for column, text in enumerate(("Year", "Coal", "Iron")):
            made.drawString(40 + 190 * column, 700 - 15 * line, f"{text} {line}")
    made.save()

    lines = read_file(tmp_path / "a.pdf")[0].text.split("\n")

    assert lines[1] == "Year 1 Coal 1 Iron 1"
