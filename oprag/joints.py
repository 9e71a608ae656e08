"""Counts of a text's parts, added up where tokenisation begins anew anyway."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from oprag.tokens import NamedTokenCounter

__all__ = ["SPACE_JOINT", "PartCounts", "last_joint"]

SPACE_JOINT = re.compile("[!-~] ")
"""The two characters of a joint for every counter with `additive_at_spaces`."""

_KEPT_COUNTS = 10_000  # of single words and blanks, which come again and again


class _End(NamedTuple):
    """An end that parts of a text have in common."""

    before: int
    """Tokens of the text up to the last joint before the end."""
    ending: int
    """Tokens between that joint and the end, for a part that ends there."""
    beginning: int
    """What a part that begins at the end counts more than one from that joint on."""


def last_joint(text: str, start: int, end: int) -> int:
    """Find the last place between two others where the counts of both sides add up.

    That is before a space that follows a printable ASCII character, for counters
    with `additive_at_spaces`.

    Returns:
        The place, `start < place < end`, or `start` when there is none.
    """
    space = text.rfind(" ", start + 1, end)
    while space > start and not "!" <= text[space - 1] <= "~":
        space = text.rfind(" ", start + 1, space)
    return max(space, start)


class PartCounts:
    """Own counts of the parts of a text between given places.

    A counter with `additive_at_spaces` sees the text once: the count of a part is
    a sum, corrected at its two ends, where the part may begin or end in the middle
    of a token. All others, and parts whose ends cannot be told apart from the rest,
    are counted anew each time.

    Args:
        text: The text.
        places: Ascending, the first 0, the last the text's length.
        counter: The counter.
    """

    def __init__(
        self, text: str, places: Sequence[int], counter: NamedTokenCounter
    ) -> None:
        self._text = text
        self._places = places
        self._counter = counter
        self._ends: list[_End | None] = [None] * len(places)
        if counter.additive_at is not None:
            self._measure(counter.additive_at)

    def count(self, first: int, last: int) -> int:
        """Count `text[places[first]:places[last]]`, `first < last`."""
        begin, end = self._ends[first], self._ends[last]
        if begin is None or end is None:
            return self._counter(self._text[self._places[first] : self._places[last]])
        return end.before - begin.before + begin.beginning + end.ending

    def _measure(self, joints: re.Pattern[str]) -> None:
        """Count from joint to joint, each the last before a place."""
        text, places, counter = self._text, self._places, self._counter
        count_word = lru_cache(_KEPT_COUNTS)(counter)
        self._ends[0] = _End(0, 0, 0)
        reached = tokens = 0
        for number in range(1, len(places) - 1):
            earlier, place, later = places[number - 1 : number + 2]
            if joints.match(text, place - 1):
                joint = right = place
            else:
                joint = last_joint(text, earlier, place)
                found = SPACE_JOINT.search(text, place, later)
                if joint == earlier or found is None:
                    continue
                right = found.start() + 1
            tokens += counter(text[reached:joint])
            reached = joint
            ending = count_word(text[joint:place])
            beginning = count_word(text[place:right]) - count_word(text[joint:right])
            self._ends[number] = _End(tokens, ending, beginning)
        self._ends[-1] = _End(tokens + counter(text[reached:]), 0, 0)
