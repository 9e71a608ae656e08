"""Examines an index: can it be put in document order, and if not, why?

`diagnose` applies the same rules as retrieval to every document. With the full texts it
proves every position (`oprag.locating` says how), and `plan_repair` returns the changes
that correct the index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import fields
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from oprag.chaining import PageCounts
from oprag.chunk import Hit, is_cut
from oprag.diagnosing.checks import (
    Group,
    check_group,
    find_chains,
    group_chunks,
    keys_of,
    read_group,
)
from oprag.diagnosing.proofs import ProvedDocument, prove
from oprag.diagnosing.repair import Change, plan_changes
from oprag.diagnosing.report import (
    CHAINED,
    EMPTY,
    EXAMPLES,
    Diagnosis,
    Example,
    Findings,
    Problem,
    Proofs,
    Verdict,
)
from oprag.diagnosing.sample import Sample, take_sample
from oprag.diagnosing.sources import Sources
from oprag.diagnosing.wholeness import check_documents
from oprag.documents import SourceLike
from oprag.positions import DocumentKey, Identity, PositionKeys, identify_document
from oprag.stores import StoredChunk, is_own

_FEW = 3
"""If there are fewer documents of one chunk each, it may be by chance."""
_PROBLEMS = {
    "moved": "wrong_position",
    "placed": "unrecorded_position",
    "ambiguous": "ambiguous_place",
    "not_found": "not_found",
}


class RepairPlan(NamedTuple):
    """The changes of a repair, and the chunks that it leaves unchanged."""

    changes: Sequence[Change]
    """One for each chunk that is written, the chunks of a document together."""
    unproved: Sequence[Example]
    """All chunks that stay without a proved place, and those that are left unwritten
    because their document could not be read afterwards (`damaged`). The chunks of a
    document come together, those without a source last."""
    diagnosis: Diagnosis
    """The index before the repair."""


def diagnose(
    chunks: Iterable[StoredChunk | Hit],
    *,
    documents: SourceLike | None = None,
    sample: int | None = None,
    total: Callable[[], int | None] | None = None,
    position_keys: PositionKeys | None = None,
    document_key: DocumentKey | None = None,
) -> Diagnosis:
    """Examine the chunks of an index.

    Args:
        chunks: From `ChunkStore.read`, in the order of the store. Metadata that
            LlamaIndex wrote are read the way LlamaIndex reads them. Neither chunks nor
            metadata are changed.
        documents: The full texts, to prove every position: anything that
            `oprag.documents.document_source` takes. Documents are found by `doc_uri`,
            by the identity that the chunks carry, or by `file_path`, `source`,
            `file_name`, `url` or `title`. Chunks without such a name are found by their
            text, if only one document holds it and the documents can be listed.
        sample: Chunks to look at, the first ones; None for all. If they show too
            little of a document (one chunk without a position, pages alone), all its
            chunks are looked at.
        total: Counts the chunks of the store, for `Diagnosis.total` of a sample; None
            if `chunks` is a list, or nothing counts them.
        position_keys: The option that retrieval takes, if the index needs it.
        document_key: The same.

    Returns:
        The verdict, and the problems that remain with these options.

    Raises:
        InvalidOptionError: `sample` is no count, or `documents` holds no texts.
    """
    if total is None and isinstance(chunks, Sized):
        total = partial(len, chunks)
    taken = take_sample(
        chunks,
        sample,
        total=total,
        position_keys=position_keys,
        document_key=document_key,
    )
    sources = None if documents is None else Sources(documents)
    return Examination(taken, sources, position_keys, document_key).diagnosis


def plan_repair(
    chunks: Iterable[StoredChunk],
    documents: SourceLike,
    *,
    position_keys: PositionKeys | None = None,
    document_key: DocumentKey | None = None,
) -> RepairPlan:
    """Return the changes that make the positions of an index the proved ones.

    Nothing is written. Chunks without a proved place keep their metadata, except for a
    position that the source disproves, and get the name of their document. If the
    source holds not one chunk of a document, that document stays unchanged altogether.
    So do other programs' chunks beside those that oprag indexed, as the document is
    there twice. If all chunks of a document are proved, the first gets the length and
    hash of the text (`oprag.metadata.text_stamp`), if it has none. Reserved keys of
    results (`oprag_…`) are removed. Once the changes are written, a second plan is
    empty. The same holds if a repair was broken off and done again. A document that is
    damaged, or carries a hash of its text, stays unchanged if it could not be read
    whole afterwards.

    Args:
        chunks: All chunks of the index, each with its id in the store.
        documents: The full texts; see `diagnose`, as for the other options.
        position_keys: The keys of the recorded positions.
        document_key: The key that names the document.

    Raises:
        InvalidOptionError: `documents` holds no texts.
    """
    sources = Sources(documents)
    found = Examination(take_sample(chunks, None), sources, position_keys, document_key)
    changes, unproved = list[Change](), list[Example]()
    for name, numbers in found.groups.items():
        group = [found.chunks[i] for i in numbers]
        damaged = not found.damaged.isdisjoint(numbers)
        planned, why = plan_changes(
            name, group, sources, position_keys, damaged=damaged
        )
        changes += planned
        unproved += [
            Example(found.id_of(numbers[i]), name, why[i]) for i in sorted(why)
        ]
    unproved += [Example(found.id_of(i), "", "no_source") for i in found.without]
    return RepairPlan(tuple(changes), tuple(unproved), found.diagnosis)


class Examination:
    """All findings on the chunks of a store, one document after the other."""

    def __init__(
        self,
        taken: Sample,
        sources: Sources | None,
        position_keys: PositionKeys | None,
        document_key: DocumentKey | None,
    ) -> None:
        self.chunks = chunks = taken.chunks
        self.groups: Mapping[str, Sequence[int]] = {}
        """Numbers of the chunks of each document that has a source, by its name."""
        self.without: Sequence[int] = ()
        """Numbers of the chunks without a source, if sources were given."""
        self._keys = position_keys, document_key
        self._findings = Findings(self.id_of)
        self._chained: list[tuple[Group, PageCounts]] = []
        self._starts = [-1] * len(chunks)
        """Each chunk's start in its source, if that is proved; else -1."""
        proofs = None if sources is None else self._compare(sources)
        groups = group_chunks(chunks, document_key)
        ordered = bool(chunks)
        for group in groups:
            ordered = self._is_ordered(group) and ordered
            for i in group.members if group.shared_name is not None else ():
                self._findings.add("shared_name", i, group.name)
            for i in group.members:
                if is_cut(chunks[i].text):
                    self._findings.add("cut_characters", i, group.name)
        ordered = not self._find_ids_of_chunks(document_key) and ordered
        self.damaged = check_documents(chunks, self._findings, sampled=not taken.is_all)
        """Numbers of the chunks of documents that cannot be read whole."""
        problems = (*self._findings.problems(), *self._report_chains())
        ordered &= all(problem.kind != "wrong_position" for problem in problems)
        verdict: Verdict = "ordered" if taken.is_all else "sampled"
        if not ordered:
            verdict = "not ordered"
        self.diagnosis = Diagnosis(
            "damaged" if self.damaged else verdict,
            len(chunks),
            not taken.is_all,
            taken.total,
            sum(bool(group.key) for group in groups),
            problems if chunks else (EMPTY,),
            proofs,
        )

    def _report_chains(self) -> Iterator[Problem]:
        """Report for how many pages without positions the overlaps prove the order."""
        if not self._chained:
            return
        ordered = sum(counts.ordered for _, counts in self._chained)
        pages = sum(counts.pages for _, counts in self._chained)
        message = f"Ordered by overlaps: {ordered:,} of {pages:,} pages."
        chunks = sum(len(group.members) for group, _ in self._chained)
        documents = len(self._chained)
        yield Problem(CHAINED, message, chunks, documents, (), serious=False)

    def id_of(self, number: int) -> str:
        """Return the store's id of a chunk, or its number."""
        return self.chunks[number].source.id or str(number)

    def _compare(self, sources: Sources) -> Proofs:
        position_keys, document_key = self._keys
        self.groups, self.without = sources.group(self.chunks, document_key)
        for place, i in enumerate(self.without):
            hit = self.chunks[i]
            shown = place < EXAMPLES
            sought = sources.sought(hit, document_key) if shown else ""
            self._findings.add("no_source", i, "", sought)
        counts: Counter[str] = Counter(no_source=len(self.without))
        for name, numbers in self.groups.items():
            group = [self.chunks[i] for i in numbers]
            for document in prove(name, group, sources, position_keys):
                counts.update(document.verdicts)
                counts["documents"] += 1
                counts["complete"] += document.placement.order is not None
                members = [numbers[at] for at in document.members]
                self._note(name, document, members)
        return Proofs(**{field.name: counts[field.name] for field in fields(Proofs)})

    def _note(self, name: str, document: ProvedDocument, numbers: list[int]) -> None:
        """Note the findings of the source on one version of a document."""
        spans = [location.span for location in document.placement.locations]
        found = zip(numbers, document.verdicts, spans, document.holds, strict=True)
        for i, verdict, span, holds in found:
            if span is not None:
                self._starts[i] = span.start
            kind = _PROBLEMS.get(verdict)
            if document.foreign:
                kind = "other_source"
            elif verdict == "ambiguous" and holds:
                kind = "unproved_position"
            elif holds is False and verdict != "moved":
                self._findings.add("wrong_position", i, name)
            if kind is not None:
                detail = f"it stands at {span[0]}-{span[1]}" if span else ""
                self._findings.add(kind, i, name, detail)

    def _find_ids_of_chunks(self, document_key: DocumentKey | None) -> bool:
        """Note files whose chunks all differ in document id; return whether any do."""
        files: dict[str, dict[str, list[int]]] = {}
        for i, hit in enumerate(self.chunks if document_key is None else ()):
            file, identity = Identity.file_of(hit.metadata), identify_document(hit)
            if file is not None and identity is not None and not is_own(hit.metadata):
                of_file = files.setdefault(file, {})
                of_file.setdefault(identity.key, []).append(i)
        found = False
        for file, documents in files.items():
            numbers = [each[0] for each in documents.values() if len(each) == 1]
            if len(numbers) < _FEW or len(numbers) < len(documents):
                continue
            found = True
            for i in numbers:
                self._findings.add("divided_file", i, file)
        return found

    def _is_ordered(self, group: Group) -> bool:
        """Read a document as retrieval does; return whether it and proofs agree."""
        if not group.key:
            for i in group.members:
                detail = keys_of(self.chunks[i])
                self._findings.add("missing_document", i, "", detail)
            return False
        position_keys, _ = self._keys
        hits = [self.chunks[i] for i in group.members]
        judged = read_group(hits, group.name, position_keys)
        chains = find_chains(hits, judged, position_keys)
        if chains is not None and not chains.counts.ordered:
            chains = None
        read = check_group(
            self.chunks,
            group,
            self._findings,
            position_keys=position_keys,
            chains=chains,
        )
        if chains is not None:
            self._chained.append((group, chains.counts))
            return chains.counts.ordered == chains.counts.pages
        if read is None:
            return False
        pairs = zip([self._starts[i] for i in group.members], read, strict=True)
        proved = sorted((at, chunk.position or ()) for at, chunk in pairs if at >= 0)
        return all(first[1] <= second[1] for first, second in pairwise(proved))
