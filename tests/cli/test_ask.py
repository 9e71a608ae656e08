"""`oprag ask` with a real client, against a server that answers from a script."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oprag_cli.app import app
from tests.kit.openai_server import (
    CONTEXT_OVERFLOW,
    Failure,
    Reply,
    ScriptedServer,
    Usage,
)

ROOT = Path(__file__).parents[2]
QUESTION = "Who pays for repairs?"
MODEL = ["--model", "openai:scripted"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["ask", *map(str, arguments)])


@pytest.fixture
def ask(folder, options, scripted):
    """Ask with this script; give what was printed and what was sent."""

    def asked(script, *more: str, model: list[str] = MODEL):
        return scripted(script, "ask", folder, QUESTION, *options, *model, *more)

    return asked


@pytest.mark.slow
def test_the_answer_then_the_passages_then_the_tokens(ask, folder):
    answer = Reply("The landlord [1].", usage=Usage(1234, 5))

    result, _ = ask([answer])

    assert result.exit_code == 0, result.output
    said, given, tokens = result.stdout.split("\n\n")
    assert said == "The landlord [1]."
    lines = given.splitlines()
    assert lines[0] == "Read for the answer:"
    assert [line.split("]")[0] for line in lines[1:]] == [
        f"  [{n}" for n in range(1, 6)
    ]
    assert f"] {folder.name}/report.pdf, page 3, characters 0-29" in given
    assert "1,234 tokens in, 5 out (reported), 1 model call" in tokens
    assert "\x1b" not in result.output


def test_the_model_is_sent_the_cited_passages_and_then_the_question(ask):
    result, (request,) = ask(["Yes."])

    listed = re.findall(r"^  (\[\d\] .*)$", result.stdout, re.MULTILINE)
    places = [request.prompt.index(f"{line}\n") for line in listed]
    assert len(listed) == 5
    assert places == sorted(places)
    assert places[-1] < request.prompt.index(f"Question: {QUESTION}")
    assert request.streaming
    assert request.body["model"] == "scripted"
    assert request.body["stream_options"] == {"include_usage": True}


def test_json_holds_the_answer_the_passages_and_the_tokens(ask):
    result, (request,) = ask([Reply("Yes.", usage=Usage(9, 1))], "--json")

    values = json.loads(result.stdout)
    assert (values["model"], values["answer"]) == ("openai:scripted", "Yes.")
    assert values["usage"]["input_tokens"] == 9
    assert values["usage"]["estimated"] is False
    assert values["context"] in request.prompt
    assert len(values["passages"]) == 5


def test_a_number_that_no_passage_had_is_named(ask):
    result, _ = ask([Reply("The landlord [1], or the tenant [97] [1, 98] [97].")])

    assert "Cited, but no passage had it: [97], [98]\n" in result.stdout


def test_the_model_may_be_named_in_the_environment(ask, monkeypatch):
    monkeypatch.setenv("OPRAG_MODEL", "openai:from-environment")

    _, (request,) = ask(["Yes."], model=[])

    assert request.body["model"] == "from-environment"


def test_the_documented_address_wins_over_the_old_one(ask, monkeypatch):
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")

    result, _ = ask(["Yes."])

    assert result.exit_code == 0


def test_without_a_model_it_says_how_to_name_one(folder, tmp_path):
    result = run(folder, QUESTION, "--directory", tmp_path)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: No chat model is named.")
    assert "--model openai:" in result.stderr
    assert "OPRAG_MODEL=" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("model", "code", "message"),
    [
        ("gpt", 2, "'gpt' does not name a provider and a model"),
        ("openai:", 2, "does not name a provider and a model"),
        ("nobody:model", 1, "'nobody:model' cannot be used: Unsupported provider"),
        ("upstage:solar", 1, "pip install langchain-upstage"),
    ],
)
def test_a_model_that_cannot_be_is_told_before_anything_is_read(
    model, code, message, tmp_path
):
    result = run(tmp_path, QUESTION, "--model", model)

    assert result.exit_code == code
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_key_is_told_before_anything_is_read(monkeypatch, tmp_path):
    monkeypatch.delenv("OPENAI_API_KEY")

    result = run(tmp_path, QUESTION, *MODEL)

    assert result.exit_code == 1
    assert "it needs a key. Set OPENAI_API_KEY" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Failure(401, "Wrong key.", "invalid_api_key"), "Wrong key. Check the prov"),
        (Failure(404, "No such model."), "No such model. Check the model's name"),
        (CONTEXT_OVERFLOW, "5000 tokens. Give a smaller --token-budget."),
    ],
)
def test_a_model_that_refuses_is_one_line_and_nothing_on_stdout(ask, answer, message):
    result, _ = ask([answer])

    assert result.exit_code == 1
    assert result.stdout == ""
    assert "'openai:scripted' did not answer: " in result.stderr
    assert message in result.stderr.splitlines()[-1]


@pytest.mark.slow
def test_an_unreachable_server_is_named(folder, options, monkeypatch):
    with ScriptedServer([]) as server:
        address = server.base_url  # nobody listens there afterwards
    monkeypatch.setenv("OPENAI_BASE_URL", address)

    result = run(folder, QUESTION, *options, *MODEL)

    assert result.exit_code == 1
    assert result.stdout == ""
    last = result.stderr.splitlines()[-1]
    assert "did not answer" in last
    assert f"OPENAI_BASE_URL is {address}." in last


@pytest.mark.once
def test_a_real_process_prints_the_answer_while_it_is_written(folder, options):
    go_on = threading.Event()
    code = "from oprag_cli import main; main()"
    arguments = ["ask", str(folder), QUESTION, *options, *MODEL]
    with (
        ScriptedServer([Reply(deltas=["First", go_on, " last."])]) as server,
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env={**os.environ, "OPENAI_BASE_URL": server.base_url},
        ) as process,
    ):
        begun = process.stdout.read(5)
        still_writing = not go_on.is_set()
        go_on.set()
        rest = process.stdout.read()

    assert (begun, still_writing) == (b"First", True)
    assert rest.startswith(b" last." + os.linesep.encode())
    assert process.returncode == 0
