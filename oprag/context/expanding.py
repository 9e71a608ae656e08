"""Which text to read, judged by where good candidates stand: `selection="recall"`.

A chunk between two good ones is likely to be needed although no retriever ranked it
high: what it says is only understood with its neighbours, and so is the question's
evidence. So each piece of text is worth

    the sum of 1 / (3 + rank) over the candidates it is in
    + the sum of the four best shares that others of its document lend it: of
      1 / (3 + rank) a half, less with the distance; where few candidates fit into the
      budget a third, and much less with the distance

and the pieces are taken in the order of their worth, of thousands of candidates those
of the best first. Only ranks and positions are used: scores differ in meaning from
store to store, ranks do not.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import accumulate
from statistics import median_high
from typing import NamedTuple

from oprag.chunk import Chunk
from oprag.context.merging import SourceText
from oprag.context.piece_chunks import PieceChunks
from oprag.context.pieces import Line, cut_into_lines
from oprag.context.selection import LONG_TOKEN

# Chosen on five public question sets by leaving out one at a time (misses at six
# budgets, mean of the sets): 10.8 %, where the best lender alone, as far as three
# lengths, had 12.9 with chunks of one size and 14.7 with two, and fused ranks 22.7.
_HEAD = 3
"""Added to the rank: how fast worth falls at the top of the list. Rank 3 is worth
half of rank 0. (Fusion takes 60, because it trusts the top of no single list;
here the list is fused already.)"""


class _Lending(NamedTuple):
    """What a candidate lends to the text beside it."""

    share: float
    """Of its worth, to the next chunk of the same length."""
    half: float
    """Lengths of the candidate after which it lends half as much."""


_LENDING = _Lending(0.5, 4)
_LENDING_OF_FEW = _Lending(0.3, 1)
"""Where few candidates fit into the budget: what stands beside the best would take the
place of the second best. At 1,500 tokens LangChain's recursive chunks, fused, hold 82.4
instead of 78.5 % of covidqa's evidence with it (83.5 by rank), and 30.7 instead of 37.2
of qmsum's (14.8 by rank)."""
_FEW = 10
"""Fewer candidates of the usual length are few."""
_CHARACTERS = 4
"""Of a token, in English prose."""
_REACH = 8
"""How far on either side a candidate lends, in its own lengths."""
_LENDERS = 4
"""How many of the best lend to one piece."""
_N_LENDING = 200
"""Candidates that lend, of the best: what others lend changes nothing."""
_N_JUDGED = 2_400
"""Candidates that are judged, of the best, at least: as many as two retrievers give
that are asked for the usual 1,200. With 2,000 less is found of stories: 99.4 instead of
99.8 % at 40,000 tokens."""
_JUDGED = 4
"""As many as hold so many times the budget, where these are more."""


def expanded_order(
    chunks: Sequence[Chunk],
    *,
    source_text: SourceText | None = None,
    room: float = 0,
    hits: float = math.inf,
    budget: float = math.inf,
) -> Sequence[Chunk]:
    """Order retrieved text by its own rank and that of its neighbours.

    Args:
        chunks: Best first, checked, without duplicates. Of any lengths, overlapping
            or not.
        source_text: Full texts by document name. Then text that stands around
            candidates may be chosen too; None: only text that was retrieved.
        room: Characters of it on each side of candidates. What nothing is lent
            comes behind all others, the nearest first.
        hits: Chunks from this rank on were not retrieved but stand beside hits: they
            are worth what these lend them.
        budget: Tokens that are to be filled. Where it may not hold all, candidates with
            more characters than this (a quarter of it, in English) are judged by
            their sentences, and where the candidate of the median length fits fewer
            than ten times, they lend less. Without full texts and without what
            stands beside hits the best 2,400 candidates are judged, or those that
            hold four times the budget if these are more (four characters a token);
            text that is in none of them comes behind, in the same order.

    Returns:
        Chunks that do not overlap, best first. They are the candidates themselves
        where nothing else begins or ends in them, else slices of them; their `rank`
        is that of the candidate. Equal worth: the better candidate first, then
        reading order (documents in the order of their best candidates). Made as
        they are asked for.

    Raises:
        InvalidSpanError: See `cut_into_lines`.

    Source:
        This project's own. The settings were chosen on public data, and what was
        tried beside them is in `benchmarks/`.
    """
    given = [chunk.rank for chunk in chunks]
    if given != sorted({*given}):
        chunks = sorted(chunks, key=_in_one_order)
    lengths = [len(chunk.text) for chunk in chunks]
    # What fits as it is stays so: a context that is arranged again does not change.
    long, lending = math.inf, _LENDING
    if sum(lengths) > LONG_TOKEN * budget:
        long = budget
        few = _CHARACTERS * budget / _FEW  # characters of each, where few fit
        if max(lengths) > few and median_high(lengths) > few:  # the first is quicker
            lending = _LENDING_OF_FEW
    first = len(chunks)
    if source_text is None and hits == math.inf:
        first = _judged(lengths, budget)

    def listed(
        candidates: Sequence[Chunk],
        behind: int = 0,
        rest: Callable[[], Sequence[Chunk]] = tuple,
    ) -> PieceChunks:
        lines = cut_into_lines(
            candidates, source_text=source_text, room=room, long=long
        )
        worths = [worth for line in lines for worth in _worths(line, hits, lending)]
        order, made = _best_first(lines, worths, behind=behind)
        return PieceChunks(order, made, rest)

    if first >= len(chunks):
        return listed(chunks)
    return listed(chunks[:first], rest=lambda: listed(chunks, behind=first))


