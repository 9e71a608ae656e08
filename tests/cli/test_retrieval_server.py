"""The server of `oprag serve`, asked as Dify's documentation says it asks."""

import json
import socket
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event

import httpx
import pytest
from chromadb import PersistentClient
from langchain_core.embeddings import DeterministicFakeEmbedding
from typer.testing import CliRunner

from oprag.errors import OpragError
from oprag.result_key import read_written
from oprag.tokens import resolve_token_counter
from oprag_cli.app import app
from oprag_cli.index import open_chroma
from oprag_cli.librarian import Librarian
from oprag_cli.library import Library
from oprag_cli.retrieval_server import make_app
from tests.cli.test_mcp_server import library_of, texts_of, write_notes

KEY = "a-key-of-32-characters-and-more-"
BEARER = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture(scope="module")
def notes(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "notes"
    write_notes(folder, 150)
    return folder


@pytest.fixture(scope="module")
def library(notes) -> Library:
    embedding = DeterministicFakeEmbedding(size=32)
    return library_of(notes, open_chroma(notes.parent / "chroma", embedding))


@asynccontextmanager
async def serving(opened, *, patience: float = 30, **how):
    librarian = Librarian(opened, patience=patience)
    librarian.start()
    how = {"name": "notes", "api_key": KEY, "token_budget": 4_000, **how}
    transport = httpx.ASGITransport(make_app(librarian, **how))
    address = "http://127.0.0.1"
    async with httpx.AsyncClient(transport=transport, base_url=address) as client:
        yield client


def body(query: str = "house 9", **changed) -> dict[str, object]:
    setting = {"top_k": 6, "score_threshold": 0.0, **changed.pop("setting", {})}
    asked = {"knowledge_id": "notes", "query": query, "retrieval_setting": setting}
    return {**asked, **changed}


async def records(client, *given, **changed) -> list[dict]:
    answer = await client.post(
        "/retrieval", json=body(*given, **changed), headers=BEARER
    )
    assert answer.status_code == 200, answer.text
    assert [*answer.json()] == ["records"]
    return answer.json()["records"]


def in_documents(found: list[dict]) -> dict[tuple[str, str | None], list[int]]:
    starts: dict[tuple[str, str | None], list[int]] = {}
    for each in found:
        meta = each["metadata"]
        where = meta["source"], meta.get("page_label")
        starts.setdefault(where, []).append(read_written(meta).whole.start)
    return starts


@pytest.mark.parametrize("widen", [None, 2, "fill"])
async def test_records_sorted_by_score_are_in_document_order(library, notes, widen):
    sources, count = texts_of(notes), resolve_token_counter()
    inverted = 0
    async with serving(lambda _: library, token_budget=1_500, widen=widen) as client:
        for number in range(12):
            found = await records(client, f"house {number}, row {number}")
            assert 1 <= len(found) <= 6
            scores = [each["score"] for each in found]
            assert all(1 >= a > b > 0 for a, b in pairwise([*scores, 0.0][:-1]))
            for starts in in_documents(found).values():
                assert starts == sorted(starts)
            by_rank = [*found]
            by_rank.sort(key=lambda each: read_written(each["metadata"]).rank)
            inverted += sum(
                starts != sorted(starts) for starts in in_documents(by_rank).values()
            )
            contents = [each["content"] for each in found]
            assert count("\n\n".join(contents)) <= 1_500
            for place, each in enumerate(found, start=1):
                meta = each["metadata"]
                source = sources[meta["source"], meta.get("page_label")]
                text = source[slice(*read_written(meta).whole)]
                head = f"[{place}] {meta['oprag_citation']}\n{text}"
                assert each["content"] in {head, f"[…]\n\n{head}"}
                assert each["title"] == meta["source"]
    assert inverted


@pytest.mark.filterwarnings("ignore:Relevance scores must be between")
async def test_a_threshold_holds_for_similarity_and_scores_stay_above_it(library):
    similar = library.vectorstore.similarity_search_with_relevance_scores("house 9", 50)
    threshold = round(similar[4][1], 4) - 0.0001
    async with serving(lambda _: library) as client:
        setting = {"top_k": 50, "score_threshold": threshold}
        found = await records(client, "house 9", setting=setting)
        contents = "\n".join(each["content"] for each in found)
        for document, score in similar:
            assert (document.page_content in contents) == (score >= threshold)
        assert all(threshold < each["score"] <= 1 for each in found)
        setting = {"top_k": 50, "score_threshold": 1}
        assert await records(client, "house 9", setting=setting) == []


@pytest.mark.parametrize(
    ("header", "status", "code"),
    [
        (None, 401, 1001),
        (KEY, 401, 1001),
        (f"Basic {KEY}", 401, 1001),
        (f"Bearer {KEY[:-1]}", 403, 1002),
        ("Bearer schlüssel".encode(), 403, 1002),
    ],
)
async def test_without_the_key_nothing_is_told(library, header, status, code):
    async with serving(lambda _: library) as client:
        headers = {} if header is None else {"Authorization": header}
        for content in (json.dumps(body()), b"", b"x" * 2_000_000):
            answer = await client.post("/retrieval", content=content, headers=headers)
            assert answer.status_code == status
            assert answer.json()["error_code"] == code
            assert [*answer.json()] == ["error_code", "error_msg"]
            assert KEY not in answer.text
            assert ("www-authenticate" in answer.headers) == (status == 401)


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        (b"", 400, "Invalid JSON"),
        (b"[" * 100_000, 400, "Invalid JSON"),
        (b"[]", 400, "The request: "),
        (body(knowledge_id=None), 400, "knowledge_id: Input should be"),
        (body(query=" \n"), 400, "query: "),
        (body(retrieval_setting=[]), 400, "retrieval_setting: "),
        (body(setting={"top_k": 0}), 400, "retrieval_setting.top_k: "),
        (body(setting={"top_k": True}), 400, "retrieval_setting.top_k: "),
        (body(setting={"score_threshold": 1.5}), 400, "score_threshold: "),
        (json.dumps(body(setting={"score_threshold": float("nan")})), 400, ""),
        (body(metadata_condition={"conditions": [1]}), 400, "condition is not supp"),
        (body(knowledge_id="other"), 404, "There is no knowledge 'other'."),
        (body(knowledge_id="notes\0"), 404, "There is no knowledge 'notes\\x00'."),
        (body(knowledge_id="\ud800"), 400, ""),
        (body("x" * 1_000_000), 413, "more than 1,000,000 bytes"),
    ],
)
async def test_what_cannot_be_answered_is_told(library, sent, status, said):
    content = sent if isinstance(sent, (bytes, str)) else json.dumps(sent)
    async with serving(lambda _: library) as client:
        answer = await client.post("/retrieval", content=content, headers=BEARER)
        assert answer.status_code == status
        assert answer.json()["error_code"] == (2001 if status == 404 else status)
        assert said in answer.json()["error_msg"]


