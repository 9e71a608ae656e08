"""Counts of a text's parts, added up where tokenisation begins anew anyway."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from oprag.splitting.joints import SPACE_JOINT, last_joint
from oprag.tokens import NamedTokenCounter, joints_of, tokens_before

_SPACE_JOINTS = frozenset(chr(code) + " " for code in range(ord("!"), ord("~") + 1))
_KEPT_COUNTS = 10_000  # of single words and blanks, which come again and again


class PartCounts:
    """What each part of a text, between given places, counts alone.

    A counter with joints sees the text once: the count of a part is
    a sum, corrected at its two ends, where it may begin or end inside a token. Other
    counters, and parts whose ends depend on the text around them, count each time.

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
        # What a part counts is what stands at its end less what stands at its begin.
        # None where a place cannot be told apart from the text around it.
        self._ends: list[int | None] = [None] * len(places)
        self._joints: dict[int, int] = {}
        self._count_word = lru_cache(_KEPT_COUNTS)(counter.count)
        joints = joints_of(counter)
        if joints is not None:
            self._measure(joints)

    def reach(self, first: int, limit: int) -> tuple[int, int]:
        """Take parts in order while together they count at most so many tokens.

        Args:
            first: Number of the place to begin at.
            limit: Tokens.

        Returns:
            Number of the place reached, and the tokens up to there; `first` and 0
            when not even one part fits.
        """
        begin = self._begin(first)
        counted = 0
        for last in range(first + 1, len(self._places)):
            end = self._ends[last]
            if begin is None or end is None:
                start, stop = self._places[first], self._places[last]
                tokens = self._counter.count(self._text[start:stop])
            else:
                tokens = end - begin
            if tokens > limit:
                return last - 1, counted
            counted = tokens
        return len(self._places) - 1, counted

    def _begin(self, number: int) -> int | None:
        """What a part that begins here counts less than one that begins at 0."""
        if number not in self._joints:
            return None
        joint, until = self._joints[number], self._ends[number]
        text, place = self._text, self._places[number]
        if until is None or joint == place:
            return until
        # What crosses the place is other tokens in a part that begins there.
        found = SPACE_JOINT.search(text, place, self._places[number + 1])
        if found is None:
            return None
        right = found.start() + 1
        count = self._count_word
        crossing = count(text[joint:right]) - count(text[place:right])
        return until - count(text[joint:place]) + crossing

    def _measure(self, joints: re.Pattern[str]) -> None:
        """Count up to the last joint before each place, and from there to it."""
        text, places = self._text, self._places
        count = self._count_word
        self._joints = _joints_before(text, places, joints)
        ends = [*self._joints.values(), len(text)]
        *sums, self._ends[-1] = tokens_before(text, ends, self._counter)
        for number, joint, tokens in zip(
            self._joints, self._joints.values(), sums, strict=True
        ):
            ending = text[joint : places[number]]
            self._ends[number] = tokens + count(ending) if ending else tokens
        self._joints[0] = self._ends[0] = 0


def _joints_before(
    text: str, places: Sequence[int], joints: re.Pattern[str]
) -> dict[int, int]:
    """Find the last joint between each inner place and the one before it, by number.

    Places without one are left out.
    """
    found = {}
    for number in range(1, len(places) - 1):
        earlier, place = places[number - 1], places[number]
        if text[place - 2 : place] in _SPACE_JOINTS and place - 1 > earlier:
            found[number] = place - 1  # the usual case, faster than the pattern
        elif joints.match(text, place - 1):
            found[number] = place
        else:
            joint = last_joint(text, earlier, place)
            if joint > earlier:
                found[number] = joint
    return found
