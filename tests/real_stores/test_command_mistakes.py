"""Common mistakes: each ends in a line that says what to do, and no stack trace."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from oprag_cli.app import app
from tests.cli.conftest import tiny_model
from tests.evaluation.small import own_files

__all__ = ["tiny_model"]

QUESTION = "When did the harbour open?"

RUN = ["sweep", "{notes}", "--questions", "{q}", "--out", "{out}"]
RUN += ["--systems", "dos-rag", "--budgets", "100", "--cache", "{cache}"]
ASK = ["ask", "{notes}", QUESTION, "--directory", "{index}"]
ASK += ["--model", "openai:scripted"]


@pytest.fixture
def place(tmp_path, tiny_model, monkeypatch) -> dict[str, Path]:
    """Where everything is that can be wrong."""
    own_files(tmp_path)
    (tmp_path / "file.txt").write_text("a file\n")
    (tmp_path / "columns.csv").write_text("frage,antwort\nWann?,Im Mai\n")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    places = {"q": tmp_path / "q.csv", "root": tmp_path, "tiny": tiny_model}
    names = ("notes", "out", "index", "cache")
    return places | {name: tmp_path / name for name in names}


def give(place, *arguments: str):
    filled = [argument.format(**place) for argument in arguments]
    if filled[0] != "demo":
        filled += ["--embedding-model", str(place["tiny"])]
    return CliRunner().invoke(app, filled)


def assert_told(result, *codes: int) -> None:
    assert result.exit_code in codes, result.output
    assert isinstance(result.exception, SystemExit)
    for sign in ("Traceback", "This should not happen", "  File "):
        assert sign not in result.output, result.output
    assert len([line for line in result.stderr.splitlines() if "Error: " in line]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["context", "{root}/loop", QUESTION],
        ["context", "{notes}", QUESTION, "--directory", "{root}/file.txt/index"],
        [*RUN, "--questions", "{root}/columns.csv"],
        ["sweep", "{root}/missing", *RUN[2:]],
        [*RUN, "--out", "{root}/file.txt"],
        [*RUN, "--cache", "{root}/file.txt"],
        [*RUN, "--model", "nobody:model"],
        ["evaluate", "--data", "quality={root}/file.txt", "--dry-run"],
        ["demo", "--directory", "{root}/file.txt"],
    ],
    ids=lambda arguments: " ".join(arguments[:1] + arguments[-2:]),
)
def test_a_mistake_in_files_is_one_line(place, arguments):
    assert_told(give(place, *arguments), 1, 2)


@pytest.mark.parametrize("url", ["not a url", "http://", "ftp://host", "http://[::1"])
def test_an_address_that_is_none_is_one_line(place, url, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", url)

    assert_told(give(place, *ASK), 1)
