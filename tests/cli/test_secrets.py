"""A server repeats what it was sent: no command shows or keeps it."""

import gzip
from types import SimpleNamespace

import httpx
import pytest
from typer.testing import CliRunner

from oprag.errors import OpragError
from oprag_cli import retrieval_server
from oprag_cli.app import app
from oprag_cli.librarian import Librarian
from oprag_cli.mcp_server import make_server
from oprag_cli.play.answers import Answer, Answering
from oprag_cli.play.session import Session
from tests.evaluation.small import HARBOUR
from tests.kit.mcp_client import call, connect
from tests.kit.openai_server import Failure, Reply, Request, ScriptedServer

KEY = "sk-a-key-of-the-user"
PASSWORD = "open-sesame-9"
SECRETS = (KEY, PASSWORD, "a-token-of-another")
QUESTION = "When did the harbour open?"
SYSTEMS = "dos-rag,self-route,longrag,readagent"
COMMANDS = {
    "ask": ["ask", "{notes}", QUESTION],
    "ask, as JSON": ["ask", "{notes}", QUESTION, "--json"],
    "ask by Self-Route": ["ask", "{notes}", QUESTION, "--route", "self"],
    "ask by Self-Route, as JSON": [
        *("ask", "{notes}", QUESTION, "--route", "self", "--json")
    ],
    "sweep": [
        *("sweep", "{notes}", "--questions", "{q}", "--out", "{out}"),
        *("--cache", "{cache}", "--budgets", "100", "--systems", SYSTEMS),
    ],
}


def everything(request: Request) -> str:
    """Text that a server may repeat; a secret first, for long messages are cut."""
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
    return Reply(f"The key is {everything(request)}.", finish_reason="stop")


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


def assert_masked(files, capfd) -> None:
    """That what was printed says that a secret was there, and not which."""
    out, err = capfd.readouterr()
    assert "***" in err
    assert_hidden(files, out, err)


SCRIPTS = (in_the_error, in_the_error_after_a_refusal, in_a_window_overflow)
KEPT = ("ask, as JSON", "ask by Self-Route, as JSON", "sweep")
"""Commands that write whole replies; a stream is shown as it comes."""
CASES = [
    *((command, script) for command in COMMANDS for script in SCRIPTS),
    *((command, in_the_reply) for command in KEPT),
]


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
    assert_hidden(files, result.stdout, result.stderr)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("ask", in_the_error),
        ("ask by Self-Route", in_the_error_after_a_refusal),
        ("ask by Self-Route, as JSON", in_the_reply),
        ("sweep", in_the_error),
        ("sweep", in_the_reply),
    ],
)
def test_no_command_shows_or_keeps_a_secret(files, command, script, monkeypatch):
    check_command(files, command, script, monkeypatch)


class FailingLibrary:
    """Each use of it fails; what failed before that said the key."""

    def __getattr__(self, name: str):
        error = RuntimeError(f"http://anna:{PASSWORD}@127.0.0.1: {KEY}")
        raise error from ConnectionError(f"wrong: {KEY}")


@pytest.fixture
def librarian(files):
    opened = Librarian(lambda _: FailingLibrary(), patience=30)
    opened.start()
    return opened


async def test_mcp_tells_its_client_no_secret(librarian, files, capfd):
    server = make_server(librarian, token_budget=4_000)
    async with connect(server) as session:
        search = await call(session, "search", refused=True, question="Who?")
        read = await call(session, "read", refused=True, document="a.txt")

    assert_hidden(files, search, read, *capfd.readouterr())


@pytest.mark.parametrize("given", ["environment", "option"])
async def test_serve_tells_no_secret(librarian, files, given, capfd):
    key = KEY if given == "environment" else PASSWORD
    made = retrieval_server.make_app(
        librarian, name="notes", api_key=key, token_budget=9
    )
    asked = {"knowledge_id": "notes", "query": "?", "retrieval_setting": {}}
    transport = httpx.ASGITransport(made)
    async with httpx.AsyncClient(transport=transport, base_url="http://h") as client:
        bearer = {"Authorization": f"Bearer {key}"}
        answer = await client.post("/retrieval", json=asked, headers=bearer)
        wrong = await client.post(
            "/retrieval", json={**asked, "knowledge_id": key}, headers=bearer
        )

    assert (answer.status_code, wrong.status_code) == (500, 404)
    assert_hidden(files, answer.text, wrong.text)
    assert_masked(files, capfd)


def test_documents_that_cannot_be_opened_tell_no_secret(files, capfd):
    def fail(_):
        return FailingLibrary().anything

    librarian = Librarian(fail, patience=30)
    librarian.start()
    librarian._opened.result(timeout=30)

    assert_masked(files, capfd)


def test_play_shows_no_secret(files, capfd):
    def fail(*_):
        return FailingLibrary().anything

    session = SimpleNamespace(
        workshop=SimpleNamespace(chat_model="openai:m"),
        step=SimpleNamespace(retrieved=SimpleNamespace(question="?")),
        version=0,
    )
    answering = Answering(session)
    answering._answer = fail
    answer = Answer("rank")
    answering._work(session.step, answer)
    assert answer.problem.endswith("the terminal says why.")
    answering._answer = lambda *_: raised(OpragError(f"{KEY} is wrong."))
    answering._work(session.step, answer)

    assert answer.problem == "*** is wrong."
    assert_masked(files, capfd)


def test_nor_where_its_search_fails(files, tmp_path, capfd):
    session = Session(SimpleNamespace(paths=[], dropped=tmp_path))
    session.desk = FailingLibrary()
    session.ask("Who?")

    assert session.problem == "It failed; the terminal says why."
    assert_masked(files, capfd)


def raised(error: Exception):
    raise error
