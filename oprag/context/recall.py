"""The choice of text by the places of good candidates: `selection="recall"`.

A chunk between two good ones is likely to be needed although no retriever ranked it
high: what it says is only understood with its neighbours, and so is the question's
evidence. So each piece of text is worth

    the sum of 1 / (2 + rank) over the candidates it is in
    + a share of the same over all others of its document, less with the distance

A third of the text is read by rank, the rest by worth. Only ranks and positions are
used: scores differ in meaning from store to store, ranks do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from oprag.chunk import Chunk
from oprag.context.budget import LONG_TOKEN, judging
from oprag.context.pieces import Line, Piece, cut_into_lines

# Chosen by leaving out one public question set at a time: `benchmarks/recall.md`.
_HEAD = 2
"""Added to the rank: how fast worth falls at the top of the list. Rank 2 is worth
half of rank 0. (Fusion takes 60, because it trusts the top of no single list;
here the list is fused already.)"""
_LENT = 0.5
"""The share of its worth that a candidate lends to text beside it."""
_HALF = 1500
"""Characters after which it lends half as much."""
_TO_RANK = 2
"""Characters that are read by worth for each that is read by rank."""


class PieceChunks(Sequence[Chunk]):
    """Pieces as chunks, made when they are asked for: of thousands few are read."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces

    def __len__(self) -> int:
        return len(self._pieces)

    def __getitem__(self, at: Any) -> Any:
        found = self._pieces[at]
        return PieceChunks(found) if isinstance(at, slice) else found.chunk()


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
            their sentences. Only the best that would fill it lend worth.

    Returns:
        Chunks that do not overlap, best first. They are the candidates themselves where
        nothing else begins or ends in them, else slices of them; their `rank` is that
        of the candidate. Equal worth: the better candidate first, then reading order
        (documents in the order of their best candidates).
    """
    ranks = [chunk.rank for chunk in chunks]
    if ranks != sorted({*ranks}):
        chunks = sorted(chunks, key=_in_one_order)
    few = judging(budget)
    hits = min(hits, next((r for n, r in enumerate(sorted(ranks)) if n >= few), hits))
    # What fits as it is stays so: a context that is arranged again does not change.
    fits = sum(len(chunk.text) for chunk in chunks) <= LONG_TOKEN * budget
    lines = cut_into_lines(chunks, long=math.inf if fits else budget)
    pieces = [piece for line in lines for piece in line.pieces]
    worth = [each for line in lines for each in worths(line, hits)]
    best = [piece.rank for piece in pieces]
    in_order = sorted(range(len(pieces)), key=best.__getitem__)
    by_worth = sorted(in_order, key=worth.__getitem__, reverse=True)
    by_rank = sorted(by_worth, key=best.__getitem__)
    return PieceChunks([pieces[n] for n in _woven(by_rank, by_worth, pieces)])


def _in_one_order(chunk: Chunk) -> tuple[object, ...]:
    """Return a sort key: chunks of one rank follow by place, however they came."""
    return chunk.rank, chunk.document, chunk.position or (), chunk.text


def worths(line: Line, hits: float) -> list[float]:
    """The worth of each piece, by what candidates above a rank hold and lend."""
    own, begins, ends = ([0.0] * len(line.pieces) for _ in range(3))
    for rank, first, last in line.covered:
        if rank >= hits:
            break
        worth = 1 / (_HEAD + rank)
        begins[first] += worth
        ends[last - 1] += worth
        for number in range(first, last):
            own[number] += worth
    middles = [(piece.start + piece.end) / 2 for piece in line.pieces]
    before = _carried(middles, ends)
    behind = reversed(_carried(middles[::-1], begins[::-1]))
    return [o + _LENT * (b + a) for o, b, a in zip(own, before, behind, strict=True)]


def _carried(places: Sequence[float], worths: Sequence[float]) -> list[float]:
    """The worth left at each place of all before it, half after each `_HALF`."""
    carried = [0.0]
    for (place, following), worth in zip(pairwise(places), worths, strict=False):
        left = 2.0 ** (-abs(following - place) / _HALF)
        carried.append((carried[-1] + worth) * left)
    return carried


def _woven(
    by_rank: Sequence[int], by_worth: Sequence[int], pieces: Sequence[Piece]
) -> list[int]:
    """Read in two orders at once: a piece comes when it is due in either."""
    lengths = [piece.end - piece.start for piece in pieces]
    read = accumulate((_TO_RANK * lengths[n] for n in by_rank), initial=0)
    due = dict(zip(by_rank, read, strict=False))
    read = accumulate(map(lengths.__getitem__, by_worth), initial=0)
    for number, before in zip(by_worth, read, strict=False):
        due[number] = min(due[number], before)
    return sorted(due, key=due.__getitem__)


def lent_worth(rank: int, away: float) -> float:
    """Return what a candidate lends to text so many characters away.

    Args:
        rank: The candidate's.
        away: From its middle to that of the text.
    """
    worth: float = _LENT * 2.0 ** (-away / _HALF) / (_HEAD + rank)
    return worth
