"""Relevant segments as dsRAG chooses them: by limits that are counted in chunks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from oprag.context import extract_segments
from oprag.evaluation.bench import Bench
from oprag.evaluation.contexts import Context
from oprag.evaluation.data import Question
from oprag.evaluation.reading import Reader
from oprag.evaluation.splittings import Splitting
from oprag.evaluation.system import Piece


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


_SEPARATOR = "\n\n"


@dataclass(frozen=True)
class OfficialSegments(Reader):
    """Reads dsRAG's segments, most valuable first, with its balanced preset.

    The similarity is the cosine; dsRAG takes a reranker's score.
    """

    name: str
    splitting: Splitting

    budgeted = False
    """Its limits are numbers of chunks."""

    def settings(self) -> dict[str, Any]:
        """Return the splitting and the limits."""
        return {
            "compat": "official",
            "splitting": self.splitting.settings(),
            **BALANCED._asdict(),
        }

    def context(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Context:
        """Choose segments; empty where none is worth it."""
        documents = {d.doc_id: d for d in bench.documents(question)}
        chunks = {
            name: bench.chunks(document, self.splitting)
            for name, document in documents.items()
        }
        ranked = [
            (hit.metadata["doc_uri"], hit.metadata["chunk_index"], hit.score or 0.0)
            for hit in bench.ranked(question, self.splitting)
        ]
        lengths = {name: len(found) for name, found in chunks.items()}

        def piece(segment: OfficialSegment) -> Piece:
            inside = chunks[segment.document][segment.first : segment.last]
            start = inside[0].metadata["char_start"]
            return Piece(segment.document, start, inside[-1].metadata["char_end"])

        pieces = [piece(segment) for segment in official_segments(ranked, lengths)]
        text = _SEPARATOR.join(
            documents[each.document].text[each.start : each.end] for each in pieces
        )
        return Context(text, tuple(pieces), bench.counter(text), "")
