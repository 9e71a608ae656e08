"""How many tokens and calls a reply took, as its provider reports them.

A reply that is got through LlamaIndex (a structured prediction) comes without its
tokens. LlamaIndex's LLMs tell them to its instrumentation, and there one
handler, which belongs to this module, hears them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import (
    LLMChatEndEvent,
    LLMChatStartEvent,
    LLMCompletionEndEvent,
    LLMCompletionStartEvent,
)

from oprag.calls import TokenUsage, field_of

_LLM_EVENTS = "llama_index.core.llms.callbacks"
"""The dispatcher through which LLMs tell of their calls."""

_listener: ContextVar[Meter | None] = ContextVar("oprag_meter", default=None)


class Meter:
    """Tokens and calls of one reply."""

    def __init__(self) -> None:
        self._last: TokenUsage | None = None
        self._heard: list[TokenUsage | None] = []
        self._open = 0

    def see(self, response: Any) -> None:
        """Take a response into account, or the next part of a streamed one.

        Of a stream the last part that reports tokens counts: servers that report
        in every part report the sum so far.
        """
        self._last = reported_usage(response) or self._last

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take the calls into account that LlamaIndex makes inside the block."""
        _install()
        token = _listener.set(self)
        try:
            yield
        finally:
            _listener.reset(token)

    def begin(self) -> None:
        """Note that a call that LlamaIndex makes begins."""
        self._open += 1

    def end(self, response: Any) -> None:
        """Take a call that LlamaIndex made into account.

        An LLM may answer a chat by a completion, and tells of both: the outer one
        counts.
        """
        self._open -= 1
        if self._open <= 0:
            self._open = 0
            self._heard.append(reported_usage(response))

    @property
    def calls(self) -> int:
        """Calls that were made; at least the one that the reply came from."""
        return max(1, len(self._heard))

    @property
    def reported(self) -> TokenUsage | None:
        """Tokens of all calls; None when not every call reported them."""
        known = [usage for usage in self._heard if usage is not None]
        if self._last is not None or not known or len(known) < len(self._heard):
            return self._last
        return sum(known, TokenUsage())


class _Handler(BaseEventHandler):
    @classmethod
    def class_name(cls) -> str:
        return "OpragMeterHandler"

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        meter = _listener.get()
        if meter is None:
            return
        if isinstance(event, (LLMChatStartEvent, LLMCompletionStartEvent)):
            meter.begin()
        elif isinstance(event, (LLMChatEndEvent, LLMCompletionEndEvent)):
            meter.end(event.response)


@lru_cache(maxsize=1)
def _install() -> None:
    dispatcher = instrument.get_dispatcher(_LLM_EVENTS)  # type: ignore[attr-defined]  # re-exported there without an __all__
    dispatcher.add_event_handler(_Handler())


def reported_usage(response: Any) -> TokenUsage | None:
    """Tokens of one call, cached ones included.

    Args:
        response: A `ChatResponse` or `CompletionResponse`; of a stream one of its
            parts. `raw` is the provider's own object or mapping: `usage` of OpenAI
            and servers like it, of Anthropic, or `usage_metadata` of Google. Else
            `additional_kwargs`, where LlamaIndex repeats the totals.

    Returns:
        The tokens; None when this response reports none.
    """
    raw = getattr(response, "raw", None)
    for usage in (field_of(raw, "usage"), field_of(raw, "usage_metadata")):
        if usage is not None and (read := _read(usage)) is not None:
            return read
    return _read(getattr(response, "additional_kwargs", None) or {})


def _read(usage: Any) -> TokenUsage | None:
    sent = _first(usage, "prompt_tokens", "input_tokens", "prompt_token_count")
    if not sent:  # LlamaIndex writes 0 where nothing was reported
        return None
    received = _first(
        usage, "completion_tokens", "output_tokens", "candidates_token_count"
    )
    apart = [
        _number(field_of(usage, key))
        for key in ("cache_read_input_tokens", "cache_creation_input_tokens")
    ]
    if any(apart):  # Anthropic counts these apart from the rest of the prompt
        return TokenUsage(sent + sum(apart), received or 0, apart[0])
    # Google bills its reasoning tokens beside those of the reply.
    thoughts = _number(field_of(usage, "thoughts_token_count"))
    return TokenUsage(sent, (received or 0) + thoughts, _cached(usage))


def _cached(usage: Any) -> int:
    for details in ("prompt_tokens_details", "input_tokens_details"):
        if cached := _number(field_of(field_of(usage, details), "cached_tokens")):
            return cached
    return _number(field_of(usage, "cached_content_token_count"))


def _first(usage: Any, *keys: str) -> int | None:
    values = (field_of(usage, key) for key in keys)
    return next((value for value in values if type(value) is int), None)


def _number(value: Any) -> int:
    return value if type(value) is int else 0
