"""Replies that no file takes as they are, and replies that are not whole."""

import json

import pytest

from tests.evaluation.small import HARBOUR
from tests.kit.openai_server import Reply

QUESTION = "When did the harbour open?"
ODD = "In \ud800May\x00 \x1b[31mor \udfff, \ufdd0 a smile \ud83d\ude00 and </script>"
SHOWN = "In \ufffdMay\x00 \x1b[31mor \ufffd, \ufdd0 a smile \U0001f600 and </script>"


@pytest.fixture
def files(tmp_path, monkeypatch) -> dict[str, str]:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "harbour.txt").write_text(HARBOUR)
    rows = [
        f'{{"question": "{QUESTION} {n} \\ud800", "answers": ["In May"]}}'
        for n in "123"
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(rows))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return {"notes": str(notes), "q": str(tmp_path / "q.jsonl")}


@pytest.fixture
def command(tiny_model, scripted):
    """Give a command with this script; the result, and how often was asked."""
    more = ["--model", "openai:scripted", "--embedding-model", str(tiny_model)]

    def given(script, *arguments: object):
        result, requests = scripted(script, *arguments, *more)
        return result, len(requests)

    return given


@pytest.fixture
def sweep(command, files, tmp_path):
    fixed = [files["notes"], "--questions", files["q"]]
    fixed += ["--budgets", "100", "--out", tmp_path / "run"]

    def swept(script, *more: str):
        return command(script, "sweep", *fixed, *more)

    return swept


SYSTEMS = "dos-rag,self-route,longrag,readagent"


@pytest.mark.slow
def test_a_reply_that_no_encoding_has_is_kept_and_never_paid_for_twice(sweep, tmp_path):
    def odd(_):
        return Reply(ODD)

    result, _ = sweep(odd, "--systems", SYSTEMS)

    assert result.exit_code == 0, result.output
    run = tmp_path / "run"
    held = (run / "answers.jsonl").read_bytes()
    answers = [json.loads(line) for line in held.splitlines()]
    assert len(answers) == 3 * 4
    assert {answer["reply"] for answer in answers} == {SHOWN}
    for path in run.rglob("*"):
        if path.suffix in {".json", ".jsonl", ".csv", ".md", ".html"}:
            path.read_bytes().decode("utf-8")
    page = (run / "report.html").read_text("utf-8")
    assert not [code for code in map(ord, page) if code < 32 and chr(code) != "\n"]
    before = {path.name: path.read_bytes() for path in run.glob("*.*")}

    again, requests = sweep(odd, "--systems", SYSTEMS)

    assert (again.exit_code, requests) == (0, 0)
    assert {path.name: path.read_bytes() for path in run.glob("*.*")} == before


@pytest.mark.parametrize("route", ["rag", "self"])
@pytest.mark.parametrize("cut", [True, False])
def test_ask_shows_such_a_reply_and_no_terminal_obeys_it(command, files, route, cut):
    reply = Reply(deltas=list(ODD)) if cut else Reply(deltas=[ODD])
    asked = ["ask", files["notes"], QUESTION, "--route", route]

    result, _ = command([reply], *asked)

    assert result.exit_code == 0, result.output
    shown = SHOWN.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")
    assert result.stdout.startswith(f"{shown}\n")

    result, _ = command([reply], *asked, "--json")
    assert json.loads(result.stdout)["answer"] == SHOWN


BROKEN = [
    Reply(deltas=["Half an"], broken=True),
    Reply(deltas=["Half an"], unfinished=True),
    Reply(deltas=["Half an"], finish_reason=""),
]
"""The connection fails; it is closed in good order; `[DONE]` without a reason."""


@pytest.mark.parametrize("route", ["rag", "self"])
@pytest.mark.parametrize("reply", BROKEN)
def test_an_answer_that_breaks_off_is_said_to_and_is_no_success(
    command, files, reply, route
):
    asked = ["ask", files["notes"], QUESTION, "--route", route]

    result, requests = command([reply], *asked)

    assert (result.exit_code, requests) == (1, 1)
    # Self-Route holds back what may be a refusal yet.
    assert result.stdout == ("Half an\n" if route == "rag" else "")
    last = result.stderr.splitlines()[-1]
    said = "broke off" if route == "rag" else "did not answer"
    assert f"Error: The chat model 'openai:scripted' {said}: " in last

    result, _ = command([reply], *asked, "--json")
    assert (result.exit_code, result.stdout) == (1, "")


@pytest.mark.parametrize("route", ["rag", "self"])
def test_the_longest_answer_is_an_answer_and_is_noted(command, files, route):
    asked = ["ask", files["notes"], QUESTION, "--route", route]

    result, _ = command([Reply(deltas=["Half an"], finish_reason="length")], *asked)

    assert result.exit_code == 0
    assert result.stdout.startswith("Half an\n")
    assert "1 model call, ended by 'length'" in result.stdout
