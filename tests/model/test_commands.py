"""A real model behind `oprag ask`, `evaluate` and `sweep`."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oprag_cli.app import app
from tests.evaluation.small import own_files

MODEL = ["--model", "openai:smollm2"]
QUESTION = "When did the harbour open?"
SMALL = ["--max-reply", "16", "--window", "2000"]


@pytest.fixture(scope="module")
def notes(tmp_path_factory) -> Path:
    """Two small files; four questions on them lie beside."""
    folder = tmp_path_factory.mktemp("own")
    own_files(folder)
    return folder / "notes"


@pytest.fixture
def run(tiny_model, tmp_path):
    def command(*arguments: object) -> Result:
        settings = ["--embedding-model", str(tiny_model), *MODEL]
        return CliRunner().invoke(app, [*map(str, arguments), *settings])

    return command


@pytest.mark.parametrize(
    "route",
    [["rag"], ["self"], ["self", "--decline", "tool"]],
    ids=["rag", "word", "tool"],
)
def test_ask_prints_what_the_model_said_and_its_tokens(
    asked, run, notes, tmp_path, route
):
    folder = ["--directory", tmp_path, "--k", "1", "--json"]

    result = run("ask", notes / "harbour.txt", QUESTION, *folder, "--route", *route)

    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["answer"] == asked[-1].text
    given = {place.partition(" ")[0] for place in printed["read"]}
    cited = {*re.findall(r"\[\d+\]", printed["answer"])} if route == ["rag"] else set()
    assert {*printed["unknown_citations"]} == cited - given
    assert all(exchange.body["stream"] for exchange in asked)
    counted = [
        (step["input_tokens"], step["output_tokens"])
        for step in printed["usage"]["steps"]
        if step["model_calls"]
    ]
    assert counted == [exchange.usage for exchange in asked]


def test_questions_are_asked_and_every_token_is_counted(asked, run, notes, tmp_path):
    out = tmp_path / "run"
    systems = "dos-rag,self-route:k=1,decline=tool,name=routed"
    questions = ["--questions", notes.parent / "q.csv"]
    options = ["--budgets", "100,150", "--systems", systems, "--out", out, *SMALL]

    result = run("sweep", notes, *questions, *options, "--cache", tmp_path / "cache")

    assert result.exit_code == 0, result.output
    lines = (out / "answers.jsonl").read_text().splitlines()
    used = [usage for line in lines for usage in json.loads(line)["usage"].values()]
    for place, name in enumerate(("input_tokens", "output_tokens")):
        counted = sum(usage[name] for usage in used)
        assert counted == sum(exchange.usage[place] for exchange in asked)
    assert (out / "report.html").exists()
