"""A server repeats what it was sent, in every place: no command shows or keeps it."""

from __future__ import annotations

import gzip
import traceback

import pytest
from typer.testing import CliRunner

from oprag.cli.app import app
from tests.evaluation.small import HARBOUR
from tests.support.openai_server import Failure, Reply, Request, ScriptedServer

KEY = "sk-a-key-of-the-user"
PASSWORD = "open-sesame-9"
SECRETS = (KEY, PASSWORD, "YW5uYTpvcGVuLXNlc2FtZS05", "a-token-of-another")
QUESTION = "When did the harbour open?"
SYSTEMS = "dos-rag,self-route,longrag,readagent"
COMMANDS = {
    "ask": ["ask", "{notes}", QUESTION],
    "ask, as JSON": ["ask", "{notes}", QUESTION, "--json"],
    "ask by Self-Route": ["ask", "{notes}", QUESTION, "--route", "self"],
    "ask by Self-Route, as JSON": [
        *("ask", "{notes}", QUESTION, "--route", "self", "--json")
    ],
    "evaluate": [
        *("evaluate", "--questions", "{q}", "--documents", "{notes}"),
        *("--out", "{out}", "--cache", "{cache}", "--budgets", "100"),
        *("--systems", SYSTEMS, "--label-declined", "--published"),
    ],
    "sweep": [
        *("sweep", "{notes}", "--questions", "{q}", "--out", "{out}"),
        *("--cache", "{cache}", "--budgets", "100", "--systems", "dos-rag,op-rag"),
    ],
}


def everything(request: Request) -> str:
    """What a server may repeat; a secret first, for long messages are cut."""
    return " ".join([request.headers["authorization"], *SECRETS, str(request.headers)])


def in_the_error(request: Request) -> Failure:
    said = everything(request)
    return Failure(
        401, said, KEY, {"X-Repeated": said, "Retry-After": KEY}, reason=said
    )


def in_the_error_after_a_refusal(request: Request) -> Failure | Reply:
    if not hasattr(request, "asked") and "unanswerable" in request.prompt:
        return Reply("unanswerable")
    return Failure(400, everything(request))


def in_a_window_overflow(request: Request) -> Failure:
    said = f"{KEY}: maximum context length is 5 tokens {everything(request)}"
    return Failure(400, said, "context_length_exceeded")


def in_the_reply(request: Request) -> Reply:
    said = everything(request)
    return Reply(deltas=list(f"The key is {said}."), finish_reason="stop")


def in_a_reply_that_breaks_off(request: Request) -> Reply:
    if request.streaming:
        return Reply(deltas=[*everything(request)], unfinished=True)
    return Reply(everything(request), reasoning=everything(request))


@pytest.fixture
def files(tmp_path, tiny_model, monkeypatch):
    """Where everything is; the names that commands use."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "harbour.txt").write_text(HARBOUR)
    rows = f"question,answer,document\n{QUESTION},in May,harbour.txt\n"
    (tmp_path / "q.csv").write_text(rows)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OTHER_TOKEN", "a-token-of-another")
    monkeypatch.setenv("DATABASE_URL", f"postgresql://anna:{PASSWORD}@127.0.0.1/db")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    names = {name: tmp_path / name for name in ("notes", "out", "cache")}
    return {**names, "q": tmp_path / "q.csv", "model": tiny_model, "root": tmp_path}


def filled(command: str, files) -> list[str]:
    more = ["--model", "openai:scripted", "--embedding-model", str(files["model"])]
    return [*(part.format(**files) for part in COMMANDS[command]), *more]


# Chroma writes these files with room for more rows, and never clears that room: it
# holds what stood in the process's memory, here that of earlier tests.
UNCLEARED = {"data_level0.bin", "length.bin"}


def assert_hidden(files, *said: str) -> None:
    """No secret in what was said, nor in any file, whole or without its beginning."""
    for path in files["root"].rglob("*"):
        if path.is_file() and path.name not in UNCLEARED:
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            said = (*said, data.decode("utf-8", "replace"))
    for text in said:
        assert not [s for s in SECRETS if s in text or s[4:] in text], text[:2000]


SCRIPTS = (
    in_the_error,
    in_the_error_after_a_refusal,
    in_a_window_overflow,
    in_the_reply,
    in_a_reply_that_breaks_off,
)


def check_command(files, command: str, script, monkeypatch, user: str = "") -> None:
    """Give a command while the server repeats; look at all that is left."""
    with ScriptedServer(script) as server:
        address = server.base_url.replace("//", f"//{user}")
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        result = CliRunner().invoke(app, filled(command, files))

    assert any(secret in everything(server.requests[0]) for secret in SECRETS)
    assert "This should not happen" not in result.stderr
    if script is in_the_error:
        assert "***" in result.stderr
    told = "".join(traceback.format_exception(result.exception))
    assert_hidden(files, result.stdout, result.stderr, told)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("script", [in_the_error, in_the_reply])
def test_no_command_shows_or_keeps_a_secret(files, command, script, monkeypatch):
    check_command(files, command, script, monkeypatch)
