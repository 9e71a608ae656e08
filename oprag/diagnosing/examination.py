"""One examination of an index: the rules of retrieval, then what the sources prove."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from oprag.chunk import Chunk, Span
from oprag.diagnosing.checks import check_group, group_chunks
from oprag.diagnosing.examined import Examined
from oprag.diagnosing.keys import count_keys
from oprag.diagnosing.naming import Sources
from oprag.diagnosing.proving import ProvedDocument, prove
from oprag.diagnosing.report import (
    Diagnosis,
    DocumentProof,
    Example,
    Findings,
    Options,
    Proofs,
    Verdict,
)
from oprag.diagnosing.suggesting import suggest
from oprag.documents import SourceLike
from oprag.positions import DocumentKey, PositionKeys

_PROBLEMS = {
    "moved": "wrong_position",
    "placed": "unrecorded_position",
    "ambiguous": "ambiguous_place",
    "not_found": "not_found",
}


class Examination:
    """One index under examination.

    Args:
        chunks: The chunks.
        documents: The full texts; None to prove nothing.
        position_keys: As retrieval takes it.
        document_key: The same.
        sampled: Whether the index has more chunks than these.
    """

    proved: list[ProvedDocument]
    """What the sources prove, one per document that has one."""

    def __init__(
        self,
        chunks: Sequence[Examined],
        documents: SourceLike | None,
        position_keys: PositionKeys | None,
        document_key: DocumentKey | None,
        *,
        sampled: bool = False,
    ) -> None:
        self._chunks = chunks
        self._keys = position_keys
        self._document_key = document_key
        self._sampled = sampled
        self.proved = []
        self._without_source: list[int] = []
        self._sources = None if documents is None else Sources(documents)
        if self._sources is not None:
            self.proved, self._without_source = prove(
                chunks,
                self._sources,
                document_key=document_key,
                position_keys=position_keys,
            )

    def diagnosis(self) -> Diagnosis:
        """Everything that was found."""
        findings = Findings(self._chunks)
        ordered = self._check(findings)
        named = sum(
            bool(group.key) for group in group_chunks(self._chunks, self._document_key)
        )
        self._compare(findings)
        verdict, options = self._verdict(ordered=ordered)
        return Diagnosis(
            verdict,
            options,
            len(self._chunks),
            self._sampled,
            named,
            count_keys(self._chunks),
            findings.problems(),
            None if self._sources is None else self._proofs(),
        )

    def unproved(self) -> tuple[Example, ...]:
        """The chunks that have no proved place."""
        listed = [(i, "", "no_source") for i in self._without_source]
        for document in self.proved:
            for i, verdict in zip(document.members, document.verdicts, strict=True):
                if verdict in {"ambiguous", "not_found", "blank"}:
                    why = "other_source" if document.foreign else verdict
                    listed.append((i, document.name, why))
        return tuple(
            Example(self._chunks[i].id or str(i), name, verdict)
            for i, name, verdict in sorted(listed)
        )

    def _check(self, findings: Findings) -> bool:
        """Ask the rules of retrieval; whether they and the proofs agree."""
        ordered = bool(self._chunks)
        spans = self._spans()
        held = {
            i
            for document in self.proved
            for i, holds in zip(document.members, document.holds, strict=True)
            if holds
        }
        for group in group_chunks(self._chunks, self._document_key):
            if not group.key:
                for i in group.members:
                    keys = ", ".join(sorted(map(str, self._chunks[i].hit.metadata)))
                    detail = f"keys: {keys or 'none'}"
                    findings.add("missing_document", i, "", detail)
                ordered = False
                continue
            read = check_group(
                self._chunks,
                group,
                findings,
                position_keys=self._keys,
                held=held,
                sampled=self._sampled,
            )
            if read is None or not _agree(read, [spans[i] for i in group.members]):
                ordered = False
        return ordered

    def _spans(self) -> list[Span | None]:
        """Where the sources prove the chunks to stand."""
        spans: list[Span | None] = [None] * len(self._chunks)
        for document in self.proved:
            locations = document.placement.locations
            for i, location in zip(document.members, locations, strict=True):
                spans[i] = location.span
        return spans

    def _compare(self, findings: Findings) -> None:
        for i in self._without_source:
            findings.add("no_source", i, "")
        for document in self.proved:
            if document.foreign:
                for i in document.members:
                    findings.add("other_source", i, document.name)
            else:
                _compare_document(document, findings)

    def _verdict(self, *, ordered: bool) -> tuple[Verdict, Options]:
        given = self._keys is not None or self._document_key is not None
        if ordered and not given:
            return "ordered", Options()
        found = suggest(
            self._chunks,
            self._spans(),
            document_key=self._document_key,
            position_keys=self._keys,
        )
        if found is None or (found == Options() and not ordered):
            return "not ordered", Options()
        return ("ordered with options" if found != Options() or given else "ordered"), (
            found
        )

    def _proofs(self) -> Proofs:
        counts = Counter(
            verdict for document in self.proved for verdict in document.verdicts
        )
        return Proofs(
            proved=counts["proved"],
            moved=counts["moved"],
            placed=counts["placed"],
            ambiguous=counts["ambiguous"],
            not_found=counts["not_found"],
            blank=counts["blank"],
            no_source=len(self._without_source),
            documents=tuple(map(_proof_of, self.proved)),
        )


def _compare_document(document: ProvedDocument, findings: Findings) -> None:
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


def _agree(chunks: Sequence[Chunk], spans: Sequence[Span | None]) -> bool:
    """Whether the order that is read is the one that the sources prove."""
    known = [
        (span, chunk.position or ())
        for chunk, span in zip(chunks, spans, strict=True)
        if span is not None
    ]
    known.sort(key=lambda pair: pair[0])
    positions = [position for _, position in known]
    return all(positions[i] <= positions[i + 1] for i in range(len(positions) - 1))
