"""`oprag questions` and `oprag check-questions`, the model behind the real client."""

import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from oprag_cli.app import app
from oprag_eval.cli.questions import check_questions, questions
from oprag_eval.data import read_own
from tests.evaluation.small import HARBOUR, MILL
from tests.kit.openai_server import ScriptedServer


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(6):
        facts = f"The bell of tower {number} weighs {900 + number} pounds. "
        (folder / f"{number}.txt").write_text(facts + HARBOUR + MILL)
    return folder


@pytest.fixture
def run(monkeypatch):
    """Run a command while a model answers from a script; whatever is installed."""
    commands = typer.Typer(cls=app.info.cls, pretty_exceptions_enable=False)
    commands.command("questions")(questions)
    commands.command("check-questions")(check_questions)

    def given(script, *arguments: object):
        with ScriptedServer(script) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            result = CliRunner().invoke(commands, [*map(str, arguments)])
            return result, server.requests

    return given


def written(prompt: str) -> str:
    """Write a question on the part of a prompt, as a model might."""
    text = str(prompt)
    found = re.search(r"The bell of tower (\d) weighs (\d+) pounds", text)
    if found is None:
        return "I cannot think of one."
    quote = {"0": "The bell is heavy."}.get(found[1], f"{found[0]}.")
    said = {"question": f"How heavy is bell {found[1]}?", "answer": found[2]}
    if found[1] == "1":
        said["answer"] = "five"
    return f"```json\n{json.dumps({**said, 'quote': quote})}\n```"


def test_drafts_come_with_the_passage_that_answers_them(run, notes, tmp_path):
    out = tmp_path / "q.jsonl"
    model = ["--model", "openai:scripted", "--n", "6", "--out", out]
    result, requests = run(written, "questions", notes, *model)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    documents = {path.name: path.read_text() for path in notes.iterdir()}

    assert result.exit_code == 0, result.output
    assert len(requests) == 6
    assert f"{len(rows)} questions in {out}, for " in result.stdout
    assert "1: the quote was not in the part, word for word" in result.stderr
    assert "1: the quote did not hold the answer" in result.stderr
    for row, asked in zip(rows, read_own(out, documents).questions, strict=True):
        ((start, end),) = row["evidence"]
        assert documents[row["document"]][start:end] == row["passages"][0]
        assert row["answers"][0] in row["passages"][0]
        assert [*asked.evidence] == [(start, end)]
    again, _ = run(written, "questions", notes, *model)
    assert again.exit_code == 1
    assert "may be edited" in again.stderr


def test_a_model_that_writes_nothing_of_use_is_said(run, notes, tmp_path):
    out = tmp_path / "q.jsonl"
    arguments = ["questions", notes, "--model", "openai:scripted", "--n", 2]
    result, _ = run(lambda _: "No.", *arguments, "--out", out)

    assert result.exit_code == 1
    assert "Left out, 2: the reply was no JSON" in result.stderr
    assert not out.exists()


def test_gold_that_is_edited_away_is_found(run, notes, tmp_path):
    file = tmp_path / "q.jsonl"
    bell = "The bell of tower 2 weighs 902 pounds."
    rows = [
        {"question": "Bell 2?", "document": "2", "answer": "902", "passages": [bell]},
        {"question": "Bell 3?", "document": "3", "answer": "903", "passages": [bell]},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    wrong, _ = run(written, "check-questions", notes, "--questions", file)
    listed, _ = run(written, "check-questions", notes, "--questions", file, "--json")
    file.write_text(json.dumps(rows[0]) + "\n")
    right, _ = run(written, "check-questions", notes, "--questions", file)

    assert wrong.exit_code == 3
    assert f"Question 2: gold passage not in 3.txt: {bell}" in wrong.stdout
    assert "2 questions; 1 gold passage not found." in wrong.stdout
    assert json.loads(listed.stdout)["text"] == bell
    assert (right.exit_code, right.stdout) == (
        0,
        "1 question; 0 gold passages not found.\n",
    )
