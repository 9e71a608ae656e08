"""The real Open WebUI with the function of `recipes/`: what its model is sent."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import pytest

from oprag.tokens import resolve_token_counter
from tests.apps.environments import ENCODINGS, ROOT, variables
from tests.files.mixed_files import pdf
from tests.kit.marked_text import inversions_by_text, marked_sections, marks
from tests.kit.openai_server import Reply, Request, ScriptedServer, ToolCall
from tests.kit.serving import HOST, answers_http, serving

PACKAGES = ("open-webui==0.12.4",)
PYTHONS = ("3.11", "3.12")
FUNCTION_ID = "document_order"
"""The id that the function is pasted under."""


def settings(server: ScriptedServer, folder: Path) -> dict[str, str]:
    """Its variables: this server for chat and embeddings, and nothing beyond it."""
    model = {"API_BASE_URL": server.base_url, "API_KEY": "none"}
    return {
        **{f"OPENAI_{name}": value for name, value in model.items()},
        **{f"RAG_OPENAI_{name}": value for name, value in model.items()},
        "RAG_EMBEDDING_ENGINE": "openai",
        "RAG_EMBEDDING_MODEL": "scripted",
        "RAG_EMBEDDING_BATCH_SIZE": "100",
        "RAG_TOP_K": "10",
        "RAG_SOURCE_METADATA_KEYS": "page_label",
        "CHUNK_SIZE": "600",
        "CHUNK_OVERLAP": "100",
        "ENABLE_RETRIEVAL_QUERY_GENERATION": "false",
        "ENABLE_OLLAMA_API": "false",
        "ENABLE_VERSION_UPDATE_CHECK": "false",
        "OFFLINE_MODE": "true",
        "HF_HUB_OFFLINE": "1",
        "ANONYMIZED_TELEMETRY": "false",
        "WEBUI_SECRET_KEY": "a key of the tests, at least 32 bytes",
        "DATA_DIR": str(folder / "data"),
        "HOME": str(folder),
    }


class OpenWebUI:
    """Its administrator.

    Args:
        port: Where it runs.
    """

    def __init__(self, port: int) -> None:
        self._client = httpx.Client(base_url=f"http://{HOST}:{port}/api", timeout=120)
        who = {"name": "Ann", "email": "ann@example.com", "password": "swordfish"}
        token = self._post("/v1/auths/signup", who)["token"]
        self._client.headers["Authorization"] = f"Bearer {token}"

    def close(self) -> None:
        """End its connections."""
        self._client.close()

    def _post(self, path: str, body: Any = None, **given: Any) -> Any:
        answer = self._client.post(path, json=body, **given)
        assert answer.is_success, answer.text
        return answer.json()

    def upload(self, path: Path) -> dict[str, str]:
        """Upload a file, and give it as it is attached to a question."""
        answer = self._client.post(
            "/v1/files/?process_in_background=false",
            files={"file": (path.name, path.read_bytes())},
        )
        assert answer.is_success, answer.text
        return {"type": "file", "id": answer.json()["id"]}

    def knowledge(self, files: list[dict[str, str]]) -> dict[str, str]:
        """Make a knowledge base of uploaded files."""
        about = {"name": "Leases", "description": "Of the tests"}
        made = self._post("/v1/knowledge/create", about)["id"]
        for file in files:
            self._post(f"/v1/knowledge/{made}/file/add", {"file_id": file["id"]})
        return {"type": "collection", "id": made}

    def paste(self, content: str) -> None:
        """Make a function of a file's content, for all models."""
        function = {
            "id": FUNCTION_ID,
            "name": "Document order",
            "content": content,
            "meta": {"description": "Of the tests"},
        }
        self._post("/v1/functions/create", function)
        self._post(f"/v1/functions/id/{FUNCTION_ID}/toggle")
        self._post(f"/v1/functions/id/{FUNCTION_ID}/toggle/global")

    def set_valves(self, **valves: Any) -> None:
        """Set what the function is set to."""
        self._post(f"/v1/functions/id/{FUNCTION_ID}/valves/update", valves)

    def ask(self, question: Any, files: list[dict[str, str]]) -> str:
        """Ask about files, and give the answer."""
        body = {**_asked(question), "files": files, "stream": False}
        answer = self._post("/chat/completions", body)
        return answer["choices"][0]["message"]["content"]

    def search_itself(self, question: str) -> None:
        """Ask as its page does, where the model may use the app's own tools."""
        page = {"session_id": "page", "chat_id": "local:page", "id": "answer"}
        self._post("/chat/completions", {**_asked(question), **page, "stream": True})


