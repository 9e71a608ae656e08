"""What the full texts say of all chunks: one document at a time, and counted."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import overload

from oprag.chunk import Chunk, Span
from oprag.diagnosing.checks import Examined
from oprag.diagnosing.chunk_numbers import Numbers
from oprag.diagnosing.naming import Sources
from oprag.diagnosing.proving import ProvedDocument, prove
from oprag.diagnosing.report import EXAMPLES, DocumentProof, Findings, Proofs
from oprag.positions import DocumentKey, PositionKeys

_PROBLEMS = {
    "moved": "wrong_position",
    "placed": "unrecorded_position",
    "ambiguous": "ambiguous_place",
    "not_found": "not_found",
}


class Spans(Sequence[Span | None]):
    """Where chunks stand, by their numbers; sixteen bytes for each, if any does.

    Args:
        number: Of chunks.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._starts = array("q")
        self._ends = array("q")

    def put(self, number: int, span: Span) -> None:
        """Note where one chunk stands."""
        if not self._starts:
            self._starts = array("q", [-1]) * self._number
            self._ends = array("q", [-1]) * self._number
        self._starts[number], self._ends[number] = span

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, number: int) -> Span | None: ...
    @overload
    def __getitem__(self, number: slice) -> list[Span | None]: ...
    def __getitem__(self, number: int | slice) -> Span | list[Span | None] | None:
        if isinstance(number, slice):
            return [self[i] for i in range(len(self))[number]]
        start = self._starts[number] if self._starts else -1
        return None if start < 0 else Span(start, self._ends[number])


class Comparison:
    """All chunks, compared with the full texts.

    Args:
        chunks: All of them.
        sources: The full texts; None where none were given, which proves nothing.
        findings: Takes what is wrong.
        position_keys: Where the recorded positions are.
        document_key: What names the document.
        seen: Called with each document that has a source, in the order of the first
            chunks.
    """

    def __init__(
        self,
        chunks: Sequence[Examined],
        sources: Sources | None,
        findings: Findings,
        *,
        position_keys: PositionKeys | None,
        document_key: DocumentKey | None,
        seen: Callable[[ProvedDocument], None] = lambda _: None,
    ) -> None:
        self.proofs: Proofs | None = None
        """None where no sources were given."""
        self.spans = Spans(len(chunks))
        """Where the sources prove the chunks to stand."""
        self.held = Numbers()
        """Chunks whose recorded span holds their text in the source."""
        if sources is None:
            return
        groups, without = sources.group(chunks, document_key)
        for place, i in enumerate(without):
            told = place < EXAMPLES
            sought = sources.sought(chunks[i].hit, document_key) if told else ""
            findings.add("no_source", i, "", sought)
        counts: Counter[str] = Counter()
        documents = []
        for document in prove(chunks, groups, sources, position_keys=position_keys):
            seen(document)
            _compare(document, findings)
            counts.update(document.verdicts)
            documents.append(_proof_of(document))
            self._note(document)
        fields = ("proved", "moved", "placed", "ambiguous", "not_found", "blank")
        self.proofs = Proofs(
            **{verdict: counts[verdict] for verdict in fields},
            no_source=len(without),
            documents=tuple(documents),
        )

    def _note(self, document: ProvedDocument) -> None:
        found = zip(
            document.members, document.placement.locations, document.holds, strict=True
        )
        for i, location, holds in found:
            if location.span is not None:
                self.spans.put(i, location.span)
            if holds:
                self.held.add(i)

    def agrees(self, chunks: Sequence[Chunk], members: Sequence[int]) -> bool:
        """Whether the order that is read is the one that the sources prove.

        Args:
            chunks: Those of a document, as retrieval reads them.
            members: Their numbers.
        """
        if self.proofs is None:
            return True
        known = [
            (span, chunk.position or ())
            for chunk, i in zip(chunks, members, strict=True)
            if (span := self.spans[i]) is not None
        ]
        known.sort(key=lambda pair: pair[0])
        return all(before <= after for (_, before), (_, after) in pairwise(known))


def _compare(document: ProvedDocument, findings: Findings) -> None:
    if document.foreign:
        for i in document.members:
            findings.add("other_source", i, document.name)
        return
    found = zip(
        document.members,
        document.verdicts,
        document.placement.locations,
        document.holds,
        strict=True,
    )
    for i, verdict, location, holds in found:
        kind = _PROBLEMS.get(verdict)
        if verdict == "ambiguous" and holds:
            kind = "unproved_position"
        if kind is not None:
            span = location.span
            detail = f"it stands at {span[0]}-{span[1]}" if span else ""
            findings.add(kind, i, document.name, detail)
        if holds is False and verdict != "moved":
            findings.add("wrong_position", i, document.name)


def _proof_of(document: ProvedDocument) -> DocumentProof:
    placement = document.placement
    placed = sum(location.span is not None for location in placement.locations)
    complete = placement.order is not None
    return DocumentProof(document.name, len(document.members), placed, complete)
