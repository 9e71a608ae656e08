"""Which text to read, judged by where good candidates stand: `selection="expand"`.

A chunk between two good ones is likely to be needed although no retriever ranked it
high: what it says is only understood with its neighbours, and so is the question's
evidence. So each piece of retrieved text is worth

    the sum of 1 / (5 + rank) over the candidates it is in
    + the best of the same, halved and then falling with the distance, over those
      of its document it is not in

and the pieces are taken in the order of their worth. Only ranks and positions are
used: scores differ in meaning from store to store, ranks do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from oprag.chunk import Chunk
from oprag.context.merging import SourceText
from oprag.context.pieces import Line, Piece, cut_into_lines

_HEAD = 5
"""Added to the rank: how fast worth falls at the top of the list. Rank 5 is worth
half of rank 0. (Fusion takes 60, because it trusts the top of no single list;
here the list is fused already.)"""
_REACH = 3
"""How far on either side a chunk adds worth, in its own lengths."""


def expanded_order(
    chunks: Sequence[Chunk],
    *,
    max_gap: int = 0,
    source_text: SourceText | None = None,
    hits: float = math.inf,
) -> list[Chunk]:
    """Order retrieved text by its own rank and that of its neighbours.

    Args:
        chunks: Best first, checked, without duplicates. Of any lengths, overlapping
            or not.
        max_gap: Not used to judge; see `cut_into_lines`.
        source_text: Full texts by document name. Then text that stands around
            candidates may be chosen too, as far as they add worth; None: only text
            that was retrieved.
        hits: Chunks from this rank on were not retrieved but stand beside hits: they
            lend nothing, and come behind all others.

    Returns:
        Chunks that do not overlap, best first. They are the candidates themselves
        where nothing else begins or ends in them, else slices of them; their `rank`
        is that of the candidate. Equal worth: the better candidate first, then
        reading order.

    Raises:
        InvalidSpanError: See `cut_into_lines`.

    Source:
        This project's own. The settings were chosen on public data, and what was
        tried beside them is in `benchmarks/`.
    """
    lines = cut_into_lines(
        chunks, max_gap=max_gap, source_text=source_text, reach=_REACH
    )
    judged = [
        (_beside(piece, hits), -worth, piece.chunk.rank, piece.start, piece.chunk)
        for line in lines
        for worth, piece in zip(_worths(line, hits), line.pieces, strict=True)
    ]
    judged.sort(key=lambda entry: entry[:4])
    return [chunk for *_, chunk in judged]


def _beside(piece: Piece, hits: float) -> bool:
    return bool(piece.covering) and piece.covering[0].rank >= hits


def _worths(line: Line, hits: float) -> list[float]:
    pieces = line.pieces
    own = [0.0] * len(pieces)
    lent = [0.0] * len(pieces)
    middles = [(piece.start + piece.end) / 2 for piece in pieces]
    for chunk, first, last in line.candidates:
        if chunk.rank >= hits:
            continue
        worth = 1 / (_HEAD + chunk.rank)
        for number in range(first, last):
            own[number] += worth
        start, end = pieces[first].start, pieces[last - 1].end
        length = end - start
        for number in range(first - 1, -1, -1):
            distance = (start - middles[number]) / length
            if distance > _REACH:
                break
            lent[number] = max(lent[number], lent_worth(chunk.rank, distance))
        for number in range(last, len(pieces)):
            distance = (middles[number] - end) / length
            if distance > _REACH:
                break
            lent[number] = max(lent[number], lent_worth(chunk.rank, distance))
    return [mine + best for mine, best in zip(own, lent, strict=True)]


def lent_worth(rank: int, distance: float) -> float:
    """Return what a candidate lends to text beside it.

    The next chunk of the same length (its middle is half a length away) is lent
    half of the candidate's worth, the one two further on a quarter.

    Args:
        rank: The candidate's.
        distance: From its end to the middle of the text, in lengths of the candidate.
    """
    return 1 / (_HEAD + rank) * float(0.5 * 2 ** -((distance - 0.5) / 2))
