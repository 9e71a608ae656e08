"""Relevant-segment extraction as dsRAG does it: in chunks, by rank and similarity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oprag.context import extract_segments


class SegmentRules(NamedTuple):
    """The limits, counted in chunks."""

    longest: int
    """Chunks of a segment at most."""
    total: int
    """Chunks of all segments together at most."""
    minimum: float
    """Value that a segment has at least."""
    penalty: float
    """Taken off the value of every chunk."""
    decay: float
    """Rank at which a chunk's value has fallen to 1/e."""
    ranked: int = 200
    """Chunks that a search brings; all others are worth nothing but the penalty."""


BALANCED = SegmentRules(15, 30, 0.5, 0.18, 30)
"""dsRAG's preset of that name."""


class OfficialSegment(NamedTuple):
    """Neighbouring chunks of one document: `first` up to `last`, exclusive."""

    document: str
    first: int
    last: int
    value: float


def official_segments(
    ranked: Sequence[tuple[str, int, float]],
    lengths: Mapping[str, int],
    rules: SegmentRules = BALANCED,
) -> list[OfficialSegment]:
    """Choose segments as dsRAG does for one query.

    A chunk of rank r (from 0) and similarity s is worth exp(-r / decay) · s - penalty,
    a chunk that was not found -penalty. The run of neighbours with the largest sum is
    taken, and so on, as long as one is worth the minimum.

    Args:
        ranked: Document, number of the chunk in it, and similarity, best first.
        lengths: Chunks of each document.
        rules: Limits.

    Returns:
        The segments, most valuable first; no two overlap. Of equal ones the earlier
        document in `lengths`, then the earlier and the shorter.

    Source:
        github.com/D-Star-AI/dsRAG; reproduced from its behaviour, none of its code.
        Not reproduced: several queries at a time, the choice of the best ten
        documents, and the adjustment of values by the length of chunks.
    """
    values = {
        document: [-rules.penalty] * length for document, length in lengths.items()
    }
    for rank, (document, number, similarity) in enumerate(ranked[: rules.ranked]):
        worth = math.exp(-rank / rules.decay) * similarity
        values[document][number] = worth - rules.penalty
    documents = list(values)
    found = extract_segments(
        [[(value, 1) for value in values[document]] for document in documents],
        max_segment=rules.longest,
        total=rules.total,
        minimum=rules.minimum,
    )
    return [
        OfficialSegment(documents[each.run], each.first, each.last, each.value)
        for each in found
    ]
