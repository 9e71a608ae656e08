"""Tables on PDF pages: a value never moves under another heading."""

import io
from collections.abc import Sequence

import pytest
from reportlab.lib import colors
from reportlab.pdfgen import canvas
from reportlab.platypus import SimpleDocTemplate, Table, TableStyle

from oprag.chunk import Span
from oprag.files.pdf import open_page, open_pdf, pdf_pages
from oprag.files.pdf_places import lines_of

COAL = [("Year", "Coal", "Iron"), ("1900", "12", "5"), ("1901", "", "7")]
WRAPPED = [
    ("Region", "Note", "Sum"),
    ("North and\nEast", "the harbour\nopened", "5"),
    ("South", "", "7"),
]


def drawn(rows: Sequence[Sequence[str]], *, right: bool = False) -> bytes:
    """A page with rows of cells, each 100 points beside the last."""
    made = io.BytesIO()
    page = canvas.Canvas(made, invariant=1)
    draw = page.drawRightString if right else page.drawString
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            draw(120 + 100 * column, 700 - 15 * row, cell)
    page.save()
    return made.getvalue()


def ruled(rows: Sequence[Sequence[str]]) -> bytes:
    """A page with a table that has lines around each cell."""
    made = io.BytesIO()
    grid = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    SimpleDocTemplate(made, invariant=1).build([Table(rows, style=grid)])
    return made.getvalue()


def text_of(data: bytes) -> str:
    return pdf_pages(data)[0].text


@pytest.mark.parametrize(
    "data",
    [drawn(COAL), drawn(COAL, right=True), ruled(COAL)],
    ids=["left", "right", "ruled"],
)
def test_an_empty_cell_before_another_keeps_its_column(data):
    assert text_of(data).split("\n") == [
        "| Year | Coal | Iron |",
        "| 1900 | 12 | 5 |",
        "| 1901 |  | 7 |",
    ]


def test_an_account_has_its_sums_under_their_headings():
    rows = [
        ("Date", "Text", "Debit", "Credit", "Sum"),
        ("1 May", "Rent", "500", "", "1,500"),
        ("2 May", "Wage", "", "900", "2,400"),
    ]

    assert text_of(drawn(rows, right=True)).split("\n")[1:] == [
        "| 1 May | Rent | 500 |  | 1,500 |",
        "| 2 May | Wage |  | 900 | 2,400 |",
    ]


def test_a_ruled_cell_of_two_lines_is_one_cell():
    assert text_of(ruled(WRAPPED)).split("\n") == [
        "| Region | Note | Sum |",
        "| North and East | the harbour opened | 5 |",
        "| South |  | 7 |",
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [
            ("1.", "Pay the rent of", "50 euros"),
            ("", "the whole", "year"),
            ("2.", "Go"),
        ],
        [("1", "Coal", "4"), ("", "Iron of the north", "9"), ("2", "Ferries", "12")],
        [("Name:", "", "Date:"), ("Street:", "", "Town:"), ("Place:", "", "Sign:")],
        [("if x:", ""), ("", "return 1"), ("else:", ""), ("", "return 2")],
        [("x", "=", "3"), ("", "+", "4"), ("y", "=", "7")],
        [*COAL[:2], ("1901", "3", "7")],
    ],
    ids=["list", "contents", "form", "code", "equations", "full table"],
)
def test_text_whose_columns_are_not_proved_stays_as_it_is(rows):
    text = text_of(drawn(rows))

    assert "|" not in text
    assert text.split() == " ".join(" ".join(row) for row in rows).split()


@pytest.mark.parametrize("data", [drawn(COAL), ruled(WRAPPED)], ids=["drawn", "ruled"])
def test_the_cells_of_a_row_are_at_their_places(data):
    with open_pdf(data) as document, open_page(document, 0) as opened:
        at = opened.text.index("|  | 7") + len("|  | ")
        [place] = lines_of(opened, Span(at, at + 1))
        inside = opened.characters.get_text_bounded(*place)

    assert inside.strip() == "7"
