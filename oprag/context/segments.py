"""Relevant-segment extraction: the contiguous runs worth most, in tokens.

A candidate's value falls with its rank and goes below zero; text that no retriever
brought is worth less than nothing. The run of neighbouring text with the largest sum
is a segment, and so on with what is left: a weak chunk between two strong ones comes
along, a long weak stretch does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from oprag.chunk import Chunk
from oprag.context.merging import SourceText
from oprag.context.pieces import cut_into_lines

_PENALTY = 0.18
_DECAY = 30
"""Of the balanced preset that dsRAG publishes, whose total is 30 chunks."""

Run: TypeAlias = Sequence[tuple[float, int]]
"""Value and size of each piece of an unbroken stretch of text, in reading order."""


class Segment(NamedTuple):
    """A part of a run: its pieces `first` to `last`, exclusive."""

    run: int
    first: int
    last: int
    value: float


class _Piece(NamedTuple):
    chunk: Chunk
    rank: int | None
    """Of the best candidate it is in; None where it is in none."""


def extract_segments(
    runs: Sequence[Run], *, max_segment: int, total: int, minimum: float = 0.0
) -> list[Segment]:
    """Take the most valuable segments one after another.

    Args:
        runs: Sizes are at least 1, in tokens, or all 1 to count chunks as dsRAG does.
        max_segment: Size of a segment at most. A single piece may exceed it.
        total: Size of all segments together at most.
        minimum: Value that a segment has at least. A segment worth nothing or less
            is never taken.

    Returns:
        Segments in the order they were taken, most valuable first; no two overlap.
        Equal values: the earlier run, then the earlier and the shorter segment. The
        sum of sizes may stay below `total`.

    Source:
        Relevant-segment extraction of dsRAG (github.com/D-Star-AI/dsRAG). It counts
        chunks, at most 15 in a segment and 30 in all, with a minimum of 0.5.
    """
    open_stretches = [(number, 0, len(run)) for number, run in enumerate(runs)]
    found: dict[tuple[int, int, int], Segment | None] = {}
    taken: list[Segment] = []
    left = total
    while open_stretches:
        best: Segment | None = None
        for stretch in open_stretches:
            known = found.get(stretch)
            if stretch not in found or (known and _size(runs, known) > left):
                known = _best(runs[stretch[0]], stretch, max_segment, left)
                found[stretch] = known
            if known is not None and (best is None or known.value > best.value):
                best = known
        if best is None or best.value < minimum:
            break
        taken.append(best)
        left -= _size(runs, best)
        open_stretches = _without(open_stretches, best)
    return taken


def _best(
    run: Run, stretch: tuple[int, int, int], max_segment: int, total: int
) -> Segment | None:
    """The most valuable segment of a stretch that has room."""
    number, start, stop = stretch
    best: Segment | None = None
    for first in range(start, stop):
        # One that begins with a loss is worth more without it.
        if run[first][0] <= 0:
            continue
        value, size = 0.0, 0
        for last in range(first, stop):
            value += run[last][0]
            size += run[last][1]
            if size > total or (size > max_segment and last > first):
                break
            if value > (0.0 if best is None else best.value):
                best = Segment(number, first, last + 1, value)
    return best


def _size(runs: Sequence[Run], segment: Segment) -> int:
    run = runs[segment.run]
    return sum(size for _, size in run[segment.first : segment.last])


def _without(
    stretches: Sequence[tuple[int, int, int]], taken: Segment
) -> list[tuple[int, int, int]]:
    rest = []
    for run, first, last in stretches:
        if run != taken.run or not first <= taken.first < last:
            rest.append((run, first, last))
            continue
        parts = ((run, first, taken.first), (run, taken.last, last))
        rest += [part for part in parts if part[1] < part[2]]
    return rest


def segment_order(
    chunks: Sequence[Chunk],
    token_budget: int,
    *,
    cost: Callable[[Chunk], int],
    max_gap: int,
    source_text: SourceText | None = None,
) -> list[Chunk]:
    """Choose the segments of the candidates that a budget holds.

    The value of a piece is exp(-rank / decay) - 0.18, of text between candidates
    -0.18 for each typical candidate's length of it; decay is the number of typical
    candidates that the budget holds, at least 30. A segment takes at most half of
    the budget. (dsRAG multiplies the first term by the reranker's similarity; ranks
    alone are the same for every store. Its limits of 30 and 15 chunks for a decay
    of 30 are here the budget and its half.)

    Args:
        chunks: Best first, checked, without duplicates.
        token_budget: Tokens.
        cost: Tokens of a chunk as it is sent.
        max_gap: Characters that may lie between two pieces of a segment.
        source_text: Full texts by document name, so that a segment may run over
            text that was not retrieved; None: it ends there.

    Returns:
        Chunks that do not overlap, segment by segment, the most valuable first, and
        each in reading order; their `rank` is that of the candidate that they are
        or are a part of. Where the rest is worth nothing, they take less than the
        budget; at least one comes.

    Raises:
        InvalidSpanError: See `cut_into_lines`.
    """
    if not chunks:
        return []
    lines = cut_into_lines(chunks, max_gap=max_gap, source_text=source_text)
    pieces: list[list[_Piece]] = []
    for line in lines:
        given = line.given
        touching = zip(line.touching(), line.made_of(), strict=True)
        for number, (touches, candidate) in enumerate(touching):
            if not touches:
                pieces.append([])
            rank = None if number in line.beside else given.ranks[line.best[number]]
            chunk = line.chunk(number, given.chunks[candidate])
            pieces[-1].append(_Piece(chunk, rank))
    sizes = [[max(1, cost(piece.chunk)) for piece in run] for run in pieces]
    every = sorted(size for run in sizes for size in run)
    typical = every[len(every) // 2]
    decay = max(_DECAY, token_budget / typical)
    runs = [
        [(_value(p, s, typical, decay), s) for p, s in zip(run, lengths, strict=True)]
        for run, lengths in zip(pieces, sizes, strict=True)
    ]
    segments = extract_segments(
        runs, max_segment=max(token_budget // 2, typical), total=token_budget
    )
    chosen = [
        piece.chunk
        for segment in segments
        for piece in pieces[segment.run][segment.first : segment.last]
    ]
    return chosen or list(chunks[:1])


def _value(piece: _Piece, size: int, typical: int, decay: float) -> float:
    if piece.rank is None:
        return -_PENALTY * size / typical
    return math.exp(-piece.rank / decay) - _PENALTY
