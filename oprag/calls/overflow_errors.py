"""Tells a provider's "the prompt is too long" from its other errors."""

from __future__ import annotations

import re

__all__ = ["is_window_overflow"]

_CODES = ("context_length_exceeded", "exceed_context_size_error")
_TOO_MANY_REQUESTS = 429

_PHRASES = re.compile(
    r"(maximum|model'?s|available|exceeds?( the)?) context (length|window|size|limit)"
    r"|context (length|window|size|limit)( is| was| has been)? exceeded"
    r"|(prompt|input) is too long"
    r"|input token count .{0,40}exceeds"
    r"|reduce the length of the (messages|prompt|input)"
    r"|`inputs` tokens",
    re.IGNORECASE,
)
"""How OpenAI and servers like it, Anthropic, Google, Bedrock, Mistral, llama.cpp
and text-generation-inference word it."""


def is_window_overflow(error: BaseException) -> bool:
    """Say whether a model's error means that the prompt exceeds its window.

    Clients have no class in common for it. It is known by a class named
    `ContextOverflowError` (LangChain), the error's `code`, or the wording of the
    message, a rate limit excepted.

    Args:
        error: What the client raised.
    """
    if any(cls.__name__ == "ContextOverflowError" for cls in type(error).__mro__):
        return True
    if getattr(error, "code", None) in _CODES:
        return True
    if getattr(error, "status_code", None) == _TOO_MANY_REQUESTS:
        return False
    return bool(_PHRASES.search(str(error)))
