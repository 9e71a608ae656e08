"""Neighbours of what was retrieved, cut out of full texts.

A neighbour is a slice of the hit's length, or shorter where a hit or another neighbour
begins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from oprag.chunk import Chunk, Span
from oprag.context.merging import proved_source
from oprag.context.neighbours import Neighbours, outward
from oprag.context.options import ContextOptions
from oprag.context.pieces import slice_of
from oprag.context.selection import LONG_TOKEN

_NEAR = 8
"""A slice ends at white space within an eighth of the hit's length."""


def slices_beside(
    chunks: Sequence[Chunk], neighbours: Neighbours, options: ContextOptions
) -> list[Chunk]:
    """Cut the text beside hits out of the full texts of their documents.

    Args:
        chunks: The hits, best first; `rank` is the place in the list.
        neighbours: Beside which of them, and how far.
        options: Their `documents` are read, and about as much as `token_budget` holds
            is cut out.

    Returns:
        Those worth most first.

    Raises:
        PositionError: See `proved_source`.
    """
    source_text = options.source_text()
    if source_text is None or neighbours.widen is None:
        return []
    reach = math.inf if neighbours.widen == "fill" else neighbours.widen
    budget = options.token_budget
    left = math.inf if budget is None else LONG_TOKEN * budget
    taken: dict[str, list[Span]] = {}
    sources: dict[str, str] = {}
    ends: dict[tuple[int, int], int] = {}
    hits = {chunk.rank: chunk for chunk in chunks}
    for rank in sorted(neighbours.beside & hits.keys()):
        hit = hits[rank]
        if hit.document not in taken:
            of_it = [c for c in chunks if c.document == hit.document]
            whole = [c for c in of_it if c.exact and c.text]
            taken[hit.document] = sorted(c.span for c in whole if c.span is not None)
            source = proved_source(whole, source_text) if whole else None
            if source is not None:
                sources[hit.document] = source
        placed = hit.position is not None and hit.position[-2:] == hit.span
        if hit.document in sources and placed and hit.exact and hit.text and hit.span:
            ends[rank, -1], ends[rank, 1] = hit.span
    found: list[Chunk] = []

    def take(rank: int, side: int, _: int) -> bool:
        nonlocal left
        hit = hits[rank]
        source, spans = sources[hit.document], taken[hit.document]
        span = _next(source, spans, ends[rank, side], side * len(hit.text))
        if span is None or left <= 0:
            return False
        left -= span.end - span.start
        spans.append(span)
        found.append(slice_of(hit, source[slice(*span)], *span))
        ends[rank, side] = span[side > 0]
        return True

    outward(dict.fromkeys(rank for rank, _ in ends), reach, take)
    return found


def _next(source: str, taken: Sequence[Span], at: int, length: int) -> Span | None:
    """Return the slice that begins or ends at a place; None where text is taken."""
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
    """Return the nearest place behind white space; the place itself without one."""
    if not 0 < place < len(source):
        return min(max(0, place), len(source))
    for away in range(near + 1):
        for each in (place - away, place + away):
            if 0 < each < len(source) and source[each - 1].isspace():
                return each
    return place
