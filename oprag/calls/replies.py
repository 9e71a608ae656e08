"""A model's reply: its text without the reasoning before it, and how it ended.

A connection that is closed in good order in the middle of a reply leaves half an
answer that looks whole. If the protocol ends every reply with a reason for its end,
a reply without one was broken off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

_REASONING = re.compile(r"\s*<(think|thinking)>")
"""The start of the reasoning that some servers send before the reply."""


def read_message_text(reply: Any) -> str:
    """Return the text of a client's message or of a plain completion."""
    text = reply if isinstance(reply, str) else reply.text
    # A method in LangChain 0.3, a string in 1.x.
    return str(text if isinstance(text, str) else text())


def strip_reasoning(text: str) -> str:
    """Return a reply without the reasoning at its start.

    Blanks before a `<think>…</think>` block go with it, blanks after it belong to the
    text. A block that is never closed takes the rest with it.
    """
    while opening := _REASONING.match(text):
        text = text.partition(f"</{opening[1]}>")[2]
    return text


def may_be_reasoning(text: str) -> bool:
    """Return whether the reply so far may be the beginning of reasoning."""
    begun = text.lstrip()
    return any(mark.startswith(begun) for mark in ("<think>", "<thinking>"))


def well_formed(text: str) -> str:
    """Return the text in a form that every encoding has.

    Halves of surrogate pairs are put together; those that are alone become U+FFFD.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_REASONS = (
    *("finish_reason", "stop_reason", "stopReason", "done_reason", "status"),
    "incomplete_details",  # of OpenAI's Responses: `{"reason": …}`
)
"""Names of the reason, in LangChain's `response_metadata` or in providers' objects."""
_CUTS: dict[str, Literal["length", "filter"]] = {
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens"), "length"),
    "model_context_window_exceeded": "length",
    **dict.fromkeys(("content_filter", "content_filtered", "refusal"), "filter"),
    **dict.fromkeys(("safety", "prohibited_content", "recitation"), "filter"),
    **dict.fromkeys(("blocklist", "spii", "error_toxic"), "filter"),
    "guardrail_intervened": "filter",
}


Finish: TypeAlias = Literal["length", "filter", "empty", "call"]
"""The end of a reply that is not as it should be: cut at the longest reply or by the
provider's filter, without any text, or with a call of a tool, which nobody carries
out."""


class StreamEnd:
    """Takes note of a reply, whole or in pieces, and says at its end how it ended.

    A reason is due if the pieces show that they are of one of OpenAI's protocols,
    which most servers speak: LangChain names the provider in `response_metadata`, and
    LlamaIndex keeps the server's own piece, with `choices`, as `raw`. Of other streams
    nothing is known, and they pass.

    Example:
        >>> from types import SimpleNamespace
        >>> end = StreamEnd()
        >>> end.see(SimpleNamespace(response_metadata={"model_provider": "openai"}))
        >>> end.check_complete()
        Traceback (most recent call last):
        ConnectionError: The reply was broken off: its stream has no finish reason.
    """

    def __init__(self) -> None:
        self.cut: Literal["length", "filter"] | None = None
        """The reason that the reply was cut: its length, or the provider's filter."""
        self._due = False
        self._came = False

    def see(self, piece: Any) -> None:
        """Take note of a piece: a message of LangChain, or a response of LlamaIndex."""
        metadata = getattr(piece, "response_metadata", None) or {}
        raw = getattr(piece, "raw", None)
        self._due |= metadata.get("model_provider") == "openai"
        choices = field_of(raw, "choices") or ()
        self._due |= bool(choices)
        holders = (metadata, raw, field_of(raw, "response"), *choices)
        for said in (*holders, *(field_of(raw, "candidates") or ())):
            for reason in filter(None, (field_of(said, name) for name in _REASONS)):
                self._came = True
                # Some clients give an enum: FinishReason.MAX_TOKENS.
                word = (
                    str(field_of(reason, "reason") or reason).lower().rpartition(".")[2]
                )
                self.cut = _CUTS.get(word, self.cut)

    def check_complete(self) -> None:
        """Make sure, after the last piece, that the reply is whole.

        Raises:
            ConnectionError: A reason was due and did not come.
        """
        if self._due and not self._came:
            message = "The reply was broken off: its stream has no finish reason."
            raise ConnectionError(message)


def field_of(holder: Any, key: str) -> Any:
    """Return the value of a name in a client's object or mapping; None for no value."""
    if isinstance(holder, Mapping):
        return holder.get(key)
    return getattr(holder, key, None)
