"""Where pieces of a text stand when some are missing, altered, or leave gaps.

What holds even then: a piece that occurs once in the whole text stands there, and
the others stand between such pieces in their order. A place is proved when it is
both the earliest and the latest that the order allows. Text and pieces are without
white space here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeGuard

from oprag.contiguity import Range, cover

__all__ = ["anchor"]

_ABSENT = -1
_REPEATED = -2

_SEED = 16
_SEEDS_LOG2 = 20
"""A text has at most two to this power of seeds, so longer texts have longer ones."""

_REACH = 1 << 16
_SCANS = 64
"""How far one piece is searched: `_REACH` characters, or its share of reading the
text this many times over. Where nothing is unique, that keeps the time linear."""


def anchor(text: str, pieces: Sequence[str], *, complete: bool) -> list[Range | None]:
    """Find where pieces stand that do not cover the text without a gap.

    Splitters that are applied one after another may step back where the outer
    chunks overlap. How far is seen on the pieces that occur once; twice that is
    allowed for everywhere.

    Args:
        text: The text, without white space.
        pieces: The pieces in order, none empty: none ends earlier than the one
            before it, but for such steps.
        complete: No piece was left out. Then pieces between two proved ones are
            taken to cover what lies between them, where they can, unless other
            pieces show that text was lost.

    Returns:
        For each piece the first and the last start that it may have; where they
        are equal its place is proved. None where it was not found.
    """
    seeds = _Seeds(text)
    once = [seeds.only(piece) for piece in pieces]
    copies = Counter(pieces)
    fences = {
        i: start + len(piece)
        for i, (start, piece) in enumerate(zip(once, pieces, strict=True))
        if start >= 0 and copies[piece] == 1
    }
    back = 2 * _step_back(fences.values())
    if complete and back:
        whole = cover(text, pieces, 0, len(text) - len(pieces[-1]), back)
        if whole:
            return list(whole)
    places: list[Range | None] = [(at, at) if at >= 0 else None for at in once]
    unknown = {i: pieces[i] for i, at in enumerate(once) if at == _REPEATED}
    for i, place in _in_order(text, unknown, fences, back).items():
        places[i] = place
    if complete and not _leaves_gaps(pieces, places):
        _cover_between(text, pieces, places, back)
    return places


def _step_back(ends: Iterable[int]) -> int:
    """How far an end lies behind one before it, at most."""
    step = furthest = 0
    for end in ends:
        furthest = max(furthest, end)
        step = max(step, furthest - end)
    return step


def _in_order(
    text: str, pieces: dict[int, str], fences: dict[int, int], back: int
) -> dict[int, Range]:
    """Find the first and the last start of each piece that the order allows.

    Args:
        text: The text.
        pieces: The pieces to find, by number. Those not found are passed over.
        fences: Where the pieces that occur once end, by number.
        back: How far a piece may end before an earlier one.
    """
    numbers = sorted({*pieces, *fences})
    fence = len(text)
    ahead: dict[int, int] = {}
    for i in reversed(numbers):
        fence = ahead[i] = min(fence, fences.get(i, fence))

    reach = max(_REACH, _SCANS * len(text) // (len(pieces) + 1))
    first: dict[int, int] = {}
    end, far = 0, reach
    for i in numbers:
        if i in fences:
            end, far = max(end, fences[i]), reach
            continue
        size = len(pieces[i])
        low = max(end - back - size, 0)
        start = text.find(pieces[i], low, min(ahead[i] + back, end + far))
        if start < 0:
            far += size
        else:
            first[i] = start
            end, far = max(end, start + size), reach

    places: dict[int, Range] = {}
    end, far = len(text), reach
    for i in reversed(numbers):
        if i in fences:
            end, far = min(end, fences[i]), reach
        elif i in first:
            stop = end + back
            start = text.rfind(pieces[i], max(first[i], stop - far), stop)
            if start < 0:
                places[i] = (first[i], len(text))
                far += len(pieces[i])
            else:
                places[i] = (first[i], start)
                end, far = min(end, start + len(pieces[i])), reach
    return places


def _leaves_gaps(pieces: Sequence[str], places: Sequence[Range | None]) -> bool:
    """Whether text is lost between two pieces in a row: then some were left out."""
    return any(
        _is_proved(place) and _is_proved(after) and place[0] + len(piece) < after[0]
        for piece, (place, after) in zip(pieces, pairwise(places), strict=False)
    )


def _cover_between(
    text: str, pieces: Sequence[str], places: list[Range | None], back: int
) -> None:
    """Prove places by contiguity: from one proved piece to the next without a gap."""
    # Before the first piece and after the last the text itself is the proof.
    known = [(i, at[0]) for i, at in enumerate(places) if _is_proved(at)]
    known = [(-1, 0), *known, (len(pieces), len(text) - len(pieces[-1]))]
    for (before, first), (after, last) in pairwise(known):
        part = slice(max(before, 0), after + 1)
        if after - before > 1 and None not in places[part]:
            places[part] = cover(text, pieces[part], first, last, back) or places[part]


def _is_proved(place: Range | None) -> TypeGuard[Range]:
    return place is not None and place[0] == place[1]


class _Seeds:
    """Equally spaced short strings of a text, to see what occurs once or nowhere."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = max(_SEED, len(text) >> _SEEDS_LOG2)
        self._starts: dict[str, int] = {}
        for start in range(0, len(text) - self.size + 1, self.size):
            seed = text[start : start + self.size]
            self._starts[seed] = _REPEATED if seed in self._starts else start

    def only(self, piece: str) -> int:
        """Return where a piece starts if it occurs once in the text.

        Otherwise `_ABSENT` if it surely does not occur, else `_REPEATED`: it may
        occur any number of times. A piece shorter than two seeds is not looked up.
        """
        window = 2 * self.size - 1
        for begin in range(0, len(piece) - window + 1, window):
            starts = self._candidates(piece, begin)
            if starts is None:
                continue
            found = [s for s in starts if s >= 0 and self.text.startswith(piece, s)]
            if len(found) > 1:
                return _REPEATED
            return found[0] if found else _ABSENT
        return _REPEATED

    def _candidates(self, piece: str, begin: int) -> list[int] | None:
        """All starts of a piece that a seed in the window from `begin` allows.

        Wherever the piece stands, one seed lies wholly in the window. None when
        one of them is itself repeated in the text.
        """
        starts = []
        for at in range(begin, begin + self.size):
            start = self._starts.get(piece[at : at + self.size], _ABSENT)
            if start == _REPEATED:
                return None
            if start >= 0:
                starts.append(start - at)
        return starts