def _judged(lengths: Sequence[int], budget: float) -> int:
    """How many candidates are judged together."""
    enough = _JUDGED * _CHARACTERS * budget
    if sum(lengths[:_N_JUDGED]) >= enough:
        return _N_JUDGED
    return bisect_left([*accumulate(lengths)], enough) + 1


def _best_first(
    lines: Sequence[Line], worths: Sequence[float], *, behind: int
) -> tuple[Sequence[int], Callable[[Sequence[int]], list[Chunk]]]:
    """Number the pieces that are in none of the first `behind` candidates, best first.

    Returns:
        Their numbers, and what makes the chunks of some numbers.
    """
    if not lines:
        return [], lambda _: []
    given = lines[0].given
    of = [candidate for line in lines for candidate in line.made_of()]
    ranks = [*map(given.ranks.__getitem__, of)]
    order: Sequence[int] = range(len(of))
    if behind:
        best = [candidate for line in lines for candidate in line.best]
        order = [number for number in order if best[number] >= behind]
    # They stand in reading order. One number at a time, and the first last: this is
    # quicker than all in one.
    order = sorted(order, key=ranks.__getitem__)
    order.sort(key=worths.__getitem__, reverse=True)
    begins = [0, *accumulate(len(line.starts) for line in lines)]

    def made(numbers: Sequence[int]) -> list[Chunk]:
        at = [bisect_right(begins, number) - 1 for number in numbers]
        candidates = given.chosen([of[number] for number in numbers])
        return [
            lines[line].chunk(number - begins[line], candidate)
            for line, number, candidate in zip(at, numbers, candidates, strict=True)
        ]

    return order, made


def _in_one_order(chunk: Chunk) -> tuple[object, ...]:
    """Chunks of one rank stand by their places, however they came."""
    return chunk.rank, chunk.document, chunk.position or (), chunk.text


def _worths(line: Line, hits: float, lending: _Lending) -> list[float]:
    worths = [0.0] * len(line.starts)
    for rank, first, last in line.covered():
        if rank >= hits:
            break
        worth = 1 / (_HEAD + rank)
        worths[first] += worth
        if last > first + 1:  # mostly it is one piece
            for number in range(first + 1, last):
                worths[number] += worth
    lent = _lent(line, min(hits, _N_LENDING), lending)
    for number, shares in lent.items():
        worths[number] += sum(sorted(shares)[-_LENDERS:])
    for number in line.beside:
        if number not in lent:
            worths[number] = -_away(line, number)
    return worths


def _lent(line: Line, below: float, lending: _Lending) -> dict[int, list[float]]:
    """All that candidates below this rank lend, by the number of the piece."""
    starts, ends = line.starts, line.ends
    if len(starts) == 1:  # nothing stands beside it
        return {}
    middles = [(start + end) / 2 for start, end in zip(starts, ends, strict=True)]
    lent: defaultdict[int, list[float]] = defaultdict(list)
    for rank, first, last in line.covered():
        if rank >= below:
            break
        start, end = starts[first], ends[last - 1]
        length = end - start
        far = _REACH * length
        for number in range(bisect_left(middles, start - far, 0, first), first):
            away = (start - middles[number]) / length
            lent[number].append(lent_worth(rank, away, lending))
        for number in range(last, bisect_right(middles, end + far, last)):
            away = (middles[number] - end) / length
            lent[number].append(lent_worth(rank, away, lending))
    return lent


def _away(line: Line, number: int) -> float:
    """How far a piece stands from the candidate nearest to it."""
    start = line.given.starts[line.best[number]]
    end = line.given.ends[line.best[number]]
    return max(line.starts[number] - end, start - line.ends[number])


def lent_worth(rank: int, distance: float, lending: _Lending = _LENDING) -> float:
    """Return what a candidate lends to text beside it.

    The next chunk of the same length (its middle is half a length away) is usually
    lent half of the candidate's worth, the fourth after it a quarter.

    Args:
        rank: The candidate's.
        distance: From its end to the middle of the text, in lengths of the candidate.
        lending: How much, and how far.
    """
    share: float = lending.share * 2.0 ** ((0.5 - distance) / lending.half)
    return share / (_HEAD + rank)
