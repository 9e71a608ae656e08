"""`oprag context` as a user runs it on a folder of mixed files."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oprag.tokens import resolve_token_counter
from oprag_cli.app import app
from tests.files.mixed_files import LEASE, MEETING, READABLE

QUESTION = "Who pays for repairs?"
_BYTE = "(byte 0xe9 at 3)"
_HOW = "save it as UTF-8"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["context", *map(str, arguments)])


@pytest.fixture(scope="module")
def first(folder, options) -> Result:
    return run(folder, QUESTION, *options)


@pytest.fixture(scope="module")
def report(first, folder, options):
    return json.loads(run(folder, QUESTION, "--json", *options).stdout)


def test_only_the_passages_go_to_stdout(first, report):
    assert first.exit_code == 0, first.output
    printed = first.stdout_bytes.decode()  # with its line breaks as they are
    assert printed == f"{report['context']}\n"
    assert LEASE in printed
    assert MEETING in printed
    assert "The repair costs 4,000 euros." in first.stdout
    assert "\x1b" not in first.output


def test_what_was_done_and_skipped_is_told_on_stderr(first, folder, options):
    lines = first.stderr.splitlines()

    assert [line for line in lines if line.startswith("Note: ")] == [
        f"Note: Skipped: '{folder / 'empty.txt'}' is empty.",
        f"Note: Skipped: '{folder / 'logo.png'}' is binary, not text.",
        f"Note: Skipped: '{folder / 'old.txt'}' is not UTF-8 text {_BYTE}; {_HOW}.",
        (
            f"Note: About '{folder / 'report.pdf'}': 1 of 3 pages "
            "holds no text (2); scanned pages need text recognition."
        ),
    ]
    assert "Read: 4 files" in lines
    assert lines[-1].startswith(f"Index: 5 chunks, now kept in {options[-1]}")


def test_the_json_cites_files_and_pages_and_counts_what_is_sent(report, folder):
    assert report["tokens"] == resolve_token_counter()(report["context"])
    assert report["files"] == [str(folder / name) for name in READABLE]
    assert [Path(skip["file"]).name for skip in report["skipped"]] == [
        "empty.txt",
        "logo.png",
        "old.txt",
    ]
    cited = {passage["citation"] for passage in report["passages"]}
    assert f'{folder.name}/lease.md, "Lease", characters 0-{len(LEASE)}' in cited
    assert f"{folder.name}/report.pdf, page 1, characters 0-37" in cited
    assert f"{folder.name}/report.pdf, page 3, characters 0-29" in cited
    assert report["index"] == {"chunks": 5, "reused": True}


def test_the_budget_counts_what_is_printed(folder, options):
    counter = resolve_token_counter()

    result = run(folder, QUESTION, "--token-budget", 60, *options)

    assert 0 < counter(result.stdout.removesuffix("\n")) <= 60


@pytest.fixture(scope="module")
def long_file(tmp_path_factory) -> Path:
    """Twelve chunks that touch."""
    path = tmp_path_factory.mktemp("long") / "long.txt"
    sentence = "Rule {} says {}. ".format
    words = ["apples " * 80, "pears " * 80, "plums " * 80]
    path.write_text("".join(sentence(n, words[n % 3].strip()) for n in range(12)))
    return path


def test_order_and_merging_are_as_they_are_asked_for(long_file, options):
    def passages(*more: str) -> list[dict]:
        result = run(long_file, "pears", "--k", 5, "--json", *options, *more)
        return json.loads(result.stdout)["passages"]

    ordered = passages("--no-merge")
    by_rank = passages("--no-merge", "--order", "rank")
    assert [passage["ranks"] for passage in by_rank] == [[0], [1], [2], [3], [4]]
    assert [p["spans"] for p in ordered] == sorted(p["spans"] for p in by_rank)
    assert ordered != by_rank

    assert len(passages()) < 5


def test_chunks_bring_their_neighbours(long_file, options):
    ask = [long_file, "topic", "--k", "1", "--json", *options]
    plain, *widened = [
        json.loads(run(*ask, *more).stdout)
        for more in ([], ["--widen", "1"], ["--widen", "fill"])
    ]
    (hit,) = plain["passages"]

    for found in widened:
        (passage,) = found["passages"]
        assert hit["text"] in passage["text"]
        assert len(passage["text"]) > len(hit["text"])


@pytest.mark.parametrize("name", ["old.txt", "logo.png", "empty.txt", "missing.txt"])
def test_a_bad_file_that_was_named_ends_it_before_anything_is_made(
    name, folder, tmp_path
):
    result = run(folder / "lease.md", folder / name, QUESTION, "--directory", tmp_path)

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert name in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["notes [draft] :x:.txt", "a 'quoted' name.txt"])
def test_names_are_shown_as_they_are(name, tmp_path, tiny_model):
    folder = tmp_path / "[bold]"
    folder.mkdir()
    (folder / name).write_text("Text.")

    result = run(
        *(folder / name, "text", "--json"),
        *("--embedding-model", tiny_model, "--directory", folder / "index"),
    )

    assert json.loads(result.stdout)["files"] == [str(folder / name)]
    assert f"now kept in {folder / 'index'}" in result.stderr