async def test_no_error_repeats_a_long_name(library):
    asked = body(knowledge_id="x" * 100_000)
    async with serving(lambda _: library) as client:
        answer = await client.post("/retrieval", json=asked, headers=BEARER)
    said = answer.json()["error_msg"]
    assert len(said) == 1_000
    assert said.startswith("There is no knowledge 'xxx")
    assert said.endswith("Ask for 'notes'.")


@pytest.mark.parametrize(
    "changed",
    [
        {"metadata_condition": None},
        {"metadata_condition": {}},
        {"metadata_condition": {"conditions": []}},
        {"retrieval_setting": {"top_k": None, "score_threshold": None}},
        {"retrieval_setting": {"top_k": 10**9, "score_threshold": 0}},
        {"unheard": "of"},
    ],
)
async def test_what_says_nothing_is_passed_over(library, changed):
    async with serving(lambda _: library, token_budget=500) as client:
        content = json.dumps(body() | changed)
        answer = await client.post("/retrieval", content=content, headers=BEARER)
        assert answer.status_code == 200, answer.text
        assert answer.json()["records"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/retrieval", 405), ("POST", "/", 404), ("GET", "/docs", 404)],
)
async def test_there_is_nothing_else(library, method, path, status):
    async with serving(lambda _: library) as client:
        answer = await client.request(method, path, headers=BEARER)
        assert answer.status_code == status
        assert answer.json() == {
            "error_code": status,
            "error_msg": "There is only POST /retrieval here.",
        }


