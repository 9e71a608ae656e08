"""Cut the neighbours of hits out of full texts."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter

from oprag.chunk import Chunk, Span
from oprag.context.options import ContextOptions, Widen
from oprag.context.passages import find_verified_text
from oprag.context.pieces import is_sliceable, slice_of
from oprag.context.recall import Segment, split_into_segments
from oprag.metadata import is_in_all
from oprag.ordering import group_by_document
from oprag.positions import PART_KEYS

_OF_ITS_PAGE = (*PART_KEYS, "loc")
_SPACE = re.compile(r"\s")
_LONG_TOKEN = 8
"""Characters of a token in the longest words: how much text a budget may hold."""
_NEAR = 8
"""A slice ends after white space if there is some within an eighth of its length."""


def cut_neighbours(
    chunks: Sequence[Chunk],
    ranks: Collection[int],
    widen: Widen,
    options: ContextOptions,
) -> list[Chunk]:
    """Cut the text beside hits out of the full texts of their documents.

    Args:
        chunks: The retrieved chunks and their known neighbours, best first.
        ranks: Of the hits beside which text is read.
        widen: How many slices on each side; `"fill"` for any number.
        options: Their `documents` are read, and about as much as `token_budget` holds
            is cut out.

    Returns:
        Slices that hold nothing of `chunks` and do not overlap, worth most first. They
        have about the length of a hit, or less before a chunk or another slice.
    """
    texts, budget = options.source_text(), options.require_budget()
    left = _LONG_TOKEN * budget if budget else sys.maxsize
    first = max((chunk.rank for chunk in chunks), default=0) + 1
    found: list[Segment] = []
    for members in group_by_document(chunks).values():
        whole = [c for c in members if c.part is None and is_sliceable(c)]
        hits = [c for c in whole if c.position and c.position[-2:] == c.span]
        hits = [hit for hit in hits if hit.rank in ranks]
        source = find_verified_text(whole, texts) if texts and hits else None
        if source is None:
            continue
        length = sum(len(hit.text) for hit in hits) // len(hits)
        spans = [hit.span or Span(0, 0) for hit in hits]
        reach = left if widen == "fill" else widen * length
        if widen == "fill":
            spans = [Span(min(spans)[0], max(end for _, end in spans))]
        known, *others = [hit.metadata for hit in hits]
        common = {  # text beside them has no other metadata
            key: value
            for key, value in known.items()
            if key not in _OF_ITS_PAGE and is_in_all(key, value, others)
        }
        of = hits[0]._replace(
            metadata=common, rank=first, proof="compared", is_neighbour=True
        )
        slices = []
        for start, end in spans:
            begin, last = max(0, start - reach), min(len(source), end + reach)
            places = *range(begin, last, length), last
            cuts = sorted({_move_past_space(source, place, length) for place in places})
            slices += [slice_of(of, a, b, source[a:b]) for a, b in pairwise(cuts)]
        pieces = split_into_segments([*whole, *slices], range(first))
        found += [p for p in pieces if p.rank == first and p.chunk.text.strip()]
    found.sort(key=attrgetter("worth"), reverse=True)
    before = accumulate((piece.length for piece in found), initial=0)
    return [p.chunk for p, read in zip(found, before, strict=False) if read < left]


def _move_past_space(source: str, place: int, length: int) -> int:
    """Return the next place after white space; the place itself if none is near."""
    if place == 0:
        return 0
    space = _SPACE.search(source, place - 1, place + length // _NEAR)
    return min(place, len(source)) if space is None else space.end()
