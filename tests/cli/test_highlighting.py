"""`oprag context --highlight`: the passages in a copy of the PDF they are of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oprag import order_context
from oprag.cli.app import app
from oprag.cli.highlighting import highlight
from oprag.cli.retrieving import Retrieved
from oprag.cli.searching import Search
from oprag.files import read_files
from oprag.files.pdf import pdf_pages
from tests.files.mixed_files import pdf
from tests.files.test_pdf_places import marked_texts, one_line

QUESTION = "Who pays for repairs?"


def run(*arguments: object) -> Result:
    # Wide, so that no message of Typer's is cut.
    environment = {"COLUMNS": "1000"}
    given = ["context", *map(str, arguments)]
    return CliRunner().invoke(app, given, env=environment)


@pytest.fixture
def files(tmp_path) -> Path:
    """A PDF of two pages with text, beside a note."""
    (tmp_path / "notes").mkdir()
    pdf(tmp_path / "notes" / "report.pdf")
    (tmp_path / "notes" / "note.txt").write_text("Nobody pays. \U0001f600 Not a cent.")
    return tmp_path / "notes"


def test_the_passages_are_highlighted_in_a_copy(files, tmp_path, tiny_model):
    options = ["--embedding-model", tiny_model, "--directory", tmp_path / "index"]
    plain = run(files, QUESTION, *options)
    before = (files / "report.pdf").read_bytes()
    copy = tmp_path / "copy.pdf"

    result = run(files, QUESTION, *options, "--highlight", copy)

    assert result.exit_code == 0, result.output
    assert result.stdout == plain.stdout
    assert result.stderr.splitlines()[-1] == f"Highlighted: 2 of 3 passages, in {copy}"
    marked = list(marked_texts(copy.read_bytes()))
    assert marked == [
        "The roof leaks above the third floor.",
        "The repair costs 4,000 euros.",
    ]
    assert all(each in one_line(plain.stdout) for each in marked)
    assert (files / "report.pdf").read_bytes() == before
    assert pdf_pages(copy.read_bytes()) == pdf_pages(before)


def test_json_counts_places_as_other_languages_do_too(files, tmp_path, tiny_model):
    (files / "note.txt").write_text("\U0001f600 Käse.")
    options = ["--embedding-model", tiny_model, "--directory", tmp_path / "index"]

    report = json.loads(run(files, QUESTION, "--json", *options).stdout)

    note, *pages = report["passages"]
    assert note["spans"] == [[0, 7]]
    assert note["utf16_spans"] == [[0, 8]]
    assert note["utf8_spans"] == [[0, 11]]
    for page in pages:
        assert page["utf16_spans"] == page["utf8_spans"] == page["spans"] != []


@pytest.mark.parametrize(
    ("given", "copy", "told"),
    [
        ("notes/note.txt", "copy.pdf", "needs a PDF among the FILEs, and none was"),
        ("notes", "copy.pdf", "2 were read: notes/more.pdf, notes/report.pdf. Name on"),
        ("notes/report.pdf", "notes/report.pdf", "report.pdf is read by this command"),
        ("notes/report.pdf", "notes/../notes/report.pdf", "is read by this command"),
        ("notes/report.pdf", "link.pdf", "link.pdf is read by this command"),
        ("notes", "notes/copy.pdf", "notes/copy.pdf lies in notes, where the next"),
        ("notes/report.pdf", "none/copy.pdf", "its folder is not there"),
        ("notes/report.pdf", "notes", "is a directory"),
    ],
)
def test_what_cannot_be_highlighted_is_told_before_anything_is_made(
    given, copy, told, files, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    pdf(files / "more.pdf")
    (tmp_path / "link.pdf").symlink_to(files / "report.pdf")
    before = sorted(tmp_path.rglob("*"))

    result = run(given, QUESTION, "--highlight", copy, "--directory", "index")

    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_a_passage_of_an_older_state_of_a_file_is_not_marked(tmp_path, capsys):
    path, copy = tmp_path / "report.pdf", tmp_path / "copy.pdf"
    pdf(path)
    place = {"source": str(path), "page": 2}
    passages = order_context(
        ["The repair costs", "The removal costs 4,000 euros.", "Gone."],
        [{**place, "start_index": 0}, {**place, "start_index": 17}, {"source": "b"}],
    )
    retrieved = Retrieved(QUESTION, tuple(passages), (), 0, "")
    found = Search(read_files([path]), None, retrieved)

    highlight(found, copy)

    assert [found.source_text(passage) is None for passage in passages] == [
        False,
        True,
        True,
    ]
    assert list(marked_texts(copy.read_bytes())) == ["The repair costs"]
    told = capsys.readouterr().err
    assert told == f"Highlighted: 1 of 3 passages, in {copy}\n"
