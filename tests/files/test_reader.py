"""Files as documents: what is read, in which order, and what is said of the rest."""

import os
import sys
from pathlib import Path

import pytest

from oprag.errors import UnreadableFileError
from oprag.files import read_files
from oprag.files.html import read_page
from oprag.files.pdf import pdf_pages
from oprag.files.text import NoTextError, decode
from tests.files.mixed_files import LEASE, MEETING, PAGE, READABLE, make_folder, pdf


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder `notes` inside the current one."""
    monkeypatch.chdir(tmp_path)
    make_folder(tmp_path / "notes")
    return type(tmp_path)("notes")


def test_a_folder_is_read_in_order_without_hidden_files(folder):
    read = read_files([folder])

    assert read.names == [f"notes/{name}" for name in READABLE]


def test_what_cannot_be_read_in_a_folder_is_skipped_and_named(folder):
    tried: list[Path] = []
    skipped = read_files([folder], on_file=tried.append).skipped

    assert len(tried) == len(READABLE) + len(skipped)
    assert [(error.path, error.reason) for error in skipped] == [
        ("notes/empty.txt", "is empty"),
        ("notes/logo.png", "is binary, not text"),
        ("notes/old.txt", "is not UTF-8 text (byte 0xe9 at 3); save it as UTF-8"),
    ]


@pytest.mark.parametrize("name", ["empty.txt", "logo.png", "old.txt"])
def test_the_same_file_named_by_itself_is_an_error(folder, name):
    with pytest.raises(UnreadableFileError, match=name):
        read_files([folder / "lease.md", folder / name])


def test_text_keeps_every_character(folder):
    meeting, lease, *_ = read_files([folder]).texts

    assert meeting.text == MEETING
    assert lease.text == LEASE


def test_a_file_that_is_named_twice_is_read_once(folder):
    lease = folder / "lease.md"

    read = read_files([lease, folder, lease.resolve(), folder])

    assert read.names[0] == "notes/lease.md"
    assert len(read.names) == len(set(read.names)) == 4


def test_pages_of_a_pdf_are_documents_of_one_file_and_keep_their_numbers(folder):
    pages = read_files([folder / "report.pdf"]).texts

    assert [page.metadata for page in pages] == [
        {"source": "notes/report.pdf", "page": 0, "page_label": "1"},
        {"source": "notes/report.pdf", "page": 2, "page_label": "3"},
    ]
    assert pages[1].text == "The repair costs 4,000 euros."


def test_pages_without_text_are_told(folder):
    said = "1 of 3 pages holds no text (2); scanned pages need text recognition"

    assert read_files([folder]).notices == {"notes/report.pdf": said}


def test_a_pdf_is_known_by_its_beginning_too(folder):
    renamed = (folder / "report.pdf").rename(folder / "report")

    assert len(read_files([renamed]).texts) == 2


def test_a_folder_without_any_text_is_an_error_that_says_why(tmp_path):
    (tmp_path / "empty.txt").write_text(" \n")

    with pytest.raises(
        UnreadableFileError, match=r"no file that.*empty\.txt' is empty"
    ):
        read_files([tmp_path])


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_name_that_is_no_text_can_be_stored(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    try:
        path.write_text("text")
    except OSError:
        pytest.skip("this file system takes Unicode names only")

    (document,) = read_files([path]).texts

    assert document.source.endswith("caf\\xe9.txt")


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="all may be read")
def test_a_closed_folder_is_told(folder):
    (folder / "deep").chmod(0)
    try:
        skipped = read_files([folder]).skipped
    finally:
        (folder / "deep").chmod(0o700)

    assert skipped[-1].reason == "cannot be read (Permission denied)"


TABLE_AND_LIST = "| a | b |\n| c |\n\nx\ny"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<title>Rules</title><h1>Rules</h1><p>None.</p>", "# Rules\n\nNone."),
        ("<title>Go</title><h1>Goals of 2024</h1>", "Go\n\n# Goals of 2024"),
        ("<head><title>T</title><meta><p>Hello", "T\n\nHello"),
        ("<head><title>T</title>\nHello <b>you", "T\n\nHello you"),
        ("<pre>  if a:\n    b</pre><table><td>x<td>y", "if a:\n    b\n\nx\ny"),
        ("<p>code:</p><pre>  a\n  b</pre>", "code:\n\n  a\n  b"),
        (
            "<head><title>Prices</title><style>p {}</style><body><p>One<p>Two",
            "Prices\n\nOne\n\nTwo",
        ),
        ("<table><tr><td>a<td>b<tr><td>c</table><ul><li>x<li>y", TABLE_AND_LIST),
        ("<ol start=3><li>Pay<li value=7>Paint</ol>", "3. Pay\n7. Paint"),
        ("<ol type=i><li>a<li>b<ol type=A><li>c</ol></ol>", "i. a\nii. b\n\nA. c"),
        ("<p>10<sup>6</sup>, the 5<sup>th</sup>, H<sub>2</sub>O", "10^6, the 5th, H2O"),
        ("<p><del>500</del> 600 <s>each</s> a month", "600 a month"),
        ("<p hidden>no<p style='display:none'>no<p>yes", "yes"),
        (
            (
                "<style>.k{display:none} @media print{.z{display:none}}</style>"
                "<p class=k>no<p class=z>yes"
            ),
            "yes",
        ),
        ("<div><svg><path></div><p>whole", "whole"),
        ("<p>a <!-- no --> <b> b</b>\n<![no[x]]><i>c </i></p>", "a b c"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><p>Caf\u00e9', "Caf\u00e9"),
    ],
)
def test_a_page_is_its_visible_text_in_blocks(page, text):
    assert read_page(PAGE.encode()).text.endswith(
        "caretaker.\n\nNo drums & horns.\nNo noise."
    )
    coded = "latin-1" if "ISO-8859-1" in page else "utf-8"
    assert read_page(page.encode(coded)).text == text


BODY = f"<p>{'The harbour opened in May, and a ship brought coal. ' * 6}</p>"


@pytest.mark.parametrize(
    "page",
    [
        f"<article>{BODY}</article><main></main>",
        f"<main><p>Share</p></main><article>{BODY}</article>",
        f"<main>{BODY}</main>",
        (
            f"<div role=navigation>Menu</div><header>Log in</header>{BODY}"
            "<footer>Imprint</footer><dialog>Cookies?</dialog>"
        ),
        f"<div class='has-sidebar nav'>{BODY}</div>",
    ],
)
def test_a_body_is_whole_wherever_it_stands_and_alone(page):
    text = read_page(f"<title>News</title>{page}".encode()).text

    assert text.count("brought coal") == 6
    for junk in ("Menu", "Log in", "Imprint", "Cookies"):
        assert junk not in text


def test_a_page_that_a_script_will_show_is_read():
    hidden = f"<div style='display: none'>{BODY}</div>"

    assert read_page(hidden.encode()).text.count("coal") == 6


def test_values_stay_in_their_columns():
    page = (
        "<table><caption>Tons</caption><tr><th rowspan=2>Year<th colspan=2>Goods"
        "<tr><th>Coal<th>Iron<tr><td>1900<td>12<td>5<tr><td>1901<td><td>7</table>"
    )

    assert read_page(page.encode()).text.splitlines() == [
        "Tons",
        "| Year | Goods | |",
        "| Year | Coal | Iron |",
        "| 1900 | 12 | 5 |",
        "| 1901 | | 7 |",
    ]


def test_a_table_that_lays_out_a_page_is_its_text():
    page = f"<table><tr><td>Left<td><h1>News</h1>{BODY}</table>"

    assert "|" not in read_page(page.encode()).text


def test_a_page_is_read_in_the_encoding_that_it_declares():
    page = '<meta charset="{}"><p>Café – “naïve”</p>'

    assert (
        read_page(page.format("windows-1252").encode("cp1252")).text == "Café – “naïve”"
    )
    assert read_page(page.format("latin-1").encode("cp1252")).text == "Café – “naïve”"
    with pytest.raises(NoTextError, match="is not UTF-8 text"):
        read_page("<p>Гавань в мае</p>".encode("koi8-r"))
    with pytest.raises(NoTextError, match="not known, 'klingon'"):
        read_page(page.format("klingon").encode("cp1252"))


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\xff\xfe\0\xd8\0\xd8\0\xd8", "is binary"),
        (b"a\0b", "is binary"),
        (b"\xff\x01\x02", "is binary"),
        (b"caf\xe9", r"is not UTF-8 text \(byte 0xe9 at 3\)"),
    ],
)
def test_bytes_that_are_no_utf8_are_told_apart(data, fault):
    with pytest.raises(NoTextError, match=fault):
        decode(data)


LONG = b"The harbour opened in May. " * 20


@pytest.mark.parametrize("bad", [b"\xe9", b"\0"])
def test_one_bad_byte_does_not_refuse_a_text(bad, tmp_path):
    (tmp_path / "a.txt").write_bytes(LONG + bad + LONG)

    (text,) = read_files([tmp_path]).texts

    assert text.text == (LONG + b"?" + LONG).decode().replace("?", "\ufffd")
    assert text.notice == "1 character is wrong in it, and read as U+FFFD"


def test_a_byte_order_mark_is_no_text():
    assert decode(b"\xef\xbb\xbfa\r\n") == "a\r\n"


@pytest.fixture
def read_in_this_process(monkeypatch):
    def call(_: int, function, *given: object):
        return function(*given)

    monkeypatch.setattr("oprag.files.reader.within_limits", call)


@pytest.mark.usefixtures("read_in_this_process")
def test_a_pdf_is_named_where_the_library_for_it_is_missing(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)

    read = read_files([folder])

    assert "notes/report.pdf" not in read.names
    (skipped,) = (e for e in read.skipped if e.path == "notes/report.pdf")
    assert "oprag[cli]" in skipped.reason


def test_roman_page_labels_are_kept(tmp_path):
    pdf(tmp_path / "a.pdf", ("one", "two"), label="r")

    pages = pdf_pages((tmp_path / "a.pdf").read_bytes())

    assert [(page.number, page.label) for page in pages] == [(0, "i"), (1, "ii")]


@pytest.mark.parametrize("length", [9, 200, 900])
def test_a_damaged_pdf_is_told(tmp_path, length):
    pdf(tmp_path / "a.pdf")

    with pytest.raises(NoTextError, match=r"is a damaged PDF|without text"):
        pdf_pages((tmp_path / "a.pdf").read_bytes()[:length])


def test_a_pdf_of_pictures_and_a_locked_one_are_told(tmp_path):
    pdf(tmp_path / "blank.pdf", ("", ""))
    with pytest.raises(NoTextError, match="without text; scanned pages"):
        pdf_pages((tmp_path / "blank.pdf").read_bytes())

    pdf(tmp_path / "locked.pdf", password="secret")
    with pytest.raises(NoTextError, match="is locked by a password"):
        pdf_pages((tmp_path / "locked.pdf").read_bytes())


@pytest.mark.usefixtures("read_in_this_process")
def test_a_link_that_leads_out_of_a_folder_is_not_even_read(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("The garden is closed at night.")
    (folder / "b.txt").symlink_to("a.txt")
    secret = tmp_path / "secret.txt"
    secret.write_text("The password is swordfish.")
    (folder / "link.txt").symlink_to(secret)
    opened = []

    def hook(event: str, given: tuple[object, ...]) -> None:
        if event == "open" and isinstance(given[0], (str, Path)):
            opened.append(str(given[0]))

    sys.addaudithook(hook)

    read = read_files([folder], links_out=False)

    assert [each.source for each in read.texts] == [str(folder / "a.txt")]
    assert read.skipped[0].message == (
        f"{str(folder / 'link.txt')!r} is a link that leads out of the folder."
    )
    assert str(folder / "a.txt") in opened
    assert not {str(folder / "link.txt"), str(secret)} & {*opened}


@pytest.mark.parametrize("data", [b"Har\0bour in May", b"A,B\n12,\0\n34,56"])
def test_one_zero_in_a_short_text_does_not_refuse_it(data):
    assert decode(data) == data.decode().replace("\0", "\ufffd")


@pytest.mark.parametrize("data", [b"Har\0bour\0 in May", b"Har\0bour in\x01 May"])
def test_zeros_in_a_short_text_are_none_of_a_text(data):
    with pytest.raises(NoTextError, match="is binary"):
        decode(data)