async def test_documents_that_are_not_open_yet_are_told_in_time(library):
    may_go_on = Event()

    def slow(tell) -> Library:
        tell(3, 10, 500)
        may_go_on.wait()
        return library

    async with serving(slow, patience=0.3) as client:
        answer = await client.post("/retrieval", json=body(), headers=BEARER)
        assert answer.status_code == 503
        said = "Indexed 3 of 10 documents, 500 chunks. Ask again in a moment."
        assert answer.json() == {"error_code": 503, "error_msg": said}
        may_go_on.set()
        while answer.status_code == 503:
            answer = await client.post("/retrieval", json=body(), headers=BEARER)
        assert answer.json()["records"]


async def test_documents_that_cannot_be_opened_are_told(capsys):
    def failing(_) -> Library:
        message = "The folder holds no file that can be read."
        raise OpragError(message)

    async with serving(failing) as client:
        answer = await client.post("/retrieval", json=body(), headers=BEARER)
    assert answer.status_code == 503
    assert "the server's log says why" in answer.json()["error_msg"]
    assert "holds no file that can be read" in capsys.readouterr().err


async def test_what_an_index_or_a_budget_cannot_do_is_told(library):
    other = Library(library.vectorstore, space="l2")
    async with serving(lambda _: other) as client:
        asked = body(setting={"score_threshold": 0.2})
        answer = await client.post("/retrieval", json=asked, headers=BEARER)
        assert answer.status_code == 422
        assert "and this one has 'l2'" in answer.json()["error_msg"]
        assert await records(client)
    async with serving(lambda _: library, token_budget=5) as client:
        answer = await client.post("/retrieval", json=body(), headers=BEARER)
        assert answer.status_code == 422
        assert "token_budget" in answer.json()["error_msg"]


async def test_a_client_that_goes_away_is_no_failure(library, capsys):
    async def gone():
        return {"type": "http.disconnect"}

    async def sent(_):
        pass

    librarian = Librarian(lambda _: library, patience=1)
    served = make_app(librarian, name="", api_key=KEY, token_budget=9)
    headers = [(b"authorization", f"Bearer {KEY}".encode())]
    asked = {"type": "http", "method": "POST", "path": "/retrieval", "headers": headers}

    await served(asked, gone, sent)

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        (["serve", "."], "", "Set the variable OPRAG_API_KEY"),
        (["serve", "."], "short", "needs at least 16 letters"),
        (["serve", "."], "a key with blanks in it", "without blanks"),
        (["serve", ".", "--port", "0"], KEY, "Invalid value for '--port'"),
        (["serve", ".", "--host", "192.0.2.1"], KEY, "It cannot listen at 192.0.2.1, "),
        *(
            ([command, *given], KEY, said)
            for command in ("mcp", "serve")
            for given, said in (
                (["index", "--collection", "a"], "index has no collection 'a'."),
                ([".", "--collection", "notes"], "of a Chroma directory, and . is"),
                (["index", "--directory", "kept"], "index is an index itself."),
                ([".", "--widen", "all"], "from 1 on, or fill."),
                ([".", "--token-budget", "0"], "Invalid value for '--token-budget'"),
            )
        ),
    ],
)
def test_a_mistake_of_the_command_line_is_told(given, key, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPRAG_API_KEY", key)
    if "index" in given:
        PersistentClient(tmp_path / "index")

    result = CliRunner().invoke(app, given)

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert not key or key not in result.output


@pytest.mark.parametrize("command", ["mcp", "serve"])
def test_a_path_that_is_not_there_is_told(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPRAG_API_KEY", KEY)

    result = CliRunner().invoke(app, [command, "nowhere"])

    assert result.exit_code == 1
    assert result.stderr == "Error: 'nowhere' does not exist.\n"


def test_a_port_in_use_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPRAG_API_KEY", KEY)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        result = CliRunner().invoke(app, ["serve", ".", "--port", port])

    assert result.exit_code == 2
    assert "Give another --port" in result.stderr
