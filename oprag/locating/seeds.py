"""A test whether pieces occur in a text once, or nowhere, without searching it.

A short string that is neither rare nor frequent in the text serves as a mark. The
seeds of the text, which begin at the marks, are kept by content. A piece that holds a
mark occurs only where its seed does: in at most one place if the seed is unique.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

ABSENT = -1
UNKNOWN = -2

SEED = 24
"""Characters of a seed: enough for most to be unique, little to store."""

_LEAST_SPACING, _MOST_SPACING = 16, 64
"""Characters from one mark to the next, about: close if pieces are short."""

_SAMPLE = 1 << 13
"""Characters in which the strings are counted to choose the mark."""


def starts_of(piece: str, text: str) -> Iterator[int]:
    """Yield where a piece starts in a text, ascending; nowhere if it is empty."""
    at = text.find(piece) if piece else ABSENT
    while at >= 0:
        yield at
        at = text.find(piece, at + 1)


class Stretch(NamedTuple):
    """Characters that a text and a piece have in common."""

    at: int
    """Their start in the text."""
    start: int
    """Their start in the piece."""
    end: int
    """Their end in the piece."""


def spacing_for(pieces: Iterable[str]) -> int:
    """Return the characters between marks that fit such pieces: one of four numbers."""
    lengths = sorted(map(len, filter(None, pieces))) or [0]
    quarters = ceil(lengths[len(lengths) // 4] / 4 / _LEAST_SPACING)
    return min(max(quarters, 1) * _LEAST_SPACING, _MOST_SPACING)


class Seeds:
    """The seeds of a text, to look up pieces; the spacing decides which are found."""

    def __init__(self, text: str, spacing: int) -> None:
        self._text = text
        self._mark = _choose_mark(text, spacing)
        self._starts: dict[str, int] = {}
        for start in starts_of(self._mark, text):
            seed = text[start : start + SEED]
            self._starts[seed] = UNKNOWN if seed in self._starts else start

    def only(self, piece: str) -> int:
        """Return where a piece starts if it occurs once in the text.

        Else `ABSENT` if it does not occur, or `UNKNOWN`: it occurs more than once,
        or is too short or too repetitive to tell.
        """
        at = piece.find(self._mark) if self._mark else -1
        while 0 <= at <= len(piece) - SEED:
            start = self._starts.get(piece[at : at + SEED], ABSENT)
            if start != UNKNOWN:
                found = start >= at and self._text.startswith(piece, start - at)
                return start - at if found else ABSENT
            at = piece.find(self._mark, at + 1)
        return UNKNOWN

    def stretches(self, piece: str) -> list[Stretch]:
        """Return the stretches that a piece shares with the text, by unique seeds."""
        found: list[Stretch] = []
        reached = 0
        at = piece.find(self._mark) if self._mark else -1
        while 0 <= at <= len(piece) - SEED:
            start = self._starts.get(piece[at : at + SEED], ABSENT)
            if start >= 0 and at >= reached:
                found.append(stretch_at(self._text, start, piece, at))
                reached = found[-1].end
            at = piece.find(self._mark, at + 1)
        return found

    def searched(self, piece: str) -> int:
        """Look up as `only` does, but `UNKNOWN` surely means more than one place."""
        at = self.only(piece)
        if at == UNKNOWN:
            at = self._text.find(piece)
            if at >= 0 and self._text.find(piece, at + 1) >= 0:
                return UNKNOWN
        return at


def stretch_at(
    text: str, start: int, piece: str, at: int, *, back: bool = True
) -> Stretch:
    """Return how far a text and a piece agree after a place in both, or around it."""
    before = after = 0
    most = min(start, at) if back else 0
    while before < most and text[start - before - 1] == piece[at - before - 1]:
        before += 1
    most = min(len(text) - start, len(piece) - at)
    while after < most and text[start + after] == piece[at + after]:
        after += 1
    return Stretch(start - before, at - before, at + after)


def held(flat: str, pieces: Sequence[str]) -> set[int]:
    """Return the numbers of the pieces that a text holds; all without white space."""
    seeds = Seeds(flat, spacing_for(pieces))
    found = set()
    for number, piece in enumerate(pieces):
        at = seeds.only(piece) if piece else ABSENT
        if at >= 0 or (at == UNKNOWN and piece in flat):
            found.add(number)
    return found


def _choose_mark(text: str, spacing: int) -> str:
    """Return the shortest string that marks a text often enough but not too often.

    It occurs about once in `spacing` characters. Empty if there is none, as in a
    text of one character.
    """
    middle = max(len(text) - _SAMPLE, 0) // 2
    sample = text[middle : middle + _SAMPLE]
    for size in (1, 2, 4, 8):
        counts = Counter(sample[at : at + size] for at in range(len(sample)))
        wanted = len(sample) / spacing
        mark = min(counts, key=lambda string: abs(counts[string] - wanted), default="")
        if text.count(mark) * spacing <= 4 * len(text):
            return mark
    return ""
