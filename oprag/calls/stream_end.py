"""Whether the stream of a reply came to its end, or was closed before it.

A connection that is closed in good order in the middle of a reply leaves half an
answer that looks whole. Where the protocol ends every reply with a reason for its end,
a reply without one was broken off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_REASONS = ("finish_reason", "stop_reason", "status")
"""How OpenAI's protocols call it in LangChain's `response_metadata`."""


class StreamEnd:
    """Takes note of the pieces of a stream, and says at its end whether it was one.

    A reason is due where the pieces show that they are of one of OpenAI's protocols,
    which most servers speak: LangChain names the provider in `response_metadata`, and
    LlamaIndex keeps the server's own piece, with `choices`, as `raw`. Of other streams
    nothing is known, and they pass.

    Example:
        >>> from types import SimpleNamespace
        >>> end = StreamEnd()
        >>> end.see(SimpleNamespace(response_metadata={"model_provider": "openai"}))
        >>> end.check()
        Traceback (most recent call last):
        ConnectionError: The reply was broken off: its stream has no finish reason.
    """

    def __init__(self) -> None:
        self._due = False
        self._came = False

    def see(self, piece: Any) -> None:
        """Take note of a piece: a message of LangChain, or a response of LlamaIndex."""
        metadata = getattr(piece, "response_metadata", None) or {}
        self._due |= metadata.get("model_provider") == "openai"
        self._came |= any(metadata.get(name) for name in _REASONS)
        for choice in field_of(getattr(piece, "raw", None), "choices") or ():
            self._due = True
            self._came |= bool(field_of(choice, "finish_reason"))

    def check(self) -> None:
        """Make sure, after the last piece, that the reply is whole.

        Raises:
            ConnectionError: A reason was due and did not come.
        """
        if self._due and not self._came:
            message = "The reply was broken off: its stream has no finish reason."
            raise ConnectionError(message)


def field_of(holder: Any, key: str) -> Any:
    """Return what a client's object or mapping holds under a name; None for nothing."""
    if isinstance(holder, Mapping):
        return holder.get(key)
    return getattr(holder, key, None)
