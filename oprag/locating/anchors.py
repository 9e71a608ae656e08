"""Places of pieces of a text when some are missing, altered, or leave gaps.

Even then, a piece that occurs once in the whole text has its place there, and the
others keep their order between such pieces. A place is proved when it is both
the earliest and the latest that the order allows. Text and pieces are without
white space here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from oprag.locating.contiguity import STEP, Range, cover
from oprag.locating.seeds import UNKNOWN, Seeds, spacing_for

_REACH = 1 << 16
_READINGS = 64
"""How far one piece is searched: `_REACH` characters, or its share of reading the
text this many times over. If nothing is unique, that keeps the time linear."""


def anchor(
    text: str, pieces: Sequence[str], *, complete: bool, gaps: Sequence[int] = ()
) -> list[Range | None]:
    """Find the places of pieces, by contiguity if they cover the text without a gap.

    Splitters that are applied one after another step back where the outer chunks
    overlap. How far is seen on the pieces that occur once; twice that is allowed
    for everywhere, and at least 1,024 characters in a sample.

    Args:
        text: The text, without white space.
        pieces: The pieces in order, none empty: none ends earlier than the one
            before it, but for such steps.
        complete: No piece was left out. Then pieces between two proved ones are
            taken to cover the text between them, if they can.
        gaps: How many characters may be missing after each piece; empty for none.

    Returns:
        For each piece the first and the last start that it may have; if they are
        equal, its place is proved. None if it was not found.
    """
    if not pieces:
        return []
    last = len(text) - len(pieces[-1])
    whole = cover(text, pieces, 0, last, gaps=gaps) if complete else None
    if whole:
        return list(whole)
    seeds = Seeds(text, spacing_for(pieces))
    once = [seeds.only(piece) for piece in pieces]
    ends = [at + len(pieces[i]) for i, at in enumerate(once) if at >= 0]
    back = 2 * _step_back(ends)
    if not complete:
        return _in_order(text, pieces, once, max(back, STEP))
    whole = cover(text, pieces, 0, last, max(back, STEP), gaps=gaps)
    if whole:
        return list(whole)
    places = _in_order(text, pieces, once, back)
    _cover_between(text, pieces, places, back, gaps)
    return places


def _step_back(ends: Iterable[int]) -> int:
    """Return the largest step back of an end from the furthest one before it."""
    step = furthest = 0
    for end in ends:
        furthest = max(furthest, end)
        step = max(step, furthest - end)
    return step


def _in_order(
    text: str, pieces: Sequence[str], once: Sequence[int], back: int
) -> list[Range | None]:
    """Find the first and the last start of each piece that the order allows."""
    places: list[Range | None] = [(at, at) if at >= 0 else None for at in once]
    fences = {i: at + len(pieces[i]) for i, at in enumerate(once) if at >= 0}
    unknown = {i: pieces[i] for i, at in enumerate(once) if at == UNKNOWN}
    first = _earliest(text, unknown, fences, back)
    for i, start in _latest(text, unknown, fences, back, first).items():
        places[i] = (first[i], start)
    return places


def _earliest(
    text: str, pieces: dict[int, str], fences: dict[int, int], back: int
) -> dict[int, int]:
    """Find the first start of each piece that the order allows."""
    numbers = sorted({*pieces, *fences})
    fence = len(text)
    ahead: dict[int, int] = {}
    for i in reversed(numbers):
        fence = ahead[i] = min(fence, fences.get(i, fence))
    first: dict[int, int] = {}
    end, reach = 0, _reach(text, pieces)
    far = reach
    for i in numbers:
        if i in fences:
            end, far = max(end, fences[i]), reach
            continue
        size = len(pieces[i])
        stop = min(ahead[i] + back, end + far)
        start = text.find(pieces[i], max(end - back - size, 0), stop)
        if start < 0:
            far += size
        else:
            first[i] = start
            end, far = max(end, start + size), reach
    return first


def _latest(
    text: str,
    pieces: dict[int, str],
    fences: dict[int, int],
    back: int,
    first: dict[int, int],
) -> dict[int, int]:
    """Find the last start of each piece that has a first one.

    The arguments are those of `_earliest` and its result. If the search ends in
    vain, at its reach or because others leave no room, the last start is not
    known and is given as the end of the text.
    """
    last: dict[int, int] = {}
    end, reach = len(text), _reach(text, pieces)
    far = reach
    for i in sorted({*first, *fences}, reverse=True):
        if i in fences:
            end, far = min(end, fences[i]), reach
            continue
        stop = end + back
        start = text.rfind(pieces[i], max(first[i], stop - far), stop)
        if start < 0:
            last[i] = len(text)
            far += len(pieces[i])
        else:
            last[i] = start
            end, far = min(end, start + len(pieces[i])), reach
    return last


def _reach(text: str, pieces: dict[int, str]) -> int:
    return max(_REACH, _READINGS * len(text) // (len(pieces) + 1))


def _cover_between(
    text: str,
    pieces: Sequence[str],
    places: list[Range | None],
    back: int,
    gaps: Sequence[int],
) -> None:
    """Prove places by contiguity: from one proved piece to the next without a gap."""
    known = [(i, at[0]) for i, at in enumerate(places) if at and at[0] == at[1]]
    # Before the first piece and after the last the text itself is the proof.
    known = [(-1, 0), *known, (len(pieces), len(text) - len(pieces[-1]))]
    for (before, first), (after, last) in pairwise(known):
        part = slice(max(before, 0), after + 1)
        if after - before > 1 and None not in places[part]:
            found = cover(text, pieces[part], first, last, back, gaps=gaps[part])
            places[part] = found or places[part]
