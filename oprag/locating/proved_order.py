"""Whether chunks were handed over in the order in which their text has them.

`chunks_in_order` takes the order for granted, and text that repeats itself fits many
orders. Here the places are found without it:

- a text that occurs once in the source has its place there;
- chunks leave no gap. A character that only one text can cover is covered by a chunk
  of it. If as many such characters as there are chunks of that text lie so far apart
  that no chunk covers two, each of the chunks covers one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter

from oprag.locating.contiguity import Range, cover, joined
from oprag.locating.seeds import UNKNOWN, Seeds

_WITNESSES = 8
"""Chunks of known places that must be in order for an order to be believed.
Shuffled, so many are in order once in 40,320 times."""


def given_order(flat: str, pieces: Sequence[str]) -> tuple[list[int] | None, list[int]]:
    """Find the order of all pieces of a text, from their places and the order given.

    Pieces are ordered by their places where all are known; else the order given is
    believed where those whose places are known are in it, and no two neighbours could
    be exchanged. Pieces that do not occur, and empty ones, stay behind the piece that
    precedes them.

    Returns:
        Numbers of all pieces in reading order, or None where it is not known; and
        then the pieces that may be elsewhere.
    """
    as_given = list(range(len(pieces)))
    copies = Counter(piece for piece in pieces if piece)
    if len(copies) <= 1:
        return as_given, []
    known, several = _places(flat, copies)
    waiting = {piece: iter(ranges) for piece, ranges in known.items()}
    places = [next(waiting[p]) if p in waiting else None for p in pieces]
    order = _by_place(pieces, places)
    unsure = [i for i, piece in enumerate(pieces) if piece and places[i] is None]
    if order == as_given and not several:
        return order, []
    if order is not None and not unsure:
        return order, []
    if _is_believable(flat, pieces, places):
        return as_given, []
    return None, unsure or as_given


def _places(
    flat: str, copies: Mapping[str, int]
) -> tuple[dict[str, list[Range]], dict[str, int]]:
    """Find the first and last start of each copy of a text, whatever their order.

    Returns:
        Those of the texts whose places are known, ascending; and how many copies there
        are of the others that occur at all.
    """
    seeds = Seeds(flat, list(copies))
    known: dict[str, list[Range]] = {}
    doubtful: dict[str, int] = {}
    for piece, count in copies.items():
        at = seeds.searched(piece)
        if at == UNKNOWN:
            doubtful[piece] = count
        elif at >= 0:
            known[piece] = [(at, at)] * count
    while doubtful:
        found = _witnessed(flat, known, doubtful)
        if not found:
            break
        known.update(found)
        doubtful = {p: count for p, count in doubtful.items() if p not in found}
    return known, doubtful


def _starts(flat: str, piece: str, gaps: Sequence[Range]) -> Iterator[int]:
    """Yield the starts of a piece in a gap, or reaching into one."""
    size, start = len(piece), 0
    for low, high in gaps:
        start = flat.find(piece, max(start, low - size + 1), high + size - 1)
        while start >= 0:
            yield start
            start = flat.find(piece, start + 1, high + size - 1)
        start = max(start, 0)


def _witnessed(
    flat: str, known: Mapping[str, list[Range]], doubtful: Mapping[str, int]
) -> dict[str, list[Range]]:
    """Place the texts that alone can cover as many characters as they have copies."""
    sure = [
        (last, first + len(piece))
        for piece, ranges in known.items()
        for first, last in ranges
        if last < first + len(piece)
    ]
    gaps = _between(joined(sure), len(flat))
    starts = {piece: list(_starts(flat, piece, gaps)) for piece in doubtful}
    edges = []
    reaches = [(p, [(s, s + len(p)) for s in found]) for p, found in starts.items()]
    reaches += [(p, [(a, b + len(p)) for a, b in found]) for p, found in known.items()]
    for piece, spans in reaches:
        for start, end in joined(spans):
            edges += [(start, piece, 1), (end, piece, -1)]
    alone: dict[str, list[Range]] = {piece: [] for piece in doubtful}
    covering: Counter[str] = Counter()
    before = 0
    for at, piece, change in sorted(edges, key=itemgetter(0)):
        open_now = +covering
        if at > before and len(open_now) == 1 and (only := next(iter(open_now))):
            alone.get(only, []).append((before, at))
        covering = open_now
        covering[piece] += change
        before = at
    found = {}
    for piece, count in doubtful.items():
        ranges = _apart(starts[piece], alone[piece], len(piece))
        if len(ranges) == count:
            found[piece] = ranges
    return found


def _apart(starts: Sequence[int], alone: Sequence[Range], size: int) -> list[Range]:
    """First and last start of the pieces that cover characters far apart."""
    ranges: list[Range] = []
    reach = 0
    for low, high in alone:
        at = max(low, reach)
        while at < high:
            covering = [start for start in starts if at - size < start <= at]
            ranges.append((covering[0], covering[-1]))
            reach = at = covering[-1] + size
    return ranges


def _by_place(
    pieces: Sequence[str], places: Sequence[Range | None]
) -> list[int] | None:
    """All numbers by place; None where the order of two different texts is open."""
    keys = []
    key = (0, 0)
    for piece, place in zip(pieces, places, strict=True):
        if place is not None:
            key = place[0], place[0] + len(piece)
        keys.append(key)
    order = sorted(range(len(pieces)), key=keys.__getitem__)
    latest: dict[str, int] = {}
    for i in order:
        place = places[i]
        if place is None:
            continue
        if place[0] < max(
            (at for p, at in latest.items() if p != pieces[i]), default=0
        ):
            return None
        if place[0] < place[1]:
            latest[pieces[i]] = place[1]
    return order


def _is_believable(
    flat: str, pieces: Sequence[str], places: Sequence[Range | None]
) -> bool:
    """Whether enough pieces of known places are in order, and the others fit in.

    Pieces of one splitter neither begin nor end before those that precede them.
    """
    spans = [
        (place[0], place[0] + len(piece))
        for piece, place in zip(pieces, places, strict=True)
        if place is not None
    ]
    if len(spans) < _WITNESSES or not _advance(spans):
        return False
    solid = [piece for piece in pieces if piece]
    if sum(map(len, solid)) < len(flat):
        return True  # something was dropped: they cannot cover it
    if cover(flat, solid, 0, len(flat) - len(solid[-1])) is None:
        return False
    return not any(
        cover(flat[low:high], run, 0, high - low - len(run[-1]))
        for low, high, run in _exchanged(flat, pieces, places)
    )


def _exchanged(
    flat: str, pieces: Sequence[str], places: Sequence[Range | None]
) -> Iterator[tuple[int, int, list[str]]]:
    """Runs of pieces between two of known places, with two neighbours exchanged.

    Yields:
        The characters that they are to cover, and the pieces.
    """
    solid = [(p, at) for p, at in zip(pieces, places, strict=True) if p]
    known = [i for i, (_, at) in enumerate(solid) if at and at[0] == at[1]]
    edges = [-1, -1, *known, len(solid), len(solid)]
    for first, before, after, last in zip(*(edges[i:] for i in range(4)), strict=False):
        start = max(first, 0)
        run = [piece for piece, _ in solid[start : last + 1]]
        low, high = 0, len(flat)
        if first >= 0 and (place := solid[first][1]):
            low = place[0]
        if last < len(solid) and (place := solid[last][1]):
            high = place[0] + len(solid[last][0])
        for i in range(max(before, 0), min(after, len(solid) - 1)):
            left, right = run[i - start], run[i - start + 1]
            if after - before > 1 and left != right:
                rest = run[i - start + 2 :]
                yield low, high, [*run[: i - start], right, left, *rest]


def _advance(spans: Sequence[Range]) -> bool:
    return all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(spans))


def _between(spans: Sequence[Range], length: int) -> list[Range]:
    """Return the ranges of a text that ascending spans leave uncovered."""
    ends = [(0, 0), *spans, (length, length)]
    return [(a[1], b[0]) for a, b in pairwise(ends) if a[1] < b[0]]
