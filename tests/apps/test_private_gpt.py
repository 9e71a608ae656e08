"""The real PrivateGPT, from a checkout that `PRIVATE_GPT=DIR` names.

Its nodes' shape is tested without it: see `tests/positions/test_applications.py`.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
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
from tests.kit.word_vectors import DIMENSIONS

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
BROKEN = """
def OrderPreservingPostprocessor():
    raise RuntimeError("it is broken")
"""
COMPONENTS = """
import json
from llama_index.core.schema import NodeWithScore
from private_gpt.components.engines.citations.format import format_context
from private_gpt.components.engines.citations.types import Document
from private_gpt.components.readers.nodes.frozen_node import FrozenNode
from private_gpt.components.readers.nodes.tree_node import TreeMetadataMode
from private_gpt.components.tools.builders.semantic_search_builder import (
    SemanticSearchToolBuilder,
)
from private_gpt.events.models import SourceBlock, from_tool_output

def passage(file, place, score):
    text = f"[S{file * 100 + place:03}.00] A rule."
    about = {"artifact_id": f"artifact-{file}", "file_name": "lease.txt"}
    node = FrozenNode(
        id_=text,
        extra_info=about,
        abs_idx=place,
        contents=dict.fromkeys(TreeMetadataMode, text),
    )
    return NodeWithScore(node=node, score=score)

def shown():
    found = [(0, 10), (1, 3), (0, 2), (1, 12), (0, 9), (1, 1)]
    nodes = [passage(*at, 0.9 - number / 100) for number, at in enumerate(found)]
    steps = SemanticSearchToolBuilder._node_postprocessors_fn
    for step in steps(None, llm=None, tokenizer=None, context_filter=None):
        nodes = step.postprocess_nodes(nodes)
    blocks = [b for b in from_tool_output(nodes) if isinstance(b, SourceBlock)]
    documents = [Document.from_source(s) for b in blocks for s in b.sources]
    return format_context(documents=documents, generate_citations=False)[1]

before = shown()
import in_document_order
print(json.dumps([before, shown()]))
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
        """What the model reads about the question."""
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
        """What it logged so far."""
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
    """What the model of PrivateGPT as it is reads."""
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


def test_an_error_of_ours_keeps_its_order_and_is_logged(plain, private_gpt, tmp_path):
    (tmp_path / "llamaindex_oprag.py").write_text(BROKEN)

    with private_gpt(str(RECIPE), tmp_path) as running:
        assert running.read() == plain
        assert "RuntimeError: it is broken" in running.log
        assert "Passages stay in PrivateGPT's own order." in running.log


@pytest.fixture(scope="module")
def shown(python, ours, tmp_path_factory):
    """Its own parts on nodes of two files of one name: before the file, and after."""

    def run(strategy: str) -> list[str]:
        folder = tmp_path_factory.mktemp("parts")
        (folder / "settings-tests.yaml").write_text(SETTINGS)
        env = variables(own_variables(folder) | {"PGPT_FORMAT_CONTEXT": strategy})
        env["PYTHONPATH"] = ":".join([CHECKOUT, str(ours), str(RECIPE.parent)])
        command = [python, "-c", COMPONENTS]
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


def test_its_nodes_are_put_in_order_file_by_file(shown):
    before, after = shown("list")

    assert inversions_by_text(before) == {0: 2, 1: 2}
    assert marks(after) == [(2, 0), (9, 0), (10, 0), (101, 0), (103, 0), (112, 0)]


def test_its_own_setting_orders_too_but_mixes_files_of_one_name(shown):
    before, after = shown("xml")

    assert marks(before) == [(101, 0), (2, 0), (103, 0), (9, 0), (10, 0), (112, 0)]
    assert after == before
