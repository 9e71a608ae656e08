"""Examines an index: can it be put in document order, and if not, why?

`diagnose` applies retrieval's own rules to every document, and looks for options
where these refuse. With the full texts at hand it proves every position
(`oprag.locating` says how), and `plan_repair` says what to write so that the index is
right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypedDict

from oprag.chunk import Hit, Span
from oprag.context import knows_its_options
from oprag.diagnosing.checks import (
    Examined,
    Group,
    check_group,
    examine,
    group_chunks,
    read_group,
)
from oprag.diagnosing.comparing import Comparison
from oprag.diagnosing.keys import count_keys
from oprag.diagnosing.naming import Sources
from oprag.diagnosing.planning import Change
from oprag.diagnosing.proving import ProvedDocument
from oprag.diagnosing.repairing import Repair, id_of, planned_of
from oprag.diagnosing.report import (
    DAMAGE,
    EMPTY,
    Diagnosis,
    Example,
    Findings,
    Options,
    Verdict,
)
from oprag.diagnosing.sampling import Sample
from oprag.diagnosing.settling import Planned
from oprag.diagnosing.spooled import Spooled
from oprag.diagnosing.suggesting import suggest
from oprag.diagnosing.wholeness import check_documents
from oprag.documents import SourceLike, StoredChunk
from oprag.positions import DocumentKey, PositionKeys


class RepairPlan(NamedTuple):
    """What a repair writes, and what it leaves as it is.

    Both are tuples; where they are long, sequences that lie in a temporary file.
    """

    changes: Sequence[Change]
    """One per chunk that is written, the chunks of a document together."""
    unproved: Sequence[Example]
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
    return _examined(
        taken.chunks,
        None if documents is None else Sources(documents),
        position_keys=position_keys,
        document_key=document_key,
        sampled=not taken.is_all(),
    )


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
    sources = Sources(documents)
    keys: _Keys = {"position_keys": position_keys, "document_key": document_key}
    stored = Sample(chunks, None).chunks
    repair = Repair(stored)
    diagnosis = _examined(stored, sources, **keys, seen=repair.add)

    def planned(now: Sequence[StoredChunk]) -> list[Planned]:
        return planned_of(list(map(examine, now)), sources, **keys)

    def is_damaged(now: Sequence[StoredChunk]) -> bool:
        found = _examined(list(map(examine, now)), None, **keys)
        return found.verdict == "damaged"

    changes, left = repair.settled(planned, is_damaged)
    unproved = Spooled(repair.unproved())
    held = {each.chunk for each in left}
    told = {each.chunk for each in unproved if each.chunk in held}
    for each in left:
        if each.chunk not in told:
            unproved.append(each)
    return RepairPlan(changes, unproved.whole(), diagnosis)


class _Keys(TypedDict):
    position_keys: PositionKeys | None
    document_key: DocumentKey | None


def _examined(
    chunks: Sequence[Examined],
    sources: Sources | None,
    *,
    position_keys: PositionKeys | None,
    document_key: DocumentKey | None,
    sampled: bool = False,
    seen: Callable[[ProvedDocument], None] = lambda _: None,
) -> Diagnosis:
    """Say everything that is found; each document that has a source is `seen`."""
    findings = Findings(partial(id_of, chunks))
    compared = Comparison(
        chunks,
        sources,
        findings,
        position_keys=position_keys,
        document_key=document_key,
        seen=seen,
    )
    groups = group_chunks(chunks, document_key)
    ordered = bool(chunks)
    for group in groups:
        fits = _check(chunks, group, findings, compared, position_keys, sampled=sampled)
        ordered = ordered and fits
    whole = check_documents(chunks, findings, sampled=sampled)
    verdict: Verdict = "ordered"
    options = Options()
    if not ordered or position_keys is not None or document_key is not None:
        verdict, options = _with_options(
            chunks,
            compared.spans,
            position_keys=position_keys,
            document_key=document_key,
            ordered=ordered,
        )
    if not findings.numbers(DAMAGE) <= whole:
        verdict = "damaged"
    return Diagnosis(
        verdict,
        options,
        len(chunks),
        sampled,
        sum(bool(group.key) for group in groups),
        count_keys(chunks),
        findings.problems() if chunks else (EMPTY,),
        compared.proofs,
    )


def _check(
    chunks: Sequence[Examined],
    group: Group,
    findings: Findings,
    compared: Comparison,
    position_keys: PositionKeys | None,
    *,
    sampled: bool,
) -> bool:
    """Ask the rules of retrieval of one document; whether they and the proofs agree."""
    if not group.key:
        for i in group.members:
            keys = ", ".join(sorted(map(str, chunks[i].hit.metadata)))
            findings.add("missing_document", i, "", f"keys: {keys or 'none'}")
        return False
    read = check_group(
        chunks,
        group,
        findings,
        position_keys=position_keys,
        held=compared.held,
        sampled=sampled,
    )
    return read is not None and compared.agrees(read, group.members)


def _with_options(
    chunks: Sequence[Examined],
    spans: Sequence[Span | None],
    *,
    position_keys: PositionKeys | None,
    document_key: DocumentKey | None,
    ordered: bool,
) -> tuple[Verdict, Options]:
    """The verdict where options were given, or are needed."""
    found = suggest(
        chunks, spans, document_key=document_key, position_keys=position_keys
    )
    if found is None or (found == Options() and not ordered):
        return "not ordered", Options()
    given = position_keys is not None or document_key is not None
    return "ordered with options" if given or found != Options() else "ordered", found
