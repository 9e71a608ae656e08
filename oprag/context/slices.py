"""Neighbours of what was retrieved: slices of full texts, and all neighbours in order.

A neighbour is a slice of the hit's length, or shorter where a hit or another neighbour
begins.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from oprag.chunk import Chunk, Span
from oprag.context.merging import SourceText, proved_source
from oprag.context.neighbours import Neighbours, outward
from oprag.context.options import ContextOptions
from oprag.context.pieces import slice_of
from oprag.context.selection import LONG_TOKEN

_NEAR = 8
"""A slice ends at white space within an eighth of the hit's length."""


def behind(
    own: Sequence[Chunk],
    ranks: Mapping[int, int],
    beside: Sequence[Chunk],
    neighbours: Neighbours,
    options: ContextOptions,
) -> tuple[list[Chunk], dict[int, int]]:
    """Put neighbours behind the hits that they were brought by.

    Args:
        own: The hits, best first.
        ranks: Of each hit, by its place in the list.
        beside: What was read of a store beside them, in the order in which it is
            taken; `rank` is the number in `neighbours.brought_by`.
        neighbours: As `arrange` takes them.
        options: Their `documents` give slices beside hits.

    Returns:
        All of them, each neighbour with a rank behind all others; and the rank of the
        hit that brought it, by this one.

    Raises:
        PositionError: See `proved_source`.
    """
    places = [neighbours.brought_by[chunk.rank] for chunk in beside]
    pairs = [(c, ranks.get(p, p)) for c, p in zip(beside, places, strict=True)]
    texts = options.source_text() if neighbours.beside else None
    if texts is not None and neighbours.widen is not None:
        wanted = {ranks[place] for place in neighbours.beside & ranks.keys()}
        reach = math.inf if neighbours.widen == "fill" else neighbours.widen
        budget = options.token_budget
        room = math.inf if budget is None else LONG_TOKEN * budget
        pairs += _slices(own[: options.top_n], wanted, reach, room, texts)
    first = max((chunk.rank for chunk in own), default=-1) + 1
    chunks = [chunk._replace(rank=first + n) for n, (chunk, _) in enumerate(pairs)]
    return [*own, *chunks], {first + n: rank for n, (_, rank) in enumerate(pairs)}


def _slices(
    chunks: Sequence[Chunk],
    beside: Collection[int],
    reach: float,
    room: float,
    source_text: SourceText,
) -> list[tuple[Chunk, int]]:
    """Cut the text beside hits out of their documents, about `room` characters.

    Returns:
        Chunks with the rank of the hit that they are beside, those worth most first.
    """
    taken: dict[str, list[Span]] = {}
    sources: dict[str, str] = {}
    ends: dict[tuple[int, int], int] = {}
    hits = {chunk.rank: chunk for chunk in chunks}
    for rank in sorted(beside & hits.keys()):
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
    found: list[tuple[Chunk, int]] = []
    left = room

    def take(rank: int, side: int, _: int) -> bool:
        nonlocal left
        hit = hits[rank]
        source, spans = sources[hit.document], taken[hit.document]
        span = _next(source, spans, ends[rank, side], side * len(hit.text))
        if span is None or left <= 0:
            return False
        left -= span.end - span.start
        spans.append(span)
        found.append((slice_of(hit, source[slice(*span)], *span), rank))
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