def _asked(question: Any) -> dict[str, Any]:
    return {
        "model": "scripted",
        "messages": [{"id": "question", "role": "user", "content": question}],
    }


pytestmark = pytest.mark.slow

FUNCTION = ROOT / "recipes" / "open_webui" / "order_preserving_filter.py"
QUESTION = "Who pays for the garden, the roof and the heating?"
SEARCH = "Search the knowledge yourself: who pays for the garden?"
KEPT = "The chunks stay in Open WebUI's own order"
_SOURCE = re.compile(r'<source id="(\d+)".*?>(.*?)</source>', re.DOTALL)


def answer(request: Request) -> Reply:
    """Search once, where that is asked for, and answer."""
    roles = [message["role"] for message in request.messages]
    if SEARCH in request.prompt and "tool" not in roles:
        found = ToolCall("query_knowledge_files", {"query": QUESTION, "count": 10})
        return Reply(tool_calls=[found])
    return Reply("Ann pays.")


@dataclass
class Running:
    """An Open WebUI, what its model was sent, and what it logged."""

    app: OpenWebUI
    server: ScriptedServer
    folder: Path

    def prompt(self, files: list[dict[str, str]], question: Any = QUESTION) -> str:
        """The prompt about files."""
        assert self.app.ask(question, files) == "Ann pays."
        return self.server.requests[-1].prompt

    def searched(self) -> str:
        """The prompt where the model searches the knowledge by a tool."""
        wanted = len(self.server.requests) + 2
        self.app.search_itself(SEARCH)
        end = time.monotonic() + 60
        while len(self.server.requests) < wanted and time.monotonic() < end:
            time.sleep(0.05)
        return self.server.requests[wanted - 1].messages[-1]["content"]

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text("utf-8", "replace")

    @cached_property
    def attached(self) -> dict[str, list[dict[str, str]]]:
        """Files as they are attached to a question, by what is asked about."""
        library = self.folder / "library"
        for number, name in enumerate(("old", "new")):
            (library / name).mkdir(parents=True)
            text = "\n\n".join(marked_sections(100 * number, 15))
            (library / name / "lease.txt").write_text(text)
        pdf(library / "report.pdf", tuple(marked_sections(200, 15)))
        repeated = "\n\n".join(marked_sections(300, 4, sentences=6) * 3)
        (library / "repeated.txt").write_text(repeated)
        paths = ("old/lease.txt", "new/lease.txt", "report.pdf", "repeated.txt")
        old, new, report, again = [self.app.upload(library / path) for path in paths]
        return {
            "a text": [old],
            "a PDF": [report],
            "two of one name": [old, new],
            "a knowledge base": [self.app.knowledge([old, new, report])],
            "a text that repeats itself": [self.app.knowledge([again])],
        }


@contextmanager
def started(programs: Path, folder: Path, ours: Path | None) -> Iterator[Running]:
    """Open WebUI, with our packages or without."""

    def command(port: int) -> list[str]:
        where = ["--host", HOST, "--port", str(port)]
        return [str(programs / "open-webui"), "serve", *where]

    health = answers_http("/health")
    with ScriptedServer(answer) as server:
        given = {**settings(server, folder), "TIKTOKEN_CACHE_DIR": str(ENCODINGS)}
        env = variables(given, ours)
        with serving(command, folder, health, env=env, patience=240) as port:
            app = OpenWebUI(port)
            yield Running(app, server, folder)
            app.close()


@pytest.fixture(scope="module")
def programs(installed) -> Path:
    """Those of the environment."""
    return installed("open_webui", PACKAGES, pythons=PYTHONS)


@pytest.fixture(scope="module")
def running(programs, ours, tmp_path_factory) -> Iterator[Running]:
    """With our packages, and not yet the function."""
    with started(programs, tmp_path_factory.mktemp("open-webui"), ours) as running:
        yield running


@pytest.fixture(scope="module")
def before(running) -> dict[str, str]:
    """The prompt without the function."""
    asked = {name: running.prompt(files) for name, files in running.attached.items()}
    return {**asked, "a search of its own": running.searched()}


