"""An OpenAI-compatible server on loopback that answers from a script, for tests.

Real clients (`langchain_openai.ChatOpenAI`, LlamaIndex's `OpenAILike`, `openai`)
talk to it over HTTP, so that tests assert on what really is sent::

    with ScriptedServer(["Unanswerable.", "In 1912."]) as server:
        model = ChatOpenAI(base_url=server.base_url, api_key="none", model="scripted")
        ...
    assert len(server.requests) == 2
    assert "In 1912." not in server.requests[1].prompt

Serves `POST <base_url>/chat/completions`, streamed or not. For whole applications it
also lists its one model and embeds texts by their words, without the script. Clients of
Ollama are answered at `ollama_url`. Everything it sends is a function of the script and
the request: no clock, no random ids.
"""

import json
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias

from tests.kit import ollama_protocol
from tests.kit.words import word_vector, words


@dataclass(frozen=True)
class Request:
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    """The parsed JSON."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]

    @property
    def prompt(self) -> str:
        """The texts of all messages, joined by a line break."""
        return "\n".join(_text(message.get("content")) for message in self.messages)

    @property
    def streaming(self) -> bool:
        return bool(self.body.get("stream"))


def _text(content: object) -> str:
    """Give the text of a message: a string, a list of parts, or nothing."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


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

    `deltas` are sent in place of `text`, each string as one chunk of a stream; a
    `threading.Event` is waited for (at most 10 s), so that a test can hold the stream
    at a point. Without a stream they are joined.
    """

    text: str | None = ""
    """The content; None is sent as JSON null. Streamed word by word."""
    deltas: Sequence[str | threading.Event] | None = None
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: str | None = None
    """None means "tool_calls" when there are any, else "stop"; empty: no reason."""
    usage: Usage | None = None
    """None: words are counted (`words`), in the prompt and in the reply."""
    reports_usage: bool = True
    """False for servers that never report usage."""
    delay: float = 0.0
    """Seconds before anything is sent."""
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
    reason: str | None = None
    """The words of the status line; None for the usual words."""


SERVER_ERROR = Failure(500, "The server had an error.", "server_error")
"""Clients retry by themselves."""
CONTEXT_OVERFLOW = Failure(
    400,
    "This model's maximum context length is 4096 tokens. However, your "
    "messages resulted in 5000 tokens.",
    "context_length_exceeded",
)

Answer: TypeAlias = Reply | Failure | str
Script: TypeAlias = Iterable[Answer] | Callable[[Request], Answer]


def _body(kind: str, request: Request, *choices: Any, **more: Any) -> dict[str, Any]:
    model = request.body.get("model")
    head = {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": model}
    return {**head, "choices": choices, **more}


def _usage(request: Request, reply: Reply) -> dict[str, Any]:
    """Give the field of a body, or none."""
    if not reply.reports_usage:
        return {}
    usage = reply.usage or Usage(words(request.prompt), words(reply.content or ""))
    figures = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
    return {"usage": figures}


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


def _completion(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.tool_calls:
        message["tool_calls"] = _tool_calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply)}
    return _body("chat.completion", request, choice, **_usage(request, reply))


def _events(request: Request, reply: Reply) -> Iterator[str | threading.Event]:
    """Give the data of the server-sent events, and what is waited for between them."""

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return json.dumps(_body("chat.completion.chunk", request, choice))

    yield chunk({"role": "assistant", "content": ""})
    cut = re.findall("^[^ ]+| [^ ]*", reply.text or "")  # before each blank
    for delta in cut if reply.deltas is None else reply.deltas:
        yield chunk({"content": delta}) if isinstance(delta, str) else delta
    for call in _tool_calls(reply):
        yield chunk({"tool_calls": [call]})
    if reply.broken or reply.unfinished:
        return
    yield chunk({}, _finish_reason(reply))
    usage = _usage(request, reply)
    if usage and (request.body.get("stream_options") or {}).get("include_usage"):
        yield json.dumps(_body("chat.completion.chunk", request, **usage))
    yield "[DONE]"


def _embeddings(request: Request) -> dict[str, Any]:
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
    usage = {"prompt_tokens": used, "total_tokens": used}
    return {"object": "list", "model": "scripted", "data": data, "usage": usage}


class ScriptedServer:
    """Answers chat completions from a script, on a free port of 127.0.0.1.

    Args:
        script: Answers in the order in which requests arrive (a string is a
            `Reply` with that text), or a function from request to answer, called
            in the server's threads. A request after the last answer gets none, and
            leaving the `with` block raises.
    """

    def __init__(self, script: Script) -> None:
        self._answer_to = script if callable(script) else None
        self._answers = iter(()) if callable(script) else iter(list(script))
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        """All requests for chat so far, as they arrived, those that failed included."""
        self._errors: list[BaseException] = []
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
    def ollama_url(self) -> str:
        """The `base_url` of clients of Ollama."""
        return self.base_url.removesuffix("/v1")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Stop serving; raise what went wrong in the script, unless a test failed."""
        self._http.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        if error is None and self._errors:
            raise self._errors[0]

    def _next(self, request: Request) -> Reply | Failure:
        with self._lock:
            self.requests.append(request)
            answer = None if self._answer_to else next(self._answers, None)
        if self._answer_to:
            answer = self._answer_to(request)
        assert answer is not None, "the script has no answer to this request"
        return Reply(answer) if isinstance(answer, str) else answer


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    scripted: ScriptedServer

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.closing = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep faults for `ScriptedServer.__exit__` instead of printing them."""
        error = sys.exc_info()[1]
        if error and not isinstance(error, ConnectionError):  # a client may give up
            self.scripted._errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HttpServer

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        raw = self.rfile.read(size)
        self.close_connection = True
        if len(raw) < size:  # the client died while it asked
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(headers, json.loads(raw))
        if self.path.endswith("/embeddings"):
            self._send_json(_embeddings(request))
            return
        if self.path == "/api/embed":
            self._send_json(ollama_protocol.embeddings(request.body))
            return
        answer = self.server.scripted._next(request)
        if self.path == "/api/chat":
            assert isinstance(answer, Reply)
            self._send_lines(
                ollama_protocol.chat_lines(
                    request.body, request.prompt, answer.content or ""
                )
            )
            return
        if isinstance(answer, Failure):
            error = {"message": answer.message, "code": answer.code, "type": "error"}
            said = answer.status, answer.reason
            self._send_json({"error": error}, *said, headers=answer.headers)
            return
        self.server.closing.wait(answer.delay)
        if request.streaming:
            self._send_stream(request, answer)
        else:
            self._send_json(_completion(request, answer), broken=answer.broken)

    def do_GET(self) -> None:
        self.close_connection = True
        if not self.path.endswith("/models"):
            self.send_error(404)
            return
        model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}
        self._send_json({"object": "list", "data": [model]})

    def log_message(self, *args: Any, **kwargs: Any) -> None:
        """Stay silent."""

    def _begin(
        self, headers: Mapping[str, str], status: int = 200, reason: str | None = None
    ) -> None:
        self.send_response(status, reason)
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_json(
        self,
        body: object,
        status: int = 200,
        reason: str | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        broken: bool = False,
    ) -> None:
        data = json.dumps(body).encode()
        length = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        self._begin({**(headers or {}), **length}, status, reason)
        self.wfile.write(data[: len(data) // 2] if broken else data)

    def _send_lines(self, lines: Iterable[str]) -> None:
        data = "".join(f"{line}\n" for line in lines).encode()
        kind = {"Content-Type": "application/x-ndjson"}
        self._begin({**kind, "Content-Length": str(len(data))})
        self.wfile.write(data)

    def _send_stream(self, request: Request, reply: Reply) -> None:
        kind = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
        self._begin(kind)
        for event in _events(request, reply):
            if isinstance(event, threading.Event):
                event.wait(10.0)
            else:
                line = f"data: {event}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        if not reply.broken:
            self.wfile.write(b"0\r\n\r\n")
