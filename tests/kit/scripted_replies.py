"""Requests and replies of a scripted chat model, as plain data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias


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
    reasoning_tokens: int = 0


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
    reasoning: str = ""
    """Sent before the text, as `reasoning_content`."""
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: str | None = None
    """None means "tool_calls" when there are any, else "stop"; empty: no reason."""
    usage: Usage | None = None
    """None: words are counted (`words`), in the prompt and in the reply."""
    cached_tokens: int = 0
    """Reported with counted words; a `usage` of its own says so itself."""
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


def rate_limited(retry_after: float = 0.0) -> Failure:
    """429, with the seconds to wait in `Retry-After` (clients retry by themselves)."""
    return Failure(
        429,
        "Rate limit reached.",
        "rate_limit_exceeded",
        {"Retry-After": str(retry_after), "Retry-After-Ms": str(retry_after * 1000)},
    )


def server_error(status: int = 500) -> Failure:
    """A failure of the server (clients retry by themselves)."""
    return Failure(status, "The server had an error.", "server_error")


def context_overflow(limit: int = 4096, asked: int = 5000) -> Failure:
    """400, the prompt is longer than the window: both in tokens."""
    return Failure(
        400,
        f"This model's maximum context length is {limit} tokens. However, your "
        f"messages resulted in {asked} tokens.",
        "context_length_exceeded",
    )


Answer: TypeAlias = Reply | Failure | str
Script: TypeAlias = Iterable[Answer] | Callable[[Request], Answer]


def _text(content: object) -> str:
    """Give the text of a message: a string, a list of parts, or nothing."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")
