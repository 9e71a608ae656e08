"""The text of a model's reply, without the reasoning before it, streamed or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

REASONING_TAGS = (("<think>", "</think>"), ("<thinking>", "</thinking>"))
"""Opening and closing marks of reasoning that some servers send as text."""


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
        self._blanks: list[str] = []
        """What stands before `_pending`, set aside so that it is looked at once."""
        self._pending = ""
        self._closing: str | None = None
        self._passing = not self._tags

    def feed(self, delta: str) -> str:
        """Take the next piece; return the text that cannot be reasoning any more."""
        if self._passing:
            return delta
        self._pending += delta
        while self._inside() or self._opened():
            pass
        may_open = any(mark.startswith(self._pending) for mark, _ in self._tags)
        if self._closing is None and not may_open:
            self._passing = True
            return self._held()
        return ""

    def finish(self) -> str:
        """End the text; return what was held back as a possible opening mark."""
        return self._held() if self._closing is None else ""

    def _held(self) -> str:
        held = "".join(self._blanks) + self._pending
        self._blanks, self._pending = [], ""
        return held

    def _inside(self) -> bool:
        """Leave a block whose closing mark has come; say whether one was left."""
        if self._closing is None:
            return False
        _, mark, rest = self._pending.partition(self._closing)
        if mark:
            self._pending, self._closing = rest, None
            return True
        # Only the start of a closing mark can still matter.
        self._pending = self._pending[-len(self._closing) :]
        return False

    def _opened(self) -> bool:
        """Enter a block whose opening mark has come; say whether one was entered."""
        if self._closing is not None:
            return False
        text = self._pending.lstrip()
        self._blanks.append(self._pending[: len(self._pending) - len(text)])
        self._pending = text
        for opening, closing in self._tags:
            if text.startswith(opening):
                self._pending, self._closing = text[len(opening) :], closing
                self._blanks = []
                return True
        return False


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
