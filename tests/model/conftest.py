"""Lends the tests of this folder a server with a real model, and what it was asked."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import tiny_model
from tests.model.recorder import Exchange, Recorder

__all__ = ["tiny_model"]

HERE = Path(__file__).parent
PROGRAM = HERE.parents[1] / ".venv-model/bin/python"
REQUIRED = bool(os.environ.get("OPRAG_REQUIRE_MODEL"))
"""Whether a missing model fails the tests instead of skipping them."""
MOST_REQUESTS = 120
MOST_TOKENS = 700
"""Of a prompt: a context of at most 500, and the words around it."""
MOST_SECONDS = 360


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let nothing of ours that a model's reply is warned of end a test."""
    ignored = pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(ignored)


@pytest.fixture(scope="session")
def recorder() -> Iterator[Recorder]:
    """The model's server, with a recorder before it; what it took is looked at last."""
    if not PROGRAM.exists():
        message = f"{PROGRAM} is not there: make test-model makes it"
        (pytest.fail if REQUIRED else pytest.skip)(message)
    began = time.monotonic()
    command = [str(PROGRAM), str(HERE / "smollm2.py")]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **pipes) as server:
        try:
            recorder = Recorder(server.stdout.readline().strip())
            yield recorder
            recorder.shutdown()
            recorder.server_close()
        finally:
            server.terminate()
    assert len(recorder.past) <= MOST_REQUESTS
    assert all(each.status == 200 for each in recorder.past)
    assert max(each.usage[0] for each in recorder.past) <= MOST_TOKENS
    assert time.monotonic() - began < MOST_SECONDS


@pytest.fixture
def asked(recorder, monkeypatch) -> Iterator[list[Exchange]]:
    """The requests of one test; clients find the server by the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", recorder.base_url)
    recorder.exchanges = []
    yield recorder.exchanges
    recorder.past += recorder.exchanges
