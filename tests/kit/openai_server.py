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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias

import pytest

from tests.kit.words import word_vector, words


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    """The parsed JSON."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body.get("messages") or []

    @property
    def prompt(self) -> str:
        """The texts of all messages, joined by a line break."""
        return "\n".join(_text(message.get("content")) for message in self.messages)

    @property
    def streaming(self) -> bool:
        return bool(self.body.get("stream"))


@dataclass(frozen=True)
class Usage:
    """Token figures to report. `prompt_tokens` includes the cached ones."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True)
class ToolCall:
    """A function that the model asks to be called."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """A completion.

    `deltas` say how a stream is cut: a string is sent as one chunk, a number is
    a pause in seconds, a `threading.Event` is waited for (at most 10 s), so that
    a test can hold the stream at a point. Without a stream they are joined.
    """

    text: str | None = ""
    """The content; None is sent as JSON null. Streamed word by word unless
    `deltas` are given, which replace it."""
    deltas: Sequence[str | float | threading.Event] | None = None
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: str | None = None
    """None means "tool_calls" when there are any, else "stop"; empty: no reason."""
    usage: Usage | None = None
    """None: words are counted (`words`), in the prompt and in the reply."""
    reports_usage: bool = True
    """False for servers that never report usage."""
    delay: float = 0.0
    """Seconds before anything is sent: longer than the client's timeout, it is one."""
    broken: bool = False
    """The connection breaks after the last delta, or halfway through the body."""
    unfinished: bool = False
    """The stream is closed in good order after the last delta, without a reason."""

    @property
    def content(self) -> str | None:
        if self.deltas is None:
            return self.text
        return "".join(delta for delta in self.deltas if isinstance(delta, str))


@dataclass(frozen=True)
class Failure:
    """An error instead of a completion, as OpenAI words its bodies."""

    status: int
    message: str
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before it is sent."""
    reason: str | None = None
    """The words of the status line; None for the usual words."""


def rate_limited() -> Failure:
    """429: ask again at once, which clients do by themselves."""
    return Failure(
        429,
        "Rate limit reached.",
        "rate_limit_exceeded",
        {"Retry-After": "0", "Retry-After-Ms": "0"},
    )


def server_error() -> Failure:
    """A failure of the server (clients retry by themselves)."""
    return Failure(500, "The server had an error.", "server_error")


def context_overflow() -> Failure:
    """400, the prompt is longer than the window: both in tokens."""
    return Failure(
        400,
        "This model's maximum context length is 4096 tokens. However, your "
        "messages resulted in 5000 tokens.",
        "context_length_exceeded",
    )


Answer: TypeAlias = Reply | Failure | str
Script: TypeAlias = Iterable[Answer] | Callable[[Request], Answer]


def _text(content: object) -> str:
    """Give the text of a message: a string, a list of parts, or nothing."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _usage(request: Request, reply: Reply) -> dict[str, Any] | None:
    if not reply.reports_usage:
        return None
    usage = reply.usage or Usage(words(request.prompt), words(reply.content or ""))
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


def _tool_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "index": index,
            "id": f"call-{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(reply.tool_calls)
    ]


def _finish_reason(reply: Reply) -> str:
    if reply.finish_reason is not None:
        return reply.finish_reason
    return "tool_calls" if reply.tool_calls else "stop"


def error_body(failure: Failure) -> dict[str, Any]:
    error = {"message": failure.message, "code": failure.code, "type": "error"}
    return {"error": error}


def _envelope(kind: str, request: Request, choices: list[Any]) -> dict[str, Any]:
    model = request.body.get("model")
    head = {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": model}
    return {**head, "choices": choices}


def completion(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.tool_calls:
        message["tool_calls"] = _tool_calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply)}
    body = _envelope("chat.completion", request, [choice])
    usage = _usage(request, reply)
    return body if usage is None else {**body, "usage": usage}


def events(request: Request, reply: Reply) -> Iterator[str | float | threading.Event]:
    """Give the data of the server-sent events, with the pauses between them."""
    options = request.body.get("stream_options") or {}
    usage = _usage(request, reply) if options.get("include_usage") else None

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return json.dumps(_envelope("chat.completion.chunk", request, [choice]))

    yield chunk({"role": "assistant", "content": ""})
    deltas = _words(reply.text or "") if reply.deltas is None else reply.deltas
    for delta in deltas:
        yield chunk({"content": delta}) if isinstance(delta, str) else delta
    for call in _tool_calls(reply):
        yield chunk({"tool_calls": [call]})
    if reply.broken or reply.unfinished:
        return
    yield chunk({}, _finish_reason(reply))
    if usage is not None:
        body = _envelope("chat.completion.chunk", request, [])
        yield json.dumps({**body, "usage": usage})
    yield "[DONE]"


def embeddings(request: Request) -> dict[str, Any]:
    """Give the body of an embedding: words in common make texts alike.

    A text may come as the numbers of its tokens, as OpenAI's own clients send it.
    """
    given = request.body["input"]
    single = isinstance(given, str) or (given and isinstance(given[0], int))
    texts = [
        text if isinstance(text, str) else " ".join(map(str, text))
        for text in ([given] if single else given)
    ]
    data = [
        {"object": "embedding", "index": index, "embedding": word_vector(text)}
        for index, text in enumerate(texts)
    ]
    used = sum(map(words, texts))
    return {
        "object": "list",
        "model": request.body.get("model"),
        "data": data,
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }


def models() -> dict[str, Any]:
    model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}
    return {"object": "list", "data": [model]}


def _words(text: str) -> list[str]:
    """Cut before each blank, so that the parts joined are the text."""
    first, *rest = text.split(" ")
    return [part for part in (first, *(f" {word}" for word in rest)) if part]


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
