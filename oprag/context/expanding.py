"""Which text to read, judged by where good candidates stand: `selection="expand"`.

A chunk between two good ones is likely to be needed although no retriever ranked it
high: what it says is only understood with its neighbours, and so is the question's
evidence. So each piece of text is worth

    the sum of 1 / (3 + rank) over the candidates it is in
    + the sum of the four best shares that others of its document lend it: of
      1 / (3 + rank) a half, less with the distance

and the pieces are taken in the order of their worth. Only ranks and positions are
used: scores differ in meaning from store to store, ranks do not.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

from oprag.chunk import Chunk
from oprag.context.merging import SourceText
from oprag.context.pieces import Line, PieceChunks, cut_into_lines

# Chosen on five public question sets by leaving out one at a time (misses at six
# budgets, mean of the sets): 10.8 %, where the best lender alone, as far as three
# lengths, had 12.9 with chunks of one size and 14.7 with two, and fused ranks 22.7.
_HEAD = 3
"""Added to the rank: how fast worth falls at the top of the list. Rank 3 is worth
half of rank 0. (Fusion takes 60, because it trusts the top of no single list;
here the list is fused already.)"""
_LENT = 0.5
"""Share of a candidate's worth that is lent to the next chunk of the same length."""
_HALF = 4
"""Lengths of the candidate after which it lends half as much."""
_REACH = 8
"""How far on either side a candidate lends, in its own lengths."""
_LENDERS = 4
"""How many of the best lend to one piece."""
_LENDING = 200
"""Candidates that lend, of the best: what others lend changes nothing."""


def expanded_order(
    chunks: Sequence[Chunk],
    *,
    max_gap: int = 0,
    source_text: SourceText | None = None,
    room: float = 0,
    hits: float = math.inf,
    long: float = math.inf,
) -> Sequence[Chunk]:
    """Order retrieved text by its own rank and that of its neighbours.

    Args:
        chunks: Best first, checked, without duplicates. Of any lengths, overlapping
            or not.
        max_gap: Not used to judge; see `cut_into_lines`.
        source_text: Full texts by document name. Then text that stands around
            candidates may be chosen too; None: only text that was retrieved.
        room: Characters of it on each side of candidates. What nothing is lent
            comes behind all others, the nearest first.
        hits: Chunks from this rank on were not retrieved but stand beside hits: they
            are worth what these lend them.
        long: Candidates of more characters are judged by their sentences.

    Returns:
        Chunks that do not overlap, best first. They are the candidates themselves
        where nothing else begins or ends in them, else slices of them; their `rank`
        is that of the candidate. Equal worth: the better candidate first, then
        reading order. Made as they are asked for.

    Raises:
        InvalidSpanError: See `cut_into_lines`.

    Source:
        This project's own. The settings were chosen on public data, and what was
        tried beside them is in `benchmarks/`.
    """
    given = [chunk.rank for chunk in chunks]
    if given != sorted({*given}):
        chunks = sorted(chunks, key=_in_one_order)
    lines = cut_into_lines(
        chunks, max_gap=max_gap, source_text=source_text, room=room, long=long
    )
    worths = [worth for line in lines for worth in _worths(line, hits)]
    ranks = [rank for line in lines for rank in line.ranks()]
    starts = [start for line in lines for start in line.starts]
    # One number at a time, and the first last: sooner than all in one.
    order = sorted(range(len(starts)), key=starts.__getitem__)
    order.sort(key=ranks.__getitem__)
    order.sort(key=worths.__getitem__, reverse=True)
    begins = [0, *accumulate(len(line.starts) for line in lines)]

    def made(number: int) -> Chunk:
        line = bisect_right(begins, number) - 1
        return lines[line].chunk(number - begins[line])

    return PieceChunks(order, made)


def _in_one_order(chunk: Chunk) -> tuple[object, ...]:
    """Chunks of one rank stand by their places, however they came."""
    return chunk.rank, chunk.document, chunk.position or (), chunk.text


def _worths(line: Line, hits: float) -> list[float]:
    worths = [0.0] * len(line.starts)
    for chunk, first, last in line.covered():
        if chunk.rank >= hits:
            break
        worth = 1 / (_HEAD + chunk.rank)
        for number in range(first, last):
            worths[number] += worth
    lent = _lent(line, min(hits, _LENDING))
    for number, shares in lent.items():
        worths[number] += sum(sorted(shares)[-_LENDERS:])
    for number in line.beside:
        if number not in lent:
            worths[number] = -_away(line, number)
    return worths


def _lent(line: Line, lending: float) -> dict[int, list[float]]:
    """All that the best candidates lend, by the number of the piece."""
    starts, ends = line.starts, line.ends
    if len(starts) == 1:  # nothing stands beside it
        return {}
    middles = [(start + end) / 2 for start, end in zip(starts, ends, strict=True)]
    lent: defaultdict[int, list[float]] = defaultdict(list)
    for chunk, first, last in line.covered():
        rank = chunk.rank
        if rank >= lending:
            break
        start, end = starts[first], ends[last - 1]
        length = end - start
        far = _REACH * length
        for number in range(bisect_left(middles, start - far, 0, first), first):
            lent[number].append(lent_worth(rank, (start - middles[number]) / length))
        for number in range(last, bisect_right(middles, end + far, last)):
            lent[number].append(lent_worth(rank, (middles[number] - end) / length))
    return lent


def _away(line: Line, number: int) -> float:
    """How far a piece stands from the candidate nearest to it."""
    start, end = line.best[number].span or (0, 0)
    return max(line.starts[number] - end, start - line.ends[number])


def lent_worth(rank: int, distance: float) -> float:
    """Return what a candidate lends to text beside it.

    The next chunk of the same length (its middle is half a length away) is lent
    half of the candidate's worth, the fourth after it a quarter.

    Args:
        rank: The candidate's.
        distance: From its end to the middle of the text, in lengths of the candidate.
    """
    share: float = _LENT * 2.0 ** ((0.5 - distance) / _HALF)
    return share / (_HEAD + rank)
