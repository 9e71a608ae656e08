"""The choice of text by the places of good candidates: `selection="recall"`.

A chunk between two good ones is likely to be needed although no retriever ranked it
high: what it says is only understood with its neighbours, and so is the question's
evidence. So each piece of text is worth

    the sum of 1 / (3 + rank) over the candidates it is in
    + the sum of the four best shares that others of its document lend it: of
      1 / (3 + rank) a half, less with the distance; where few candidates fit into the
      budget a third, and much less with the distance

and the pieces are taken in the order of their worth. Only ranks and positions are used:
scores differ in meaning from store to store, ranks do not.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from statistics import median_high
from typing import NamedTuple, overload

from oprag.chunk import Chunk
from oprag.context.budget import LONG_TOKEN
from oprag.context.pieces import Line, Piece, cut_into_lines

# Chosen on five public question sets by leaving out one at a time (misses at six
# budgets, mean of the sets): 10.8 %, where the best lender alone, as far as three
# lengths, had 12.9 with chunks of one size and 14.7 with two, and fused ranks 22.7.
_HEAD = 3
"""Added to the rank: how fast worth falls at the top of the list. Rank 3 is worth
half of rank 0. (Fusion takes 60, because it trusts the top of no single list;
here the list is fused already.)"""


class _Lending(NamedTuple):
    """The worth that a candidate lends to the text beside it."""

    share: float
    """The share of its worth that the next chunk of the same length gets."""
    half: float
    """Lengths of the candidate after which it lends half as much."""


_LENDING = _Lending(0.5, 4)
_LENDING_OF_FEW = _Lending(0.3, 1)
"""Where few candidates fit into the budget: text beside the best would take the
place of the second best. At 1,500 tokens LangChain's recursive chunks, fused, hold 82.4
instead of 78.5 % of covidqa's evidence with it (83.5 by rank), and 30.7 instead of 37.2
of qmsum's (14.8 by rank)."""
_FEW = 10
"""Fewer candidates of the usual length are few."""
_CHARACTERS = 4
"""Characters of a token, in English prose."""
_REACH = 8
"""How far on either side a candidate lends, in its own lengths."""
_LENDERS = 4
"""How many of the best lend to one piece."""
_N_LENDING = 200
"""Candidates that lend, of the best: what others lend changes nothing."""


class PieceChunks(Sequence[Chunk]):
    """Pieces as chunks, made when they are asked for: of thousands few are read."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces

    def __len__(self) -> int:
        return len(self._pieces)

    @overload
    def __getitem__(self, at: int) -> Chunk: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Chunk]: ...
    def __getitem__(self, at: int | slice) -> Chunk | Sequence[Chunk]:
        if isinstance(at, slice):
            return PieceChunks(self._pieces[at])
        return self._pieces[at].chunk()


def expanded_order(
    chunks: Sequence[Chunk], *, hits: float = math.inf, budget: float = math.inf
) -> Sequence[Chunk]:
    """Order retrieved text by its own rank and that of its neighbours.

    Args:
        chunks: Best first, checked, without duplicates. Of any lengths, overlapping
            or not.
        hits: Chunks from this rank on were not retrieved but stand beside hits: they
            are worth what these lend them.
        budget: Tokens that are to be filled. Where it may not hold all, candidates with
            more characters than this (a quarter of it, in English) are judged by
            their sentences, and where the candidate of the median length fits fewer
            than ten times, they lend less.

    Returns:
        Chunks that do not overlap, best first. They are the candidates themselves where
        nothing else begins or ends in them, else slices of them; their `rank` is that
        of the candidate. Equal worth: the better candidate first, then reading order
        (documents in the order of their best candidates). Made as they are asked for.

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
    lines = cut_into_lines(chunks, long=long)
    worths = [worth for line in lines for worth in _worths(line, hits, lending)]
    pieces = [piece for line in lines for piece in line.pieces]
    # They are in reading order.
    order = sorted(range(len(pieces)), key=lambda number: pieces[number].of.rank)
    order.sort(key=worths.__getitem__, reverse=True)
    return PieceChunks([pieces[number] for number in order])


def _in_one_order(chunk: Chunk) -> tuple[object, ...]:
    """Return a sort key: chunks of one rank follow by place, however they came."""
    return chunk.rank, chunk.document, chunk.position or (), chunk.text


def _worths(line: Line, hits: float, lending: _Lending) -> list[float]:
    worths = [0.0] * len(line.pieces)
    for rank, first, last in line.covered:
        if rank >= hits:
            break
        for number in range(first, last):
            worths[number] += 1 / (_HEAD + rank)
    lent = _lent(line, min(hits, _N_LENDING), lending)
    for number, shares in lent.items():
        worths[number] += sum(sorted(shares)[-_LENDERS:])
    return worths


def _lent(line: Line, below: float, lending: _Lending) -> dict[int, list[float]]:
    """All that candidates below this rank lend, by the number of the piece."""
    pieces = line.pieces
    middles = [(start + end) / 2 for start, end, *_ in pieces]
    lent: defaultdict[int, list[float]] = defaultdict(list)
    for rank, first, last in line.covered:
        if rank >= below:
            break
        start, end = pieces[first].start, pieces[last - 1].end
        length = end - start
        far = _REACH * length
        for number in range(bisect_left(middles, start - far, 0, first), first):
            away = (start - middles[number]) / length
            lent[number].append(lent_worth(rank, away, lending))
        for number in range(last, bisect_right(middles, end + far, last)):
            away = (middles[number] - end) / length
            lent[number].append(lent_worth(rank, away, lending))
    return lent


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
