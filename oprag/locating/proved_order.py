"""Whether chunks were handed over in the order in which their text has them.

`chunks_in_order` takes the order for granted, and text that repeats itself fits many
orders. Here the places are found without it: a text that occurs once in the source, or
as often as there are chunks of it, has its place there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise

from oprag.locating.contiguity import cover
from oprag.locating.pieces import Piece, gaps_after, pieces_of
from oprag.locating.seeds import ABSENT, UNKNOWN, Seeds, spacing_for, starts_of
from oprag.locating.squeezed_text import squeeze

_WITNESSES = 6
"""Chunks of known places that must be in order for an order to be believed.
If they are shuffled, this many are in order once in 720 times."""


def given_order(
    source: str, chunks: Sequence[str], *, believed: bool = False
) -> tuple[list[int] | None, list[int]]:
    """Find the order of all chunks of a text, from their places and the order given.

    White space does not count. Chunks are ordered by their places if all are known.
    Else the order given is believed if the known chunks are in it and no two neighbours
    could be exchanged (unless it is `believed`). Chunks that do not occur, and empty
    ones, stay after the one before them.

    Returns:
        Numbers of all chunks in reading order, or None if it is not known, and in that
        case those that may be elsewhere.
    """
    flat = squeeze(source)
    pieces = pieces_of(flat, chunks)
    as_given = list(range(len(pieces)))
    copies = Counter(piece.text for piece in pieces if piece.text)
    if len({piece for piece in pieces if piece.text}) <= 1:
        return as_given, []
    starts = {text: iter(found) for text, found in _starts(flat, copies)}
    places = [next(starts[p.text]) if p.text else ABSENT for p in pieces]
    kinds = Counter(piece.text for piece in {*pieces})
    for i, piece in enumerate(pieces):
        if kinds[piece.text] > 1 and places[i] >= 0:
            places[i] = UNKNOWN  # cut in different ways, they differ
    unsure = [i for i, p in enumerate(pieces) if p.text and places[i] < 0]
    keys = []
    key = (0, 0)
    for piece, at in zip(pieces, places, strict=True):
        if at >= 0:
            key = at, at + len(piece.text)
        keys.append(key)
    order = sorted(as_given, key=keys.__getitem__)
    if not unsure or (order == as_given and (believed or UNKNOWN not in places)):
        return order, []
    if _is_believable(flat, pieces, places):
        return as_given, []
    return None, unsure


def _starts(flat: str, copies: Mapping[str, int]) -> Iterator[tuple[str, list[int]]]:
    """Yield each text with the starts of its copies, ascending, if they are known.

    They are known if it occurs once, or as often as there are copies.
    """
    seeds = Seeds(flat, spacing_for(copies))
    for piece, count in copies.items():
        at = seeds.searched(piece)
        found = [at] * count
        if at == UNKNOWN:
            starts = [*islice(starts_of(piece, flat), count + 1)]
            found = starts if len(starts) == count else found
        yield piece, found


def _is_believable(flat: str, pieces: Sequence[Piece], places: Sequence[int]) -> bool:
    """Tell whether enough pieces of known places are in order, and the others fit in.

    Pieces of one splitter neither begin nor end before those that precede them.
    """
    spans = [
        (at, at + len(piece.text))
        for piece, at in zip(pieces, places, strict=True)
        if piece.text and at >= 0
    ]
    advance = all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(spans))
    if len(spans) < _WITNESSES or not advance:
        return False
    solid = [piece for piece in pieces if piece.text]
    most = sum(len(piece.text) for piece in solid) + sum(gaps_after(solid))
    if most < len(flat):
        return True  # something was dropped: they cannot cover it
    if not _can_cover(flat, solid):
        return False
    runs = _exchanged(flat, pieces, places)
    return not any(_can_cover(flat[low:high], run) for low, high, run in runs)


def _can_cover(flat: str, run: Sequence[Piece]) -> bool:
    """Tell whether pieces can cover all of a text in this order."""
    texts = [piece.text for piece in run]
    last = len(flat) - len(texts[-1])
    return cover(flat, texts, 0, last, gaps=gaps_after(run)) is not None


def _exchanged(
    flat: str, pieces: Sequence[Piece], places: Sequence[int]
) -> Iterator[tuple[int, int, list[Piece]]]:
    """Yield runs of pieces between two known places, with two neighbours exchanged.

    Yields:
        The characters that they are to cover, and the pieces.
    """
    solid = [(p, at) for p, at in zip(pieces, places, strict=True) if p.text]
    known = [i for i, (_, at) in enumerate(solid) if at >= 0]
    edges = [-1, -1, *known, len(solid), len(solid)]
    for first, before, after, last in zip(*(edges[i:] for i in range(4)), strict=False):
        start = max(first, 0)
        run = [piece for piece, _ in solid[start : last + 1]]
        low = solid[first][1] if first >= 0 else 0
        high = len(flat)
        if last < len(solid):
            piece, at = solid[last]
            high = at + len(piece.text)
        for i in range(max(before, 0), min(after, len(solid) - 1)):
            left, right = run[i - start], run[i - start + 1]
            if after - before > 1 and left != right:
                rest = run[i - start + 2 :]
                yield low, high, [*run[: i - start], right, left, *rest]
