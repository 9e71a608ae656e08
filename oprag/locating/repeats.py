"""Whether a text says something twice, asked of long texts many times.

A few places of the text are written down, so that each question looks at a few, and
never searches the text.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import accumulate

_TWICE = 2
_MANY = 40
"""Places of a part of a line that are looked at, at most: with more it is not rare."""
_LINE = 24
"""Characters at the beginning of lines that tell most of them apart."""
_WORDS = re.compile(r"^\s+|\S+\s*")


class CountedText:
    """A text in which others are counted, many of them.

    Args:
        text: In bytes, which are compared faster.
    """

    def __init__(self, text: bytes) -> None:
        self._of_long, self._of_short = _Grid(text, 24, 32), _Grid(text, 12, 8)

    def has_twice(self, part: bytes) -> bool:
        """Return whether a part is in it twice, and no more often.

        Args:
            part: At least 19 characters, which are there twice or more often.
        """
        if len(part) >= self._of_long.shortest:
            is_twice = self._of_long.has_twice(part)
            if is_twice is not None:
                return is_twice
        return self._of_short.has_twice(part) is True


class _Grid:
    """The text at regular places of a longer text.

    Args:
        text: The text.
        length: Characters that are stored for each place.
        stride: Characters from one place to the next.
    """

    def __init__(self, text: bytes, length: int, stride: int) -> None:
        self._text, self._length, self._stride = text, length, stride
        self.shortest = length + stride - 1
        """Characters of a part, at least, so that one of its places is among them."""

    @cached_property
    def _places(self) -> tuple[dict[bytes, int], list[int]]:
        """The last place of each text, and of each place the one before it, or -1.

        In numbers alone: a list for each text takes longer to make.
        """
        text, length = self._text, self._length
        places = range(0, len(text) - length + 1, self._stride)
        said = [text[at : at + length] for at in places]
        last: dict[bytes, int] = {}
        before = list[int]()
        for number, each in enumerate(said):
            before.append(last.get(each, -1))
            last[each] = number
        return last, before

    @cached_property
    def _counts(self) -> dict[bytes, int]:
        """How often each stored text occurs."""
        last, before = self._places
        said = [text for text, number in last.items() if before[number] >= 0]
        counts = dict.fromkeys(last, 1)
        for each in said:
            number = last[each]
            while (number := before[number]) >= 0:
                counts[each] += 1
        return counts

    def has_twice(self, part: bytes) -> bool | None:
        """Return whether a part is in the text twice, and no more often.

        Wherever it is, one of its first places is a stored one, and so is one of its
        next. So it is not there more often than any of these.

        Returns:
            None if it may be in too many places to look at each.
        """
        bounds = list[int]()
        length, get = self._length, self._counts.get
        for first in range(0, len(part) - self.shortest + 1, self._stride):
            places = range(first, first + self._stride)
            bounds.append(sum([get(part[at : at + length], 0) for at in places]))
            if bounds[-1] <= _TWICE:
                return bounds[-1] == _TWICE
        if min(bounds) > _MANY:
            return None
        first = bounds.index(min(bounds)) * self._stride
        return self._count_places(part, first) == _TWICE

    def _count_places(self, part: bytes, first: int) -> int:
        """Count the places of a part, by its text from one of its places on."""
        last, before = self._places
        count = 0
        for ahead in range(first, first + self._stride):
            number = last.get(part[ahead : ahead + self._length], -1)
            while number >= 0:
                start = number * self._stride - ahead
                count += start >= 0 and self._text.startswith(part, start)
                number = before[number]
        return count


def has_repeated_run(text: str, length: int) -> bool:
    """Return whether a text has a run of about so many characters twice.

    Wherever it is, a line begins near its beginning, or at least a word.
    """
    units = text.splitlines(keepends=True)
    size = length - max(map(len, units), default=0)
    if size < _LINE:
        units, size = _WORDS.findall(text), length // 2
    starts = [*accumulate(map(len, units[:-1]), initial=0)]
    parts = [text[at : at + size] for at in starts]
    if len({*parts}) == len(parts):
        return False
    seen = dict[str, int]()
    shift = reach = 0
    for at, part in zip(starts, parts, strict=True):
        first = seen.setdefault(part, at)
        if first == at or (at - first == shift and at < reach):
            continue  # not there before, or in the run that was measured last
        shift = at - first
        low, reach = _find_run(text, first, at)
        if reach - low >= length:
            return True
    return False


def _find_run(text: str, first: int, second: int) -> tuple[int, int]:
    """Return the range around a place in which the text is as around another."""
    low, high, shift = second, second, second - first
    while low > shift and text[low - 1] == text[low - 1 - shift]:
        low -= 1
    while high < len(text) and text[high] == text[high - shift]:
        high += 1
    return low, high
