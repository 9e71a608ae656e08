"""The real PrivateGPT, from a checkout that `PRIVATE_GPT=DIR` names.

Its nodes' shape is tested without it: see `tests/positions/test_applications.py`.
"""

import base64
import os
import re
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.apps.environments import ENCODINGS, ROOT, variables
from tests.apps.marked_files import NAMES, write_marked_files
from tests.kit.marked_text import inversions_by_text, marks
from tests.kit.openai_server import Reply, Request, ScriptedServer, ToolCall
from tests.kit.serving import HOST, answers_http, serving
from tests.kit.words import DIMENSIONS

CHECKOUT = os.environ.get("PRIVATE_GPT", "")
pytestmark = pytest.mark.skipif(not CHECKOUT, reason="PRIVATE_GPT names no checkout")

EXTRAS = "model-openai-compatible,vectorstore-qdrant,ingest"
RECIPE = ROOT / "recipes/private_gpt/in_document_order.py"
QUESTION = "Which rule of a section binds whoever signs the lease about the garden?"
SETTINGS = f"""
models:
  - {{name: scripted, type: llm, mode: openai, context_window: 64000,
      prompt_style: chat, support_tools: true}}
  - {{name: words, type: embedding, mode: openai, context_window: 8000,
      embed_dim: {DIMENSIONS}}}
llm: {{default_model: scripted, auto_discover_models: false}}
embedding: {{default_model: words, auto_discover_models: false}}
vectorstore: {{embed_dim: {DIMENSIONS}}}
"""


@pytest.fixture(scope="module")
def python(installed, tmp_path_factory) -> Path:
    """That of an environment with the versions that the checkout was locked to."""
    lock = (Path(CHECKOUT) / "uv.lock").read_text()
    package = re.compile(r'name = "(.+)"\nversion = "(.+)"\nsource = \{ registry')
    versions = [found for found in package.findall(lock) if found[0] != "torch"]
    times = Counter(name for name, _ in versions)
    pins = [f"{name}=={version}" for name, version in versions if times[name] == 1]
    constraints = tmp_path_factory.mktemp("lock") / "constraints.txt"
    constraints.write_text("\n".join(pins))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_CONSTRAINT", str(constraints))
        packages = (f"{CHECKOUT}[{EXTRAS}]", "celery")
        return installed("private-gpt", packages, pythons=("3.11",)) / "python"


def own_variables(folder: Path) -> dict[str, str]:
    """Those of a PrivateGPT that keeps everything in a folder, and fetches nothing."""
    return {
        "HF_HUB_OFFLINE": "1",
        "HOME": str(folder),
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "OPENAI_API_KEY": "none",
        "OPENAI_EMBEDDING_API_KEY": "none",
        "PGPT_HOME": str(folder),
        "PGPT_PROFILES": "tests",
        "PGPT_QDRANT_PATH": str(folder / "qdrant"),
        "PGPT_SETTINGS_FOLDER": f"{CHECKOUT},{folder}",
        "PGPT_UI_ENABLED": "false",
        "TIKTOKEN_CACHE_DIR": str(ENCODINGS),
    }


def scripted(request: Request) -> Reply:
    """Search once, and answer."""
    if request.messages[-1]["role"] == "tool":
        return Reply("The rent is due.")
    return Reply(tool_calls=[ToolCall("semantic_search", {"query": QUESTION})])


class Running:
    """A PrivateGPT that holds the marked files, and what its model is asked."""

    def __init__(self, port: int, server: ScriptedServer, folder: Path) -> None:
        self._address = f"http://{HOST}:{port}/v1"
        self._server = server
        self._log = folder / "server.log"

    def _post(self, path: str, body: object) -> None:
        answer = httpx.post(self._address + path, json=body, timeout=120)
        assert answer.is_success, answer.text

    def ingest(self, documents: Path) -> None:
        """Hand over the marked files."""
        for name in NAMES:
            content = base64.b64encode((documents / name).read_bytes()).decode()
            body = {
                "artifact": name.replace("/", "-"),
                "collection": "leases",
                "input": {"type": "file", "value": content},
                "metadata": {"file_name": Path(name).name},
            }
            self._post("/artifacts/ingest", body)

    def read(self) -> str:
        """The prompt of the question."""
        held = {"collection": "leases"}
        body = {
            "model": "scripted",
            "max_tokens": 500,
            "messages": [{"role": "user", "content": QUESTION}],
            "tools": [{"name": "semantic_search", "type": "semantic_search_v1"}],
            "tool_context": [{"type": "ingested_artifact", "context_filter": held}],
        }
        self._post("/messages", body)
        return self._server.requests[-1].messages[-1]["content"]

    @property
    def log(self) -> str:
        """Its log so far."""
        return self._log.read_text("utf-8", "replace")


@pytest.fixture(scope="module")
def private_gpt(python, tmp_path_factory):
    """Start one: by its own command or by the file, and with what on its path."""
    documents = tmp_path_factory.mktemp("documents")
    # At most 64 nodes a file: a Qdrant in the same process cannot take two batches.
    write_marked_files(documents, sentences=3)

    @contextmanager
    def start(first: str, path: Path | None = None, **given: str):
        folder = tmp_path_factory.mktemp("private-gpt")
        (folder / "settings-tests.yaml").write_text(SETTINGS)
        with ScriptedServer(scripted) as server:
            at = {"OPENAI_API_BASE": server.base_url}
            at["OPENAI_EMBEDDING_API_BASE"] = server.base_url
            env = variables({**own_variables(folder), **at, **given}, path)
            env["PYTHONPATH"] = ":".join([CHECKOUT, env.get("PYTHONPATH", "")])

            def command(port: int) -> list[str]:
                where = ["serve", "--host", HOST, "--port", str(port)]
                return [str(python), *first.split(), *where]

            ready = answers_http("/health")
            with serving(command, folder, ready, env=env, patience=200) as port:
                running = Running(port, server, folder)
                running.ingest(documents)
                yield running

    return start


@pytest.fixture(scope="module")
def plain(private_gpt) -> str:
    """The prompt of PrivateGPT as it is."""
    with private_gpt("-m private_gpt") as running:
        return running.read()


def test_passages_of_each_file_stand_in_document_order(plain, private_gpt, ours):
    with private_gpt(str(RECIPE), ours) as running:
        read = running.read()

        assert "Passages stay" not in running.log
    assert set(inversions_by_text(read).values()) == {0}
    assert set(marks(read)) == set(marks(plain))


def test_without_our_package_it_answers_as_before(plain, private_gpt):
    with private_gpt(str(RECIPE)) as running:
        assert running.read() == plain
        assert "No module named 'llamaindex_oprag'" in running.log
