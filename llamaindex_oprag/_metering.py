"""How many tokens a reply took, as its provider reports them."""

from __future__ import annotations

from typing import Any

from oprag.calls import TokenUsage, field_of


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
