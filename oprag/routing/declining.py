"""Tells from a stream, as early as can be, whether the model declines to answer.

There is one set of rules, `refusals.judge`, and none of its own here.
"""

from __future__ import annotations

from collections.abc import Sequence

from oprag.calls import ReasoningFilter
from oprag.routing.refusals import (
    LONGEST_OPENING,
    Decision,
    DeclineRules,
    as_decline_rules,
    judge,
)


class DeclineDetector:
    """Takes a reply piece by piece, releases it once it cannot be a refusal.

    No character of an answer is lost or reordered: what `feed` and `finish` return,
    joined, is the reply (without its reasoning block). Nothing of a refusal is
    returned. Text is held back only while it may become a refusal: of a reply that
    does not begin like one no more than that shows; of any other at most its first
    two sentences, or 300 characters from the first that is no blank. Pieces may be
    cut anywhere; the decision depends on the whole text alone and equals
    `is_refusal`.

    An empty, blank or missing reply is no answer: it counts as declined. A reply that
    breaks off inside the sentinel ("unanswer") answers.

    Args:
        sentinel: What the model was told to write when it declines; several are
            possible. None: the sentinels of `rules`.
        rules: How a refusal is recognised; None for the default.
        final: For the last step, whose reply stands whatever it says: nothing is
            held back, and the decision is made all the same.
    """

    def __init__(
        self,
        sentinel: str | Sequence[str] | None = None,
        *,
        rules: DeclineRules | None = None,
        final: bool = False,
    ) -> None:
        self.rules = as_decline_rules(sentinel, rules)
        self._final = final
        self._reasoning = ReasoningFilter(self.rules.reasoning_tags)
        self._decision: Decision = "undecided"
        self._pieces: list[str] = []
        self._released = 0
        self._opening = ""
        """What is judged: no blanks before it, and no more than decides."""

    @property
    def decision(self) -> Decision:
        """What is known so far; "undecided" at the latest until `finish`."""
        return self._decision

    @property
    def text(self) -> str:
        """All text so far, the held-back or swallowed included, without reasoning."""
        return "".join(self._pieces)

    def feed(self, delta: str) -> str:
        """Take the next piece of the reply.

        Args:
            delta: Any number of characters, none included.

        Returns:
            The text to hand on now. After "declined" always empty.
        """
        return self._take(self._reasoning.feed(delta), ended=False)

    def finish(self) -> str:
        """End the reply, which decides it. A second call changes nothing.

        Returns:
            The rest of the text to hand on: empty when the reply declines.
        """
        return self._take(self._reasoning.finish(), ended=True)

    def _take(self, text: str, *, ended: bool) -> str:
        if text:
            self._pieces.append(text)
        if self._decision == "undecided" and (text or ended):
            self._opening = (self._opening + text).lstrip()[: LONGEST_OPENING + 1]
            self._decision = judge(self._opening, self.rules, ended=ended)
        if not self._final and self._decision != "answering":
            return ""
        fresh = "".join(self._pieces[self._released :])
        self._released = len(self._pieces)
        return fresh