@pytest.fixture(scope="module")
def pasted(running, before) -> Running:
    """With the function."""
    running.app.paste(FUNCTION.read_text())
    return running


@pytest.fixture
def ordered(pasted) -> Running:
    """With the function as it is pasted."""
    pasted.app.set_valves()
    return pasted


def context(prompt: str) -> str:
    return prompt.split("<context>")[1].split("</context>", maxsplit=1)[0].strip()


def chunks(prompt: str) -> list[tuple[str, str]]:
    """The number to cite and the text of each."""
    return _SOURCE.findall(context(prompt))


@pytest.mark.parametrize(
    "asked", ["a text", "a PDF", "two of one name", "a knowledge base"]
)
def test_the_same_chunks_reach_the_model_in_the_order_of_their_files(
    asked, before, ordered
):
    after = ordered.prompt(ordered.attached[asked])

    assert sum(inversions_by_text(before[asked]).values()) > 0
    assert set(inversions_by_text(after).values()) == {0}
    assert sorted(chunks(after)) == sorted(chunks(before[asked]))
    assert re.search(r'name="(lease.txt|report.pdf), characters \d+-\d+"', after)
    assert ("report.pdf" in after) == ('page_label="1' in after)
    assert KEPT not in ordered.log.partition("Loaded module")[2]


def test_it_keeps_the_budget_with_all_tags(before, ordered):
    asked = "two of one name"
    ordered.app.set_valves(token_budget=1500)
    after = ordered.prompt(ordered.attached[asked])

    count = resolve_token_counter("cl100k_base")
    assert count(context(before[asked])) > 2000
    assert 1000 < count(context(after)) <= 1500
    assert set(inversions_by_text(after).values()) == {0}
    assert set(chunks(after)) < set(chunks(before[asked]))


def test_it_reads_on_around_the_chunks_until_the_budget_is_full(before, ordered):
    asked = "a knowledge base"
    ordered.app.set_valves(token_budget=4000, widen=True)
    after = ordered.prompt(ordered.attached[asked])

    assert 3500 < resolve_token_counter("cl100k_base")(context(after)) <= 4000
    assert set(inversions_by_text(after).values()) == {0}
    assert set(marks(before[asked])) < set(marks(after))


@pytest.mark.parametrize(
    ("asked", "valves", "said"),
    [
        ("a text that repeats itself", {}, "cannot be proved"),
        ("a text", {"token_budget": 1}, "budget"),
    ],
)
def test_what_cannot_be_ordered_stays_as_it_was_and_is_logged(
    asked, valves, said, before, ordered
):
    logged = len(ordered.log)
    ordered.app.set_valves(**valves)

    assert ordered.prompt(ordered.attached[asked]) == before[asked]
    assert f"{KEPT}: " in ordered.log[logged:]
    assert said in ordered.log[logged:]


def test_what_the_model_searches_itself_is_in_order_too(before, ordered):
    found, again = before["a search of its own"], ordered.searched()

    assert sum(inversions_by_text(found).values()) > 0
    assert set(inversions_by_text(again).values()) == {0}
    chunks, in_order = json.loads(found), json.loads(again)
    places = [chunk.pop("place") for chunk in in_order]
    assert sorted(map(str, in_order)) == sorted(map(str, chunks))
    assert all(re.fullmatch(r"characters \d+-\d+", place) for place in places)


def test_a_question_with_a_picture_and_a_memo_keeps_both(before, ordered):
    url = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="
    question = [
        {"type": "text", "text": QUESTION},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    memo = {"type": "text", "name": "memo", "content": "Ann is ill."}
    after = ordered.prompt([*ordered.attached["a text"], memo], question)

    assert url in str(ordered.server.requests[-1].body)
    assert inversions_by_text(after) == {0: 0}
    texts = [text for _, text in chunks(after)]
    wanted = ["Ann is ill.", *(text for _, text in chunks(before["a text"]))]
    assert sorted(texts) == sorted(wanted)


def test_without_our_package_it_answers_as_before(programs, before, tmp_path):
    with started(programs, tmp_path, None) as running:
        running.app.paste(FUNCTION.read_text())
        again = running.prompt(running.attached["a text"])
        assert chunks(again) == chunks(before["a text"])
        assert f"{KEPT}: No module named 'oprag'" in running.log
