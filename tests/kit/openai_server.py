"""An OpenAI-compatible server on loopback that answers from a script, for tests.

Real clients (`langchain_openai.ChatOpenAI`, LlamaIndex's `OpenAILike`, `openai`)
talk to it over HTTP, so that tests assert on what really is sent::

    with ScriptedServer(["Unanswerable.", "In 1912."]) as server:
        model = ChatOpenAI(base_url=server.base_url, api_key="none", model="scripted")
        ...
    assert len(server.requests) == 2
    assert "In 1912." not in server.requests[1].prompt

Serves `POST <base_url>/chat/completions`, streamed or not. For whole applications it
also lists its one model and embeds texts by their words, without the script. Everything
it sends is a function of the script and the request: no clock, no random ids.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import pytest

from tests.kit.openai_wire import completion, embeddings, error_body, events, models
from tests.kit.scripted_replies import (
    Answer,
    Failure,
    Reply,
    Request,
    Script,
    ToolCall,
    Usage,
    context_overflow,
    rate_limited,
    server_error,
)

__all__ = [
    "Answer",
    "Failure",
    "Reply",
    "Request",
    "Script",
    "ScriptedServer",
    "ToolCall",
    "Usage",
    "context_overflow",
    "rate_limited",
    "scripted_server",
    "server_error",
]

_GATE_SECONDS = 10.0


class ScriptedServer:
    """Answers chat completions from a script, on a free port of 127.0.0.1.

    Args:
        script: Answers in the order in which requests arrive (a string is a
            `Reply` with that text), or a function from request to answer, called
            in the server's threads. A request after the last answer gets status
            400, which no client retries, and leaving the `with` block raises.
    """

    def __init__(self, script: Script) -> None:
        if isinstance(script, str):
            msg = "a script is a list of answers or a function, not one string"
            raise TypeError(msg)
        self._answer_to = script if callable(script) else None
        self._answers = iter(()) if callable(script) else iter(list(script))
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._errors: list[BaseException] = []
        self._closing = threading.Event()
        self._http = _HttpServer(("127.0.0.1", 0), _Handler)
        self._http.scripted = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def base_url(self) -> str:
        """The `base_url` or `api_base` of clients: ends in `/v1`."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def requests(self) -> list[Request]:
        """All requests for chat so far, as they arrived, those that failed included."""
        with self._lock:
            return list(self._requests)

    @property
    def open_connections(self) -> int:
        """Connections on which a reply is under way and the client still there."""
        with self._lock:
            connections = list(self._http.connections)
        return sum(map(_is_open, connections))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Stop serving; raise what went wrong in the script, unless a test failed."""
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        if error is None and self._errors:
            raise self._errors[0]

    def _next(self, request: Request) -> Reply | Failure:
        with self._lock:
            self._requests.append(request)
            number = len(self._requests)
            answer = None if self._answer_to else next(self._answers, None)
        try:
            if self._answer_to:
                answer = self._answer_to(request)
            if answer is None:
                msg = f"the script has no answer to request {number}"
                raise AssertionError(msg)  # noqa: TRY301 - one road for both faults
        except Exception as error:  # noqa: BLE001 - raised again by __exit__
            self._errors.append(error)
            return Failure(400, f"{type(error).__name__}: {error}", "script_error")
        return Reply(answer) if isinstance(answer, str) else answer


def _is_open(connection: socket.socket) -> bool:
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True  # nothing to read: the client waits
    except OSError:
        return False


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    scripted: ScriptedServer

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.connections: list[socket.socket] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep faults for `ScriptedServer.__exit__` instead of printing them."""
        error = sys.exc_info()[1]
        if error and not isinstance(error, ConnectionError):  # a client may give up
            self.scripted._errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HttpServer

    def setup(self) -> None:
        super().setup()
        self.server.connections.append(self.connection)

    def finish(self) -> None:
        self.server.connections.remove(self.connection)
        super().finish()

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        raw = self.rfile.read(size)
        self.close_connection = True
        if len(raw) < size:  # the client died while it asked
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(raw))
        if self.path.endswith("/embeddings"):
            self._send_json(embeddings(request))
            return
        if not self.path.endswith("/chat/completions"):
            answer: Reply | Failure = Failure(404, f"not served here: {self.path}")
        else:
            answer = self.server.scripted._next(request)
        self._pause(answer.delay)
        self._send(request, answer)

    def do_GET(self) -> None:
        self.close_connection = True
        if self.path.endswith("/models"):
            self._send_json(models())
        else:
            missing = Failure(404, f"not served here: {self.path}")
            self._send_json(error_body(missing), missing.status)

    def log_message(self, *args: Any, **kwargs: Any) -> None:
        """Stay silent."""

    def _pause(self, seconds: float) -> None:
        self.server.scripted._closing.wait(seconds)

    def _send(self, request: Request, answer: Reply | Failure) -> None:
        if isinstance(answer, Failure):
            self._send_json(
                error_body(answer), answer.status, answer.headers, reason=answer.reason
            )
        elif request.streaming:
            self._send_stream(request, answer)
        else:
            self._send_json(completion(request, answer), broken=answer.broken)

    def _send_json(
        self,
        body: object,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        broken: bool = False,
        reason: str | None = None,
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status, reason)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if broken else data)

    def _send_stream(self, request: Request, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events(request, reply):
            if isinstance(event, threading.Event):
                event.wait(_GATE_SECONDS)
            elif isinstance(event, float | int):
                self._pause(event)
            else:
                line = f"data: {event}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        if not reply.broken:
            self.wfile.write(b"0\r\n\r\n")


@pytest.fixture
def scripted_server() -> Iterator[Callable[[Script], ScriptedServer]]:
    """Start scripted servers that stop with the test: `scripted_server([...])`."""
    with contextlib.ExitStack() as started:
        yield lambda script: started.enter_context(ScriptedServer(script))
