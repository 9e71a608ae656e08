"""Hostile files are named, in one line and in time, and the others are read."""

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from docx import Document
from pptx import Presentation
from xlsxwriter import Workbook

from oprag.errors import UnreadableFileError
from oprag.files import read_file, read_files, worker
from oprag.files.text import NoTextError
from oprag.files.worker import within_limits
from tests.files.mixed_files import pdf
from tests.files.pdf_writers import font_of_wide_codes


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "good.txt").write_text("Good.")
    return tmp_path


def only_the_good(folder: Path) -> str:
    """Why the one other file is not read."""
    read = read_files([folder])
    assert [each.text for each in read.texts] == ["Good."]
    (error,) = read.skipped
    assert "\n" not in error.message
    assert len(error.reason) < 99
    return error.reason


@pytest.mark.parametrize(
    "codec", ["undefined", "punycode", "idna", "hex", "no such", "x" * 999]
)
def test_an_encoding_that_is_none_ends_no_folder(folder, codec):
    page = f"<meta charset='{codec}'><p>A\u00e4".encode("latin-1")
    (folder / "page.html").write_bytes(page)

    assert only_the_good(folder).startswith(
        ("names an encoding that is not known", "is not")
    )


def test_what_an_encoding_makes_of_bytes_can_be_stored(tmp_path):
    page = rb"<meta charset=unicode_escape><p>a \ud800 b"
    (tmp_path / "page.html").write_bytes(page)

    assert read_file(tmp_path / "page.html")[0].text == "a \ufffd b"


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        (time.sleep, 600, "within 1 seconds"),
        (exec, "while True: pass", "within 1 seconds"),
        (os._exit, 3, "crashed its reader"),
        (bytes, 8 << 30, "needs more than 3 GB"),
    ],
)
def test_what_harms_its_reader_harms_no_other(monkeypatch, function, given, said):
    monkeypatch.setattr(worker, "SECONDS", 1.0)
    monkeypatch.setattr(worker, "WAITING", 2)
    with pytest.raises(NoTextError, match=said):
        within_limits(0, function, given)
    assert within_limits(0, len, "abc") == 3


def test_who_waits_and_does_not_work_has_more_time(monkeypatch):
    monkeypatch.setattr(worker, "SECONDS", 0.2)

    within_limits(0, time.sleep, 0.6)


def test_an_error_that_cannot_be_sent_is_named():
    raised = "class Odd(Exception): pass\nraise Odd(lambda: 1)"

    with pytest.raises(NoTextError, match=r"its reader failed \(Odd\)"):
        within_limits(0, exec, raised)


def test_any_error_of_a_reader_costs_one_file_alone(folder, monkeypatch):
    def fail(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr("oprag.files.reader.within_limits", fail)
    (folder / "odd.txt").write_text("Text.")

    with pytest.raises(UnreadableFileError, match=r"its reader failed \(KeyError\)"):
        read_file(folder / "odd.txt")


def test_codes_beyond_unicode_do_not_end_a_folder(folder):
    (folder / "codes.pdf").write_bytes(font_of_wide_codes())

    texts = {Path(each.source).name: each.text for each in read_files([folder]).texts}

    assert texts == {"good.txt": "Good.", "codes.pdf": "AA\ufffdA"}


@pytest.mark.once
def test_a_reader_ends_in_time_though_who_asked_was_killed(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    read = "f = open('pipe', 'wb', 0); f.write(b'.'); import time; time.sleep(99)"
    limits = "worker.SECONDS = 5; worker.WAITING = 1"
    ask = f"{limits}; worker.within_limits(0, exec, {read!r})"
    code = f"from oprag.files import worker; {ask}"
    asking = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    for expected in (b".", b""):  # the reader has begun; it has ended
        assert select.select([pipe], [], [], 60)[0]
        assert os.read(pipe, 1) == expected
        asking.kill()
    asking.wait()
    os.close(pipe)


def test_pipes_and_devices_are_not_opened(folder):
    os.mkfifo(folder / "pipe.txt")

    for path in (folder / "pipe.txt", Path("/dev/zero")):
        with pytest.raises(UnreadableFileError, match="is not a regular file"):
            read_files([path])
    assert only_the_good(folder) == "is not a regular file"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nowhere.txt", "does not exist"),
        (".", "is a link to a folder; give that folder"),
    ],
)
def test_a_link_that_leads_to_no_file_is_named(folder, target, said):
    (folder / "link.txt").symlink_to(target)

    assert only_the_good(folder) == said


