"""Lends the tests of this folder a server with a real model, and what it was asked."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import tiny_model


@dataclass
class Exchange:
    body: dict[str, Any]
    status: int = 0
    pieces: list[dict[str, Any]] = field(default_factory=list)
    """The events of a stream, or the one object of a whole reply."""

    @property
    def usage(self) -> tuple[int, int]:
        """Tokens sent and received, as the server counted them."""
        (usage,) = [piece["usage"] for piece in self.pieces if piece.get("usage")]
        return usage["prompt_tokens"], usage["completion_tokens"]

    @property
    def text(self) -> str:
        choices = [c for piece in self.pieces for c in piece["choices"]]
        said = [c.get("delta") or c.get("message") or {} for c in choices]
        return "".join(part.get("content") or "" for part in said)

    @property
    def finish(self) -> str | None:
        choices = [c for piece in self.pieces for c in piece["choices"]]
        return next((c["finish_reason"] for c in choices if c["finish_reason"]), None)


class Recorder(ThreadingHTTPServer):
    """Hands requests on, and keeps them.

    Args:
        target: Address of the model's server.
    """

    daemon_threads = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = urlsplit(target).netloc
        self.exchanges: list[Exchange] = []
        self.past: list[Exchange] = []
        """Those of tests that are over."""
        self.pause = 0.0
        """Seconds between the lines of a reply."""
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Recorder

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        exchange = Exchange(json.loads(sent))
        self.server.exchanges.append(exchange)
        behind = HTTPConnection(self.server.target, timeout=120)
        behind.request("POST", self.path, sent, {"Content-Type": "application/json"})
        reply = behind.getresponse()
        exchange.status = reply.status
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.getheader("Content-Type") or "")
        self.end_headers()
        for line in reply:
            data = line.removeprefix(b"data: ").strip()
            if data.startswith(b"{"):
                exchange.pieces.append(json.loads(data))
            self.wfile.write(line)
            self.wfile.flush()
            time.sleep(self.server.pause)
        behind.close()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


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
