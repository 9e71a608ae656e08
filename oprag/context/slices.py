"""Neighbours of what was retrieved, cut out of full texts.

A neighbour is a slice of the hit's length, or shorter where a hit or another neighbour
begins.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator, Sequence

from oprag.chunk import Chunk, Span
from oprag.context.budget import LONG_TOKEN
from oprag.context.neighbours import outward
from oprag.context.options import ContextOptions, Widen
from oprag.context.passages import proved_source
from oprag.context.pieces import is_sliceable, slice_of
from oprag.ordering import group_by_document
from oprag.positions import PART_KEYS

_OF_ITS_PAGE = (*PART_KEYS, "loc")
_NEAR = 8
"""A slice ends at white space within an eighth of the hit's length."""


def slices_beside(
    chunks: Sequence[Chunk],
    ranks: Collection[int],
    widen: Widen,
    options: ContextOptions,
) -> list[Chunk]:
    """Cut the text beside hits out of the full texts of their documents.

    Args:
        chunks: What was retrieved, and what is known beside it, best first.
        ranks: Of the hits beside which text is read.
        widen: How many slices on each side; `"fill"` for any number.
        options: Their `documents` are read, and about as much as `token_budget` holds
            is cut out.

    Returns:
        Slices with the rank of their hit, those worth most first.
    """
    texts, budget = options.source_text(), options.token_budget
    left = math.inf if budget is None else LONG_TOKEN * budget
    reach = math.inf if widen == "fill" else widen
    sides: dict[tuple[int, int], tuple[Chunk, list[int], str]] = {}
    walks = []
    for members in group_by_document(chunks).values():
        whole = [c for c in members if c.part is None and is_sliceable(c)]
        source = proved_source(whole, texts) if texts and whole else None
        if source is not None:
            for side, hit, gap in _sides(whole, ranks, len(source)):
                sides[hit.rank, side] = hit, gap, source
                length = len(hit.text)
                most = min(reach, 1 + 2 * (gap[1] - gap[0]) // length)
                walks.append(outward(hit.rank, length, side, most))
    found: list[Chunk] = []
    for _, rank, side, _ in heapq.merge(*walks):
        if left <= 0:
            break
        hit, gap, source = sides[rank, side]
        start, end = gap
        length = len(hit.text)
        if side > 0:
            end = gap[0] = min(end, _at_space(source, start + length, length))
        else:
            start = gap[1] = max(start, _at_space(source, end - length, length))
        if start < end:
            left -= end - start
            beside = slice_of(hit, source[start:end], start, end)
            own = {k: v for k, v in beside.metadata.items() if k not in _OF_ITS_PAGE}
            found.append(beside._replace(metadata=own))  # it may be of another page
    return found


def _sides(
    chunks: Sequence[Chunk], ranks: Collection[int], length: int
) -> Iterator[tuple[int, Chunk, list[int]]]:
    """Of the hits of one text: the sides where nobody has what is beside them."""
    edges: dict[tuple[int, int], list[int]] = {}
    reached, last = 0, Span(length, length)
    for start, end in [*sorted(c.span for c in chunks if c.span), last]:
        if start > reached:
            edges[1, reached] = edges[-1, start] = [reached, start]
        reached = max(reached, end)
    for chunk in chunks:
        if chunk.rank in ranks and chunk.span == (chunk.position or ())[-2:]:
            for side, place in zip((-1, 1), chunk.span, strict=True):
                if gap := edges.pop((side, place), None):  # the best hit there has it
                    yield side, chunk, gap


def _at_space(source: str, place: int, length: int) -> int:
    """Return the nearest place after white space; the place itself without one."""
    if 0 < place < len(source):
        for away in range(length // _NEAR + 1):
            for each in (place - away, place + away):
                if 0 < each < len(source) and source[each - 1].isspace():
                    return each
    return min(max(0, place), len(source))
