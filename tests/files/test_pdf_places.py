"""Where passages are on the pages of a PDF: what is marked is the passage."""

import io
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import pypdfium2
import pytest
from PIL import Image
from pypdfium2 import raw
from reportlab.pdfgen.canvas import Canvas

from oprag.chunk import Span
from oprag.files import pdf_page_image, read_file
from oprag.files.pdf import PdfPage, open_page, open_pdf, pdf_pages
from oprag.files.pdf_places import Rectangle, lines_of
from oprag.splitting import split_sentences
from tests.files.pdf_writers import FORMS, WRITERS, Form

TEXT = (
    "The office files five affidavits on the first floor (see the annex, p. 12). "
    "Nobody is in-\nformed of the costs: they were “small”, it said; 3.50 euros, or "
    "so. Whoever pays the rent keeps the key, and whoever keeps the key opens the gate "
    "at eight. Typically, gypsum was piled by the jetty. "
)
PARAGRAPHS = [f"Part {number}. {TEXT * (1 + number % 3)}" for number in range(24)]
NOTES = ["Quoted from the annual report, page 7, which nobody has seen.", TEXT[:150]]


def passages_of(page: PdfPage) -> list[Span]:
    """One to three chunks that touch, from one end of a page to the other."""
    chunks = split_sentences(page.text, chunk_size=100)
    starts = range(0, len(chunks), 4)
    lasts = [chunks[min(start + start // 4 % 3, len(chunks) - 1)] for start in starts]
    return [
        Span(chunks[start].start, last.end)
        for start, last in zip(starts, lasts, strict=True)
    ]


def pdf_places(data: bytes, page: int, span: Span) -> list[Rectangle]:
    with open_pdf(data) as document, open_page(document, page) as opened:
        return lines_of(opened, span)


HYPHEN = 2
"""PDFium's code for one that divides a word at the end of a line."""


def one_line(text: str) -> str:
    return " ".join(text.split())


def marked_texts(data: bytes, spans: Mapping[int, Sequence[Span]]) -> Iterator[str]:
    """Read back what the rectangles of each span cover the middle of."""
    for number in sorted(spans):
        covered = [pdf_places(data, number, span) for span in spans[number]]
        with pypdfium2.PdfDocument(data) as document:
            characters = document[number].get_textpage()
            found = [
                (raw.FPDFText_GetUnicode(characters, index), index)
                for index in range(characters.count_chars())
            ]
            boxes = [characters.get_charbox(index) for _, index in found]
            for rectangles in covered:
                texts = [
                    chr(code)
                    for code, index in found
                    if code != HYPHEN
                    if chr(code).isspace() or is_inside(boxes[index], rectangles)
                ]
                yield one_line("".join(texts))


def is_inside(
    box: Sequence[float], rectangles: Sequence[tuple[float, float, float, float]]
) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(
        left <= x <= right and bottom <= y <= top
        for left, bottom, right, top in rectangles
    )


def compare(data: bytes) -> list[tuple[str, str]]:
    """Passages of a PDF, each beside what its rectangles cover."""
    pages = pdf_pages(data)
    spans = {page.number: passages_of(page) for page in pages}
    passages = [
        one_line(page.text[slice(*span)])
        for page in pages
        for span in spans[page.number]
    ]
    marked = list(marked_texts(data, spans))
    return list(zip(passages, marked, strict=True))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_marked_is_the_passage(writer, form):
    compared = compare(WRITERS[writer](PARAGRAPHS, NOTES, FORMS[form]))

    assert len(compared) > 10
    for passage, marked in compared:
        assert marked == passage


def known_page(*, turned: int = 0, box: str = "0 0 300 200") -> bytes:
    """`See here` and `now` in 20 points, on lines at 100 and 60 points."""
    return written(
        b"BT /F 20 Tf 50 100 Td (See here) Tj 0 -40 Td (now) Tj ET",
        f"/MediaBox [{box}] /Rotate {turned}",
    )


def written(content: bytes, page: str, font: str = "") -> bytes:
    """A PDF of one page, without the table that says where its objects are."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /Contents 4 0 R {page} "
        "/Resources << /Font << /F 5 0 R >> >> >>".encode(),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(content), content),
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Courier {font} >>".encode(),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(HALVES), HALVES),
    ]
    numbered = [b"%d 0 obj %s endobj" % each for each in enumerate(objects, 1)]
    return b"\n".join([b"%PDF-1.4", *numbered, b"trailer << /Root 1 0 R >>", b"%%EOF"])


HALVES = b"""\
/CIDInit /ProcSet findresource begin begincmap
1 begincodespacerange <00> <ff> endcodespacerange
3 beginbfchar <41> <d83d> <42> <0000> <43> <d83dde00> endbfchar
endcmap end"""


def test_a_page_whose_font_gives_codes_for_letters_is_told(tmp_path):
    codes = b"BT /F 20 Tf 50 100 Td (Rent \3\4\5\6\7\16\17\20) Tj ET"
    (tmp_path / "codes.pdf").write_bytes(written(codes, "/MediaBox [0 0 300 200]"))

    assert read_file(tmp_path / "codes.pdf")[0].notice == (
        "1 of 1 page holds letters that their fonts do not name (1); text recognition "
        "can read them"
    )


def test_rectangles_are_points_from_the_lower_left_corner():
    here, now = pdf_places(known_page(), 0, Span(4, 12))

    assert 98 <= here.left < 101  # the fifth of letters 12 points wide
    assert 143 < here.right <= 146
    assert 99 < here.bottom <= 100
    assert 110 < here.top < 115
    assert 50 <= now.left < 53
    assert 59 < now.bottom <= 60


def test_the_raised_mark_of_a_note_has_a_rectangle_of_its_own():
    data = written(
        b"BT /F 20 Tf 50 100 Td (See) Tj 9 Ts /F 8 Tf (12) Tj "
        b"0 Ts /F 20 Tf (here) Tj ET",
        "/MediaBox [0 0 300 200]",
    )
    text = pdf_pages(data)[0].text

    before, mark, behind = pdf_places(data, 0, Span(0, len(text)))

    assert before.bottom == pytest.approx(behind.bottom, abs=1)
    assert mark.bottom > before.bottom + 8
    assert before.right < mark.left < mark.right < behind.left


def test_blanks_and_spans_beyond_the_text_are_nowhere():
    data = known_page()

    assert pdf_places(data, 0, Span(3, 4)) == []
    assert pdf_places(data, 0, Span(50, 60)) == []


@pytest.mark.parametrize("page", [-1, 1])
def test_a_page_that_is_not_there_is_told(page):
    with pytest.raises(IndexError, match=rf"no page {page}: the PDF has 1"):
        pdf_places(known_page(), page, Span(0, 1))


def pixels(png: bytes) -> list[list[tuple[int, int, int]]]:
    """The pixels of a picture, row by row."""
    with Image.open(io.BytesIO(png)) as picture:
        assert picture.format == "PNG"
        assert picture.mode == "RGB"
        width, flat = picture.width, picture.tobytes()
    colours = list(zip(flat[::3], flat[1::3], flat[2::3], strict=True))
    return [colours[at : at + width] for at in range(0, len(colours), width)]


def marked_part(png: bytes) -> tuple[int, int, int, int]:
    """The first and last column, and the first and last row, with the mark's yellow."""
    found = [
        (x, y)
        for y, row in enumerate(pixels(png))
        for x, pixel in enumerate(row)
        if pixel[0] > 2 * pixel[2]
    ]
    columns, rows = zip(*found, strict=True)
    return min(columns), max(columns), min(rows), max(rows)


@pytest.mark.parametrize("box", ["0 0 300 200", "-40 -20 260 180"])
@pytest.mark.parametrize("turned", [0, 90])
def test_the_picture_of_a_page_has_the_mark_where_a_viewer_shows_it(turned, box):
    data = known_page(turned=turned, box=box)
    (place,) = pdf_places(data, 0, Span(4, 8))
    x, y = map(float, box.split()[:2])
    left, right = 2 * (place.left - x), 2 * (place.right - x)
    top, bottom = 2 * (200 + y - place.top), 2 * (200 + y - place.bottom)
    upright = [left, right, top, bottom]
    # Turned clockwise: what was at the top is at the right.
    expected = [400 - bottom, 400 - top, left, right] if turned else upright

    png = pdf_page_image(data, 0, [Span(4, 8)], width=400 if turned else 600)

    assert marked_part(png) == pytest.approx(expected, abs=2)


@pytest.mark.parametrize("width", [1, 480, 481, 900])
def test_a_picture_is_as_wide_as_was_asked_for(width):
    for data in (
        known_page(),
        WRITERS["fpdf2"](["A4."], NOTES, Form(1, embedded=True)),
    ):
        assert len(pixels(pdf_page_image(data, 0, width=width))[0]) == width


def test_characters_that_no_index_stores_are_replaced_where_they_stand():
    font = "/ToUnicode 6 0 R /FirstChar 65 /LastChar 67 /Widths [600 600 600]"
    data = written(b"BT /F 20 Tf 50 100 Td (CABC) Tj ET", "/MediaBox [0 0 99 99]", font)

    (page,) = pdf_pages(data)

    assert page.text == "\U0001f600\ufffd\ufffd\U0001f600"
    first, *_, last = (pdf_places(data, 0, Span(n, n + 1))[0] for n in range(4))
    assert last.left - first.left == pytest.approx(36, abs=1)


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("the infor-", "mation", "the information"),
        ("Anna-", "Lena", "Anna-Lena"),
        ("Die Haus-", "und Hofordnung.", "Die Haus- und Hofordnung."),
        ("well-known: well-", "known", "well-known: well-known"),
    ],
)
def test_a_word_that_is_divided_at_the_end_of_a_line_is_one_word(first, second, text):
    lines = f"BT /F 20 Tf 50 100 Td ({first}) Tj 0 -24 Td ({second}) Tj ET"
    data = written(lines.encode(), "/MediaBox [0 0 900 200]")

    assert pdf_pages(data)[0].text == text
    assert len(pdf_places(data, 0, Span(0, len(text)))) == 2


def drawn(*lines: tuple[float, float, str], form: Mapping[str, str] | None = None):
    """A page with texts at places, and fields at the right with values."""
    made = io.BytesIO()
    page = Canvas(made, pagesize=(595, 842))
    for x, y, text in lines:
        page.drawString(x, y, text)
    for number, (name, value) in enumerate((form or {}).items()):
        page.acroForm.textfield(
            name=name, value=value, x=200, y=690 - 40 * number, width=200, height=20
        )
    page.save()
    return made.getvalue()


def test_what_was_filled_into_a_form_follows_its_label_and_is_marked():
    data = drawn(
        (72, 697, "Name:"),
        (72, 657, "Street:"),
        (72, 600, "Signed in May."),
        form={"a": "Lucia Garza", "b": "Elm Road 4"},
    )

    (page,) = pdf_pages(data)
    place = page.text.index("Elm")

    assert page.text == "Name: Lucia Garza\nStreet: Elm Road 4\nSigned in May."
    (box,) = pdf_places(data, 0, Span(place, place + 10))
    assert 200 < box.left < box.right < 400
    assert 650 < box.bottom < box.top < 670


def test_what_was_filled_into_a_form_is_on_the_picture_of_its_page():
    labels = [(72, 697, "Name:")]
    filled, empty = (drawn(*labels, form={"a": value}) for value in ("Lucia", ""))

    assert pdf_page_image(filled, 0) != pdf_page_image(empty, 0)


def test_text_off_the_page_is_not_read():
    data = drawn((72, 700, "Shown."), (72, -200, "Below."), (900, 700, "Beside."))

    assert pdf_pages(data)[0].text == "Shown."


LEFT = ("The left column begins", "here and tells of coal", "in the old harbour.")
RIGHT = ("The right column has", "the ferry and its new", "hours in autumn.")


def side_by_side(left: Sequence[str], right: Sequence[str]) -> bytes:
    pairs = enumerate(zip(left, right, strict=True))
    lines = [((72, 700 - 15 * n, a), (320, 700 - 15 * n, b)) for n, (a, b) in pairs]
    return drawn(*(line for pair in lines for line in pair))


def test_columns_that_were_drawn_line_by_line_are_read_one_after_the_other():
    data = side_by_side(LEFT, RIGHT)

    (page,) = pdf_pages(data)

    assert page.text == "\n".join((*LEFT, *RIGHT))
    assert len(pdf_places(data, 0, Span(0, len(page.text)))) == 6


def test_the_values_of_a_table_stay_in_their_rows():
    data = side_by_side(("Coal in tons", "Iron", "Salt"), ("Twelve of them", "5", "7"))

    assert pdf_pages(data)[0].text == "Coal in tons Twelve of them\nIron 5\nSalt 7"


def test_threads_with_pdfs_wait_for_one_another():
    data = WRITERS["fpdf2"](PARAGRAPHS, NOTES, Form(2, embedded=True))
    expected = pdf_pages(data)

    with (
        ThreadPoolExecutor(4) as threads,
        open_pdf(data) as document,
        open_page(document, 0),
    ):
        read = [threads.submit(pdf_pages, data) for _ in range(12)]
        assert not wait(read, timeout=0.3, return_when=FIRST_COMPLETED).done

    assert [each.result() for each in read] == [expected] * 12
