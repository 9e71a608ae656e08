"""Choose text by the places of good candidates: `selection="recall"`.

A chunk between two good ones is likely to be needed although no retriever ranked it
high: its text is only understood with its neighbours, and so is the question's
evidence. So each segment of text is worth

    the sum of 1 / (2 + rank) over the candidates it is in
    + a share of the same over all others of its document, less with the distance

A third of the text is read by rank, the rest by worth. Only ranks and positions are
used: scores differ in meaning from store to store, ranks do not.

Several retrievers, overlapping windows and chunks of two sizes bring the same text
more than once. So candidates are cut at every beginning and end of one of them ::

    candidates   [------ 5 ------][------ 0 ------]
                         [-- 2 --]
    segments     [--a---][-- b --][------ c ------]
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Hashable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from oprag.chunk import Chunk, Span
from oprag.context.budget import count_seeds
from oprag.context.ordinals import number_in_order
from oprag.context.pieces import is_sliceable, scope_of, slice_of

# Chosen by leaving out one public question set at a time: `benchmarks/recall.md`.
_HEAD = 2
"""Added to the rank: rank 2 is worth half of rank 0. (Fusion takes 60, because it
trusts the top of no single list; here the list is fused already.)"""
_LENT = 0.5
"""The share of its worth that a candidate lends to text beside it."""
_HALF = 1200
"""Characters after which it lends half as much."""
_TO_RANK = 2
"""Characters that are read by worth for each that is read by rank."""


class Segment(NamedTuple):
    """A candidate, or a slice of one."""

    chunk: Chunk
    length: int
    """In characters; the mean length if there are only ordinals."""
    rank: int
    """That of the best candidate that it is in."""
    worth: float


def rank_segments(chunks: Sequence[Chunk], *, budget: int) -> list[Chunk]:
    """Order retrieved text by its own rank and that of its neighbours.

    Args:
        chunks: Best first, checked, without duplicates. Of any lengths, overlapping
            or not. Hits lend their worth to neighbours, which lend none.
        budget: Tokens to fill. Only the best hits that would fill them lend worth.

    Returns:
        Chunks that do not overlap, best first. Each is a candidate itself if no other
        begins or ends in it, else a slice of one; its `rank` is that of the candidate.
        Of equal worth, the better candidate comes first, then reading order decides
        (documents in the order of their best candidates).
    """
    best, others = chunks[: count_seeds(budget)], chunks[count_seeds(budget) :]
    lenders = {chunk.rank for chunk in best if not chunk.is_neighbour}
    if others:
        lenders.discard(others[0].rank)  # only some slices of that hit would fit
    groups: defaultdict[tuple[Hashable, ...], list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        groups[scope_of(chunk)].append(chunk)
    segments: list[Segment] = []
    for members in groups.values():
        segments += split_into_segments(members, lenders)
    by_rank = sorted(segments, key=attrgetter("rank"))
    by_worth = sorted(by_rank, key=attrgetter("worth"), reverse=True)
    by_rank = sorted(by_worth, key=attrgetter("rank"))
    due: dict[int, int] = {}
    for order, share in ((by_rank, _TO_RANK), (by_worth, 1)):
        read = 0
        for segment in order:
            due[id(segment)] = min(due.get(id(segment), read), read)
            read += share * segment.length
    return [each.chunk for each in sorted(by_rank, key=lambda s: due[id(s)])]


def split_into_segments(
    members: Sequence[Chunk], lenders: Container[int]
) -> Iterator[Segment]:
    """Cut candidates of one text wherever one begins or ends, in reading order.

    Args:
        members: Best first. Those whose text does not have the length of their span
            stay whole, in the order of their positions (`number_in_order`).
        lenders: Ranks of the candidates that have worth, and lend it.
    """
    if is_sliceable(members[0]):
        spans = [chunk.span or Span(0, 0) for chunk in members]
    else:  # all of the mean length
        mean = max(1, sum(len(chunk.text) for chunk in members) // len(members))
        ordinals = number_in_order(members)
        spans = [Span(mean * each, mean * (each + 1)) for each in ordinals]
    cuts = sorted({place for span in spans for place in span})
    numbers = {place: number for number, place in enumerate(cuts)}
    # Of each stretch between two cuts: the best candidate, and one that is just it.
    best: list[Chunk | None] = [None] * (len(cuts) - 1)
    whole = [*best]
    own, begins, ends = ([0.0] * len(best) for _ in range(3))
    for chunk, (start, end) in zip(members[::-1], spans[::-1], strict=True):
        first, last = numbers[start], numbers[end]
        best[first:last] = [chunk] * (last - first)  # the best comes last, over all
        if last == first + 1:
            whole[first] = chunk
        if chunk.rank in lenders:
            worth = 1 / (_HEAD + chunk.rank)
            begins[first] += worth
            ends[last - 1] += worth
            for number in range(first, last):
                own[number] += worth
    middles = [(start + end) / 2 for start, end in pairwise(cuts)]
    left = [2.0 ** ((a - b) / _HALF) for a, b in pairwise(middles)]
    before = _carry_forward(ends, left)
    behind = _carry_forward(begins[::-1], left[::-1])[::-1]
    for number, (start, end) in enumerate(pairwise(cuts)):
        if (of := best[number]) is not None:
            worth = own[number] + _LENT * (before[number] + behind[number])
            found = whole[number] or slice_of(of, start, end)
            yield Segment(found, end - start, of.rank, worth)


def _carry_forward(worths: Sequence[float], left: Sequence[float]) -> list[float]:
    """Return, for each place, the worth of all earlier ones that is left there."""
    carried = [0.0]
    for worth, share in zip(worths, left, strict=False):
        carried.append((carried[-1] + worth) * share)
    return carried


def proximity_score(rank: int, away: float) -> float:
    """Return the worth that a candidate lends to text so many characters away."""
    return _LENT * math.pow(2, -away / _HALF) / (_HEAD + rank)
