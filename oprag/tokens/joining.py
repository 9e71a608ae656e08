"""What joining texts adds to their tokens.

Tokens do not add up: tiktoken reads `"end."` and two line breaks as one piece, which
may take more or fewer tokens joined than apart. Only what stands around each joint is
counted; `NamedTokenCounter.additive_at` tells how far that reaches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from oprag.tokens.counters import NamedTokenCounter

_PLAIN_END = r"[0-9A-Za-z][ \n!-/:-@\[-`{-~‘’“”…–—]{0,5}\Z"
_PLAIN_START = r"[ \n]{0,3}[^\s/]"  # o200k takes "/" to lines before it

SPACE_JOINT = re.compile("[!-~] ")
"""The two characters of a joint for every counter with `additive_at_spaces`."""

_KEPT_KINDS = 4096
"""Ends and beginnings of which is kept what a joint adds; prose has some dozens."""


def joint_counter(counter: NamedTokenCounter, joint: str) -> JointCounter:
    """Return a `JointCounter`, kept where the counter is known by name."""
    return _kept(counter, joint) if counter.by_name else JointCounter(counter, joint)


class JointCounter:
    """What one and the same joint adds to the tokens of the texts around it.

    Args:
        counter: One that is `subadditive` or `additive_at_spaces`.
        joint: What is put between the texts.
    """

    def __init__(self, counter: NamedTokenCounter, joint: str) -> None:
        spaced = joint[:1].isspace() and joint[-1:].isspace()
        bounded = counter.subadditive and (spaced or counter.additive_at is None)
        self.counter = counter
        self.joint = joint
        self._always = counter(joint) if bounded else None
        self._additive = None if joint else counter.additive_at
        # How the patterns of tiktoken read line breaks; others may look further.
        breaks = joint.startswith("\n") and joint.endswith("\n")
        self._plain = breaks and counter.tokenizer is not None
        self._seen: dict[tuple[str | None, str | None], int] = {}

    @cached_property
    def tokens(self) -> int:
        """Tokens of the joint by itself."""
        return self.counter(self.joint)

    def __call__(self, left: str, right: str) -> int:
        """Return the tokens of `left + joint + right` less those of each text.

        For a `subadditive` counter at least that. It may be negative.
        """
        return self.between([left, right])

    def between(self, texts: Sequence[str]) -> int:
        """Return the tokens of all texts joined less those of each; likewise."""
        known = self.known(texts, texts[1:])
        if None not in known:
            return sum(known)  # type: ignore[arg-type]
        return added_by_joining(texts, [self] * len(known), known)

    def known(self, lefts: Sequence[str], rights: Sequence[str]) -> list[int | None]:
        """Return what joining adds where a text's end and the next one's start show it.

        Args:
            lefts: What stands on the left of each joint.
            rights: What stands on the right of it; as many, or one less.

        Returns:
            One number per text of `rights`; None where the texts have to be counted.
        """
        if self._always is not None:
            return [self._always] * len(rights)
        if self._additive:
            match = self._additive.match
            pairs = zip(lefts, rights, strict=False)
            return [0 if match(a[-1:] + b[:1]) else None for a, b in pairs]
        if not self._plain:
            return [None] * len(rights)
        # Between a letter or digit, perhaps with marks and blanks after it, and what
        # follows the next blanks, a joint that begins and ends with a line break takes
        # the same tokens whatever is there: no pattern goes on behind line breaks but
        # with more of them, and those of o200k with "/".
        ends = list(map(_marks_at_end, [left[-2:] for left in lefts]))
        starts = list(map(_space_at_start, [right[:2] for right in rights]))
        # Two characters mostly are enough, and there are fewer different ones.
        if None in ends:
            ends = [
                _marks_at_end(left[-6:]) if end is None else end
                for left, end in zip(lefts, ends, strict=True)
            ]
        if None in starts:
            starts = [
                _space_at_start(right[:4]) if start is None else start
                for right, start in zip(rights, starts, strict=True)
            ]
        kinds = list(zip(ends, starts, strict=False))
        if len(self._seen) > _KEPT_KINDS:
            self._seen.clear()
        for kind in set(kinds).difference(self._seen):
            self._learn(*kind)
        return list(map(self._seen.get, kinds))

    def _learn(self, marks: str | None, space: str | None) -> None:
        if marks is not None and space is not None:
            left, right = f"a{marks}", f"{space}b"
            joined = self.counter(left + self.joint + right)
            added = joined - self.counter(left) - self.counter(right)
            self._seen[marks, space] = added


_kept = lru_cache(maxsize=64)(JointCounter)


def added_by_joining(
    texts: Sequence[str], joints: Sequence[JointCounter], known: Sequence[int | None]
) -> int:
    """Return the tokens of all texts joined less those of each.

    Args:
        texts: In order.
        joints: What stands between them: one less, with the same counter.
        known: What `JointCounter.known` says of each of them.
    """
    total = sum([added for added in known if added is not None])
    # What is counted together: the end of a text, the beginning of one after it, and
    # whole texts between them, where these are too short to tell their ends apart.
    group: list[str] = []
    joined, last = "", -1
    for place, added in enumerate(known):
        if added is not None:
            continue
        count, right = joints[place].counter, texts[place + 1]
        if group and place != last + 1:
            total += _more(group, joined, count)
            group = []
        if not group:
            joined = _text_end(texts[place])
            group = [joined]
        head = _text_start(right)
        group.append(head)
        joined += joints[place].joint + head
        last = place
        if head is not right:
            total += _more(group, joined, count)
            group = []
    return total + _more(group, joined, joints[last].counter) if group else total


def _more(group: Sequence[str], joined: str, count: NamedTokenCounter) -> int:
    return count(joined) - sum(map(count, group))


@lru_cache(maxsize=4096)
def _marks_at_end(end: str) -> str | None:
    """What stands behind the last letter or digit; None where others do."""
    found = re.search(_PLAIN_END, end)
    return found and end[found.start() + 1 :]


@lru_cache(maxsize=4096)
def _space_at_start(start: str) -> str | None:
    """The blanks before the first character; None where there are others, or more."""
    found = re.match(_PLAIN_START, start)
    return found and found.group()[:-1]


def _text_end(text: str) -> str:
    """The end of a text that is tokenised on its own."""
    return text[last_joint(text, 0, len(text)) :]


def _text_start(text: str) -> str:
    """The beginning of a text that is tokenised on its own; all of it: the text."""
    place = SPACE_JOINT.search(text)
    return text[: place.start() + 1] if place else text


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
