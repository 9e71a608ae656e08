"""A model's reply: its text without the reasoning before it, and how it ended.

A connection that is closed in good order in the middle of a reply leaves half an
answer that looks whole. Where the protocol ends every reply with a reason for its end,
a reply without one was broken off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

REASONING_TAGS = (("<think>", "</think>"), ("<thinking>", "</thinking>"))
"""Opening and closing marks of reasoning that some servers send as text."""
_FIRST_HALVES = tuple(map(chr, range(0xD800, 0xDC00)))


def text_of(reply: Any) -> str:
    """Return the text of a client's message or of a plain completion."""
    text = reply if isinstance(reply, str) else getattr(reply, "text", "")
    # A method in LangChain 0.3, a string in 1.x.
    return str(text if isinstance(text, str) else text())


class ReasoningFilter:
    """Removes `<think>…</think>` blocks from the start of a streamed text.

    Some servers send the reasoning as ordinary text. Only blocks before the
    first other character (blanks aside) are taken; later ones are text. Blanks
    before a block go with it, blanks after it belong to the text. A block that
    is never closed takes the rest with it.

    Args:
        tags: Pairs of opening and closing mark, compared as they are. Empty: the
            text passes through untouched.
    """

    def __init__(self, tags: Sequence[tuple[str, str]] = REASONING_TAGS) -> None:
        self._tags = tuple(tags)
        self._held = ""
        self._closing = ""
        """The mark that ends the block which was opened."""
        self._passing = not self._tags

    def feed(self, delta: str) -> str:
        """Take the next piece; return the text that cannot be reasoning any more."""
        if self._passing:
            return delta
        self._held += delta
        while True:
            if self._closing:
                _, mark, rest = self._held.partition(self._closing)
                if not mark:  # only the start of a mark can still matter
                    self._held = self._held[-len(self._closing) :]
                    return ""
                self._held, self._closing = rest, ""
            text = self._held.lstrip()
            for opening, closing in self._tags:
                if text.startswith(opening):
                    self._held, self._closing = text[len(opening) :], closing
            if not self._closing:
                may_open = any(mark.startswith(text) for mark, _ in self._tags)
                self._passing = not may_open
                return "" if may_open else self.finish()

    def finish(self) -> str:
        """End the text; return what was held back as a possible opening mark."""
        held, self._held = self._held, ""
        return "" if self._closing else held


def without_reasoning(
    text: str, tags: Sequence[tuple[str, str]] = REASONING_TAGS
) -> str:
    """Return a whole text without the reasoning blocks at its start."""
    blocks = ReasoningFilter(tags)
    return blocks.feed(text) + blocks.finish()


def well_formed(text: str) -> str:
    """Return a text that every encoding has.

    Halves of surrogate pairs are put together; those that are alone become U+FFFD.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole_characters(text: str) -> tuple[str, str]:
    """Divide a streamed text before the first half of a surrogate pair at its end."""
    cut = len(text) - text.endswith(_FIRST_HALVES)
    return text[:cut], text[cut:]


_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
"""How providers call it, in LangChain's `response_metadata` or in their own objects."""
_CUTS: dict[str, Literal["length", "filter"]] = {
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens"), "length"),
    **dict.fromkeys(("content_filter", "content_filtered", "refusal"), "filter"),
    **dict.fromkeys(("safety", "prohibited_content", "recitation"), "filter"),
    "guardrail_intervened": "filter",
}


class StreamEnd:
    """Takes note of a reply, whole or in pieces, and says at its end how it ended.

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
        self.cut: Literal["length", "filter"] | None = None
        """Where the reply was cut: at the longest one, or by the provider's filter."""
        self._due = False
        self._came = False

    def see(self, piece: Any) -> None:
        """Take note of a piece: a message of LangChain, or a response of LlamaIndex."""
        metadata = getattr(piece, "response_metadata", None) or {}
        raw = getattr(piece, "raw", None)
        self._due |= metadata.get("model_provider") == "openai"
        choices = field_of(raw, "choices") or ()
        self._due |= bool(choices)
        for said in (metadata, raw, *choices, *(field_of(raw, "candidates") or ())):
            for reason in filter(None, (field_of(said, name) for name in _REASONS)):
                self._came = True
                # Some clients give an enum: FinishReason.MAX_TOKENS.
                word = str(reason).lower().rpartition(".")[2]
                self.cut = _CUTS.get(word, self.cut)

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
