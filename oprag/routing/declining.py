"""Tells from a stream, as early as can be, whether the model declines to answer.

There is one set of rules, `refusals.is_refusal`, and no second grammar here: a
text may still become a refusal when one of a few shortest endings makes it one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from oprag.calls import ReasoningFilter
from oprag.routing.refusals import DeclineRules, as_decline_rules, declines, shortened

Decision: TypeAlias = Literal["undecided", "answering", "declined"]

_ANYTHING_ELSE = "\ua66e. \ua66e"
"""Prolongs the last word by a letter in no rule and begins a new sentence: only a
text that is a refusal whatever follows is one with this behind it."""


class DeclineDetector:
    """Takes a reply piece by piece, releases it once it cannot be a refusal.

    No character of an answer is lost or reordered: what `feed` and `finish` return,
    joined, is the reply (without its reasoning block). Nothing of a refusal is
    returned. Text is held back only while some continuation
    could make it a refusal. Pieces may be cut anywhere; the decision depends on
    the whole text alone and equals `is_refusal`.

    An empty, blank or missing reply is no answer: it counts as declined (see
    `empty`). A reply that breaks off inside the sentinel ("unanswer") answers.

    Args:
        sentinel: What the model was told to write when it declines; several are
            possible. None: the sentinels of `rules`.
        rules: Words and marks of refusals; None: English.
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
        self._judged = ""
        """The text as far as it was judged, shortened."""
        self._open: set[str] = set()
        """What was found to be undecided; in a long run the same comes again."""

    @property
    def decision(self) -> Decision:
        """What is known so far; "undecided" at the latest until `finish`."""
        return self._decision

    @property
    def text(self) -> str:
        """All text so far, the held-back or swallowed included, without reasoning."""
        return "".join(self._pieces)

    @property
    def empty(self) -> bool:
        """Whether there is nothing in the text so far but blanks and marks."""
        return not self.rules.fold(self.text)

    def feed(self, delta: str) -> str:
        """Take the next piece of the reply.

        Args:
            delta: Any number of characters, none included.

        Returns:
            The text to hand on now. After "declined" always empty.
        """
        return self._take(self._reasoning.feed(delta))

    def finish(self) -> str:
        """End the reply, which decides it. A second call changes nothing.

        Returns:
            The rest of the text to hand on: empty when the reply declines.
        """
        released = self._take(self._reasoning.finish())
        if self._decision == "undecided":
            refused = declines(self._judged, self.rules)
            self._decision = "declined" if refused else "answering"
            released += self._release()
        return released

    def _take(self, text: str) -> str:
        if text:
            self._pieces.append(text)
            if self._decision == "undecided":
                self._judge(text)
        return self._release()

    def _judge(self, text: str) -> None:
        self._judged = shortened(self._judged + text, self.rules)
        if self._judged not in self._open:
            self._decision = decision_so_far(self._judged, self.rules)
            self._open.add(self._judged)

    def _release(self) -> str:
        if not self._final and self._decision != "answering":
            return ""
        fresh = "".join(self._pieces[self._released :])
        self._released = len(self._pieces)
        return fresh


def decision_so_far(text: str, rules: DeclineRules | None = None) -> Decision:
    """Say what the beginning of a reply allows, its reasoning block taken off.

    Args:
        text: The reply up to now, from its first character.
        rules: Words and marks; None: English.

    Returns:
        "declined" when every continuation, none included, is a refusal;
        "answering" when no continuation is one; else "undecided".
    """
    rules = rules or DeclineRules()
    text = shortened(text, rules)
    if _would_decline(text, _ANYTHING_ELSE, rules):
        return "declined"
    if any(_would_decline(text, ending, rules) for ending in _endings(text, rules)):
        return "undecided"
    return "answering"


def _would_decline(text: str, ending: str, rules: DeclineRules) -> bool:
    return declines(shortened(text + ending, rules), rules)


def _endings(folded: str, rules: DeclineRules) -> Iterator[str]:
    """Return endings of which one makes a refusal if any ending does.

    The last word or phrase may be unfinished: each word of the rules that begins
    with it finishes it. Then comes the shortest way on from each place in a
    sentence.
    """
    vocabulary = _vocabulary(rules)
    rests = [""]
    for start in range(max(0, len(folded) - vocabulary.longest), len(folded)):
        if start == 0 or not folded[start - 1].isalnum():
            begun = folded[start:].replace("\n", " ")
            rests.extend(vocabulary.rests.get(begun, ()))
    for rest in rests:
        for way in vocabulary.ways:
            yield rest + way


class _Vocabulary:
    """The rests of all words of the rules, and the shortest ways to a sentinel."""

    def __init__(self, rules: DeclineRules) -> None:
        sentinels = rules.folded(rules.sentinels)
        subject, predicate, contraction = (
            min(rules.folded(words), key=_length, default="")
            for words in (rules.subjects, rules.predicates, rules.contractions)
        )
        self.ways = [
            "",
            *(
                f"{before} {sentinel}"
                for before in ("", ":", f" {predicate}", f" {subject} {predicate}")
                for sentinel in sentinels
            ),
            *(f" {contraction} {sentinel}" for sentinel in sentinels),
        ]
        words = rules.words
        self.longest = max(map(len, words))
        self.rests: dict[str, list[str]] = {}
        for word in words:
            for cut in range(1, len(word)):
                self.rests.setdefault(word[:cut], []).append(word[cut:])


def _length(phrase: str) -> tuple[int, int]:
    return len(phrase.split()), len(phrase)


@functools.lru_cache(maxsize=64)
def _vocabulary(rules: DeclineRules) -> _Vocabulary:
    return _Vocabulary(rules)
