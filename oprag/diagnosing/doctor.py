"""Examines an index: can it be put in document order, and if not, why?

`diagnose` applies retrieval's own rules to every document, and looks for options
where these refuse. With the full texts at hand it proves every position
(`oprag.locating` says how), and `plan_repair` says what to write so that the index is
right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from oprag.chunk import Chunk, Hit, Span
from oprag.context import knows_its_options
from oprag.diagnosing.checks import (
    Examined,
    check_group,
    examine,
    group_chunks,
    read_group,
)
from oprag.diagnosing.keys import count_keys
from oprag.diagnosing.naming import Sources
from oprag.diagnosing.planning import Change, changes_of
from oprag.diagnosing.proving import ProvedDocument, prove
from oprag.diagnosing.report import (
    DAMAGE,
    Diagnosis,
    DocumentProof,
    Example,
    Findings,
    Options,
    Proofs,
    Verdict,
)
from oprag.diagnosing.sampling import Sample
from oprag.diagnosing.settling import Planned, settle
from oprag.diagnosing.suggesting import suggest
from oprag.diagnosing.wholeness import check_documents
from oprag.documents import SourceLike, StoredChunk
from oprag.metadata import DOC_VERSION
from oprag.positions import DocumentKey, PositionKeys

_PROBLEMS = {
    "moved": "wrong_position",
    "placed": "unrecorded_position",
    "ambiguous": "ambiguous_place",
    "not_found": "not_found",
}


class RepairPlan(NamedTuple):
    """What a repair writes, and what it leaves as it is."""

    changes: tuple[Change, ...]
    """One per chunk that is written, the chunks of a document together."""
    unproved: tuple[Example, ...]
    """All chunks that stay without a proved place, in the order of the store; then
    those that nothing is written on, as their document could not be read after it
    (`kept_readable`), or its damage not be seen (`damaged`)."""
    diagnosis: Diagnosis
    """The index before the repair."""


@knows_its_options()
def diagnose(
    chunks: Iterable[StoredChunk | Hit],
    *,
    documents: SourceLike | None = None,
    sample: int | None = None,
    position_keys: PositionKeys | None = None,
    document_key: DocumentKey | None = None,
) -> Diagnosis:
    """Examine the chunks of an index.

    Args:
        chunks: As the store gives them (`ChunkStore.scan`), in its order; metadata
            that LlamaIndex wrote are read as it reads them. Nothing is written to.
        documents: The full texts, to prove every position: anything that
            `oprag.documents.document_source` takes. Documents are found by `doc_uri`,
            by the identity that the chunks carry, or by `file_path`, `source`,
            `file_name`, `url` or `title`; chunks without such a name by their text,
            where one document alone holds it and the documents can be listed.
        sample: Chunks to look at, the first ones; None for all. Of documents of which
            these say too little (one chunk without a position, pages alone) the others
            are looked for in all that `chunks` gives.
        position_keys: As retrieval takes it, where the index needs it.
        document_key: The same.

    Returns:
        The verdict, the options to pass, the keys, and the problems with the options
        that were given.

    Raises:
        InvalidOptionError: `sample` is no such number, or `documents` holds no texts.
    """
    taken = Sample(chunks, sample)
    taken.read_on(partial(read_group, position_keys=position_keys), document_key)
    return diagnose_sample(
        taken, documents, position_keys=position_keys, document_key=document_key
    )


def diagnose_sample(
    taken: Sample,
    documents: SourceLike | None,
    *,
    position_keys: PositionKeys | None,
    document_key: DocumentKey | None,
) -> Diagnosis:
    """Examine chunks of an index that were taken already; see `diagnose`."""
    sampled = not taken.is_all()
    return _Examination(
        taken.chunks, documents, position_keys, document_key, sampled=sampled
    ).diagnosis()


def plan_repair(
    chunks: Iterable[StoredChunk],
    documents: SourceLike,
    *,
    position_keys: PositionKeys | None = None,
    document_key: DocumentKey | None = None,
) -> RepairPlan:
    """Return what to write so that the positions of an index are the proved ones.

    Nothing is written. Chunks that have no proved place keep what they have, but for
    a position that the source disproves; they get the name of their document. Where
    the source holds not one chunk of a document, that stays as it is altogether; so do
    chunks of others beside those that oprag indexed, as the document is there twice.
    Where all chunks of a document are proved, the first of each part gets the length
    and hash of the part's text (`oprag.metadata.text_stamp`), if it has none. Once
    the changes are written, a second plan is empty; so is that of an index whose
    repair was broken off and done again. Where a document can be read, with
    `exact=False` at least, and could not be after it, it stays as it is. So does one
    that is damaged and would not be whole after it, or would lose what tells so.

    Args:
        chunks: All chunks of the index, each with its id in the store.
        documents: The full texts; see `diagnose`, as for the other options.
        position_keys: Where the recorded positions are.
        document_key: What names the document.

    Raises:
        InvalidOptionError: `documents` holds no texts.
    """
    stored = list(chunks)
    asked = documents, position_keys, document_key
    first = _Examination(list(map(examine, stored)), *asked)

    def planned(now: Sequence[StoredChunk]) -> list[Planned]:
        if now is stored:
            return first.planned()
        return _Examination(list(map(examine, now)), *asked).planned()

    def is_damaged(now: Sequence[StoredChunk]) -> bool:
        examined = list(map(examine, now))
        found = _Examination(examined, None, position_keys, document_key).diagnosis()
        return found.verdict == "damaged"

    settled = settle(stored, planned, is_damaged)
    unproved = first.unproved()
    listed = {example.chunk for example in unproved}
    held = [(change, "damaged") for change in settled.hiding]
    held += [(change, "kept_readable") for change in settled.taking]
    left = [
        Example(change.id, change.document, why)
        for change, why in held
        if change.id not in listed
    ]
    return RepairPlan(tuple(settled.changes), (*unproved, *left), first.diagnosis())


class _Examination:
    """One index under examination."""

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
        self._ids = [chunk.id or str(i) for i, chunk in enumerate(chunks)]
        self._keys = position_keys
        self._document_key = document_key
        self._sampled = sampled
        self.proved: list[ProvedDocument] = []
        """What the sources prove, one per document that has one."""
        self._without_source: list[int] = []
        self._sources = None if documents is None else Sources(documents)
        if self._sources is not None:
            self.proved, self._without_source = prove(
                chunks,
                self._sources,
                document_key=document_key,
                position_keys=position_keys,
            )

    def planned(self) -> list[Planned]:
        """Return what is to be written, once for each version of a document."""
        versioned = {
            document.name for document in self.proved if self._is_versioned(document)
        }
        return [
            Planned(
                document.name,
                [self._ids[i] for i in document.members],
                changes_of(self._chunks, document)
                if self._is_versioned(document) or document.name not in versioned
                else [],
                document.source,
            )
            for document in self.proved
        ]

    def _is_versioned(self, document: ProvedDocument) -> bool:
        return DOC_VERSION in self._chunks[document.members[0]].hit.metadata

    def diagnosis(self) -> Diagnosis:
        """Return everything that was found."""
        findings = Findings(self._ids)
        ordered = self._check(findings)
        named = sum(
            bool(group.key) for group in group_chunks(self._chunks, self._document_key)
        )
        whole = check_documents(self._chunks, findings, sampled=self._sampled)
        self._compare(findings)
        verdict, options = self._verdict(ordered=ordered)
        if not findings.numbers(DAMAGE) <= whole:
            verdict = "damaged"
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
        """Return the chunks that have no proved place."""
        listed = [(i, "", "no_source") for i in self._without_source]
        for document in self.proved:
            for i, verdict in zip(document.members, document.verdicts, strict=True):
                if verdict in {"ambiguous", "not_found", "blank"}:
                    why = "other_source" if document.foreign else verdict
                    listed.append((i, document.name, why))
        return tuple(
            Example(self._ids[i], name, verdict) for i, name, verdict in sorted(listed)
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
            hit = self._chunks[i].hit
            sought = self._sources and self._sources.sought(hit, self._document_key)
            findings.add("no_source", i, "", sought or "")
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
        return (
            "ordered with options" if given or found != Options() else "ordered",
            found,
        )

    def _proofs(self) -> Proofs:
        counts = Counter(
            verdict for document in self.proved for verdict in document.verdicts
        )
        fields = ("proved", "moved", "placed", "ambiguous", "not_found", "blank")
        return Proofs(
            **{verdict: counts[verdict] for verdict in fields},
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
    return all(before <= after for (_, before), (_, after) in pairwise(known))
