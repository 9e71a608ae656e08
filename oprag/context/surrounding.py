"""Text beside hits out of full documents, where no store tells their neighbours.

A neighbour is then a slice of the hit's length, or shorter where a hit or another
neighbour begins; it ends at white space if there is some near.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

from oprag.chunk import Chunk, Span
from oprag.context.expanding import lent_worth
from oprag.context.merging import SourceText, proved_source
from oprag.context.pieces import slice_of

_NEAR = 8
"""White space is near in an eighth of the hit's length."""


def surrounding(
    chunks: Sequence[Chunk],
    beside: Collection[int],
    *,
    reach: float,
    room: float,
    source_text: SourceText,
) -> list[tuple[Chunk, int]]:
    """Slice the text beside hits out of their documents.

    Args:
        chunks: The hits, best first, checked.
        beside: Ranks of those that are widened.
        reach: Slices on each side of a hit.
        room: Characters of all slices together, about.
        source_text: Full texts by document name.

    Returns:
        Chunks with the rank of the hit that they are beside, those worth most first.

    Raises:
        InvalidSpanError: See `proved_source`.
    """
    taken: dict[str, list[Span]] = {}
    sources: dict[str, str] = {}
    nearest: list[tuple[float, int, int, int, int]] = []
    hits = {chunk.rank: chunk for chunk in chunks}
    for rank in sorted(beside & hits.keys()):
        hit = hits[rank]
        if hit.document not in taken:
            whole = [
                c for c in chunks if c.document == hit.document and c.exact and c.text
            ]
            taken[hit.document] = sorted(c.span for c in whole if c.span is not None)
            source = proved_source(whole, source_text) if whole else None
            if source is not None:
                sources[hit.document] = source
        placed = hit.position is not None and hit.position[-2:] == hit.span
        if hit.document in sources and placed and hit.exact and hit.text and hit.span:
            for side, at in ((-1, hit.span.start), (1, hit.span.end)):
                nearest.append((-lent_worth(rank, 0.5), rank, side, 1, at))
    heapq.heapify(nearest)
    found: list[tuple[Chunk, int]] = []
    while nearest and room > 0:
        _, rank, side, distance, at = heapq.heappop(nearest)
        hit = hits[rank]
        source, spans = sources[hit.document], taken[hit.document]
        span = _next(source, spans, at, side * len(hit.text))
        if span is None or distance > reach:
            continue
        spans.append(span)
        text = source[span.start : span.end]
        found.append((slice_of(hit, text, *span), rank))
        room -= len(text)
        worth = lent_worth(rank, distance + 0.5)
        on = span[side > 0]
        heapq.heappush(nearest, (-worth, rank, side, distance + 1, on))
    return found


def _next(source: str, taken: Sequence[Span], at: int, length: int) -> Span | None:
    """The slice that begins or ends at a place; None where other text is taken."""
    if any(start < at < end for start, end in taken):
        return None
    if length > 0:
        stop = min([s for s, _ in taken if s >= at], default=len(source))
        end = _at_space(source, at + length, length // _NEAR)
        span = Span(at, min(end, stop))
    else:
        stop = max([e for _, e in taken if e <= at], default=0)
        start = _at_space(source, at + length, -length // _NEAR)
        span = Span(max(start, stop), at)
    return span if span.start < span.end else None


def _at_space(source: str, place: int, near: int) -> int:
    """The nearest place behind white space; the place itself where there is none."""
    if not 0 < place < len(source):
        return min(max(0, place), len(source))
    for away in range(near + 1):
        for each in (place - away, place + away):
            if 0 < each < len(source) and source[each - 1].isspace():
                return each
    return place