def test_no_name_breaks_a_line(tmp_path):
    for name in ("a\nb.txt", "a\r\x1b[2J.txt", "a\u2028\u202egnp.txt"):
        (tmp_path / name).write_text("Text.")
    (tmp_path / "می\u200cروم.txt").write_text("Text.")
    (tmp_path / "x\ny.txt").write_bytes(b"\0")

    read = read_files([tmp_path])

    names = [name.removeprefix(f"{tmp_path}/") for name in read.names]
    assert sorted(names) == [
        "a\\nb.txt",
        "a\\r\\x1b[2J.txt",
        "a\\u2028\\u202egnp.txt",
        "می\u200cروم.txt",
    ]
    assert "\n" not in read.skipped[0].message


def _write_good_files(folder: Path) -> None:
    """Write a small file of each kind that a library reads."""
    word = Document()
    word.add_paragraph("Coal")
    word.save(folder / "a.docx")
    slides = Presentation()
    slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Coal"
    slides.save(folder / "a.pptx")
    with Workbook(folder / "a.xlsx") as book:
        book.add_worksheet("A").write(0, 0, "Coal")
    pdf(folder / "a.pdf", ("Coal",))
    (folder / "a.html").write_text("<p>Coal</p>" * 9)
    (folder / "a.eml").write_text("Subject: x\n\nCoal\n" * 9)
    (folder / "a.ipynb").write_text('{"cells": [], "metadata": {"a": "Coal"}}')
    (folder / "a.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nCoal\n")
    (folder / "a.csv").write_text("Year,Coal\n1900,12\n" * 9)


def _spoil(data: bytes) -> list[bytes]:
    """Return a file cut, overwritten, doubled, with bytes before it, and empty."""
    half = len(data) // 2
    noise = bytes(range(256))
    return [
        *(data[:half], data[:half] + bytes(half), data + data, noise + data),
        *(data[:half] + noise + data[half + 256 :], data[-half:], b"", b" \n"),
    ]


def test_a_folder_of_spoiled_files_of_every_kind_ends_with_the_good_one(tmp_path):
    _write_good_files(tmp_path)
    kinds = sorted(tmp_path.iterdir())
    zipped = (tmp_path / "a.xlsx").read_bytes()
    for good in kinds:
        for other in kinds:  # the right content, the wrong ending
            wrong = tmp_path / f"{good.stem}{good.suffix[1:]}{other.suffix}"
            wrong.write_bytes(good.read_bytes())
        for number, data in enumerate(_spoil(good.read_bytes())):
            (tmp_path / f"{number}{good.suffix}").write_bytes(data)
    (tmp_path / "turned.epub").write_bytes(zipped[-90:] + zipped[:-90])
    (tmp_path / "deep.ipynb").write_text('{"cells":' + "[" * 99_999)
    (tmp_path / "deep.eml").write_text("Content-Type: message/rfc822\n\n" * 3000)
    (tmp_path / "good.txt").write_text("Good.")

    read = read_files([tmp_path])

    assert "Good." in {each.text for each in read.texts}
    assert len({*read.names}) + len(read.skipped) == len([*tmp_path.iterdir()])
    for error in read.skipped:
        assert "\n" not in error.message
        assert "its reader failed" not in error.reason, error.path
        assert "crashed" not in error.reason, error.path
