"""Hold a streamed reply until it is known whether it declines."""

from __future__ import annotations

from oprag.calls import ReasoningFilter
from oprag.routing.declining import Decline, declines, opening_of, says_word


class DeclineDetector:
    """Takes a reply piece by piece; releases an answer, and nothing of a refusal.

    What `feed` and `finish` return, joined, is the answer without its reasoning
    block. The verdict is that of `declines` on the whole reply, wherever the pieces
    are cut. With `decline="word"` the opening is held back, two sentences or 200
    characters; with a function, everything until the reply ends.

    Args:
        decline: See `Decline`.
        final: For the last step, whose reply is shown whatever it says: nothing is
            held back.
    """

    def __init__(self, decline: Decline = "word", *, final: bool = False) -> None:
        self.declined: bool | None = None
        """Whether the reply declines; None until it is known, at the latest after
        `finish`."""
        self._decline = decline
        self._final = final
        self._reasoning = ReasoningFilter()
        self._pieces: list[str] = []
        self._released = 0
        self._opening = ""

    @property
    def text(self) -> str:
        """All text so far, held back or not, without reasoning."""
        return "".join(self._pieces)

    def feed(self, delta: str) -> str:
        """Take the next piece of the reply; return what may be shown now."""
        text = self._reasoning.feed(delta)
        self._pieces.append(text)
        if self.declined is None and self._decline == "word":
            self._opening = (self._opening + text).lstrip()
            if opening_of(self._opening)[1]:
                self.declined = says_word(self._opening)
        return self._fresh()

    def finish(self, *, cut: bool = False) -> str:
        """End the reply; return the rest of what may be shown.

        Args:
            cut: Whether it ends at the length limit or at a filter.
        """
        self._pieces.append(self._reasoning.finish())
        if self.declined is None:
            self.declined = declines(self.text, self._decline, cut=cut)
        return self._fresh()

    def _fresh(self) -> str:
        if not self._final and self.declined is not False:
            return ""
        fresh = "".join(self._pieces[self._released :])
        self._released = len(self._pieces)
        return fresh
