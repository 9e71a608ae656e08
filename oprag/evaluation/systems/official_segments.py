"""Relevant segments by dsRAG's own limits, which are counted in chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oprag.evaluation.bench import Bench
from oprag.evaluation.contexts import Context
from oprag.evaluation.data import Question
from oprag.evaluation.official.segments import (
    BALANCED,
    OfficialSegment,
    official_segments,
)
from oprag.evaluation.splittings import Splitting
from oprag.evaluation.systems.reading import read
from oprag.evaluation.systems.system import Attempt, Piece, System

_SEPARATOR = "\n\n"


@dataclass(frozen=True)
class OfficialSegments(System):
    """Reads dsRAG's segments, most valuable first, with its balanced preset.

    The similarity is the cosine; dsRAG takes a reranker's score.
    """

    name: str
    splitting: Splitting

    @property
    def budgeted(self) -> bool:
        """False: its limits are numbers of chunks."""
        return False

    def settings(self) -> dict[str, Any]:
        """Return the splitting and the limits."""
        return {
            "compat": "official",
            "splitting": self.splitting.settings(),
            **BALANCED._asdict(),
        }

    async def attempt(
        self,
        question: Question,
        budget: int | None,  # noqa: ARG002 -- it has none
        bench: Bench,
    ) -> Attempt:
        """Read the segments and answer; where none is worth it, from nothing."""
        return await read(question, self.context(question, bench), bench)

    def context(self, question: Question, bench: Bench) -> Context:
        """Choose; no model is asked."""
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
