"""The meaning of model clients' errors: transient, too long, what to do."""

from __future__ import annotations

import os
import pickle
import re
from typing import Any

from oprag.calls.secrets import hide_secrets

_OF_CONNECTION = re.compile("Connect|Timeout|Transport")
"""Names of errors of connections, builtin and of clients."""
_MOST = 200
"""Characters shown of a client's error message."""


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that a client's error carries; None if there is none."""
    places: tuple[Any, ...] = (error, getattr(error, "response", None))
    for place in places:
        for name in ("status_code", "status", "code"):
            status = getattr(place, name, None)
            if isinstance(status, int):
                return int(status)
    return None


def read_error_message(error: BaseException) -> str:
    """Return a client's error message, in one short sentence without secrets."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    said = " ".join(str(message or error).split()) or type(error).__name__
    said = hide_secrets(said)
    if len(said) > _MOST:
        said = f"{said[:_MOST].rstrip()} …"
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."


def carried(error: Exception) -> Exception:
    """Return an error that can be sent to another process.

    That is the error itself if it can be pickled, else a `RuntimeError` with its class
    and words.
    """
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- pickled just now
    except Exception:  # noqa: BLE001 -- whatever a client's class does there
        return RuntimeError(f"{type(error).__qualname__}: {error}")
    return error


def hint_of(error: BaseException) -> str:
    """Return advice about an error; empty if nothing is known."""
    status = status_of(error)
    if status in {401, 403}:
        return "Check the provider's key."
    if status == 404:  # noqa: PLR2004 -- as HTTP has it
        return "Check the model's name, and the server's address."
    kinds = " ".join([cls.__name__ for cls in type(error).__mro__])
    if status is None and _OF_CONNECTION.search(kinds):
        address = hide_secrets(os.environ.get("OPENAI_BASE_URL", ""))
        where = f" OPENAI_BASE_URL is {address}." if address else ""
        return f"Check that its server runs and can be reached.{where}"
    return ""


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
"""The wording of OpenAI and servers like it, Anthropic, Google, Bedrock, Mistral,
llama.cpp and text-generation-inference."""


def is_window_overflow(error: BaseException) -> bool:
    """Return whether a model's error means that the prompt exceeds its window.

    Clients have no class in common for it. It is known by a class named
    `ContextOverflowError` (LangChain), the error's `code`, or the wording of the
    message, a rate limit excepted.
    """
    if "ContextOverflowError" in [cls.__name__ for cls in type(error).__mro__]:
        return True
    if getattr(error, "code", None) in _CODES:
        return True
    if getattr(error, "status_code", None) == _TOO_MANY_REQUESTS:
        return False
    return bool(_PHRASES.search(str(error)))
