"""A repair of any number of documents: settled a few at a time."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, MutableSequence, Sequence
from itertools import pairwise

from oprag.diagnosing.checks import Examined, chunk_numbers
from oprag.diagnosing.naming import Sources
from oprag.diagnosing.planning import Change, changes_of
from oprag.diagnosing.proving import ProvedDocument, prove
from oprag.diagnosing.report import Example
from oprag.diagnosing.settling import Judge, Plan, Planned, settle
from oprag.diagnosing.spooled import Spooled
from oprag.documents import StoredChunk, is_own
from oprag.metadata import DOC_KEY, DOC_VERSION, document_key
from oprag.positions import DocumentKey, PositionKeys

_AT_ONCE = 2_000
"""Chunks that are settled together, at least; what belongs together is."""

_UNPROVED = ("", "no_source", "other_source", "ambiguous", "not_found", "blank")
"""Why a chunk has no proved place; nothing where it has one."""

_TAKING = "kept_readable"


def planned_of(
    chunks: Sequence[Examined],
    sources: Sources,
    *,
    position_keys: PositionKeys | None,
    document_key: DocumentKey | None,
) -> list[Planned]:
    """Return what is to be written, once for each version of a document."""
    groups, _ = sources.group(chunks, document_key)
    proved = list(prove(chunks, groups, sources, position_keys=position_keys))
    versioned = {each.name for each in proved if _is_versioned(chunks, each)}
    return [
        Planned(
            document.name,
            [id_of(chunks, i) for i in document.members],
            changes_of(chunks, document)
            if _is_versioned(chunks, document) or document.name not in versioned
            else [],
            document.source,
        )
        for document in proved
    ]


def id_of(chunks: Sequence[Examined], number: int) -> str:
    """Return the store's id of a chunk, or its number."""
    return chunks[number].id or str(number)


def _is_versioned(chunks: Sequence[Examined], document: ProvedDocument) -> bool:
    return DOC_VERSION in chunks[document.members[0]].hit.metadata


class Repair:
    """What a first look at all documents says of their repair.

    A repair of one document may touch another one only by a `doc_key` that chunks of
    both have, or get. So documents that share one are settled together, and nothing is
    kept of the others but a few bytes for each chunk.

    Args:
        chunks: All of the index.
    """

    def __init__(self, chunks: Sequence[Examined]) -> None:
        self._chunks = chunks
        self._of = array("i", [-1]) * len(chunks)
        self._why = bytearray([1]) * len(chunks)
        self._documents: list[tuple[str, str]] = []
        self._parents: dict[str, str] = {}
        self._changed: set[str] = set()

    def add(self, document: ProvedDocument) -> None:
        """Note one document that has a source."""
        key = document_key(document.name)
        for i, verdict in zip(document.members, document.verdicts, strict=True):
            self._of[i] = len(self._documents)
            why = verdict if verdict in _UNPROVED else ""
            self._why[i] = _UNPROVED.index(
                "other_source" if why and document.foreign else why
            )
            metadata = self._chunks[i].stored
            if is_own(metadata):
                self._join(key, metadata[DOC_KEY])
        self._join(key, key)
        self._documents.append((key, document.name))
        if changes_of(self._chunks, document):
            self._changed.add(key)

    def unproved(self) -> Iterator[Example]:
        """Yield the chunks that have no proved place, in the order of the store."""
        for i, why in enumerate(self._why):
            if why:
                name = self._documents[self._of[i]][1] if self._of[i] >= 0 else ""
                yield Example(id_of(self._chunks, i), name, _UNPROVED[why])

    def settled(
        self, plan: Plan, is_damaged: Judge
    ) -> tuple[Sequence[Change], list[Example]]:
        """Return what is written, and the chunks that nothing is; see `settle`.

        Each chunk with why.
        """
        changes = Spooled[Change]()
        left: list[Example] = []
        for numbers in self._batches():
            together = [_stored(self._chunks[i]) for i in sorted(numbers)]
            found = settle(together, plan, is_damaged)
            for change in found.changes:
                changes.append(change)
            for held, why in ((found.hiding, "damaged"), (found.taking, _TAKING)):
                left += [Example(each.id, each.document, why) for each in held]
        ranks: dict[str, int] = {}
        for _, name in self._documents:
            ranks.setdefault(name, len(ranks))
        places = array("I", (ranks.get(c.document, len(ranks)) for c in changes))
        left.sort(key=lambda each: (each.detail, ranks.get(each.document, len(ranks))))
        if any(after < before for before, after in pairwise(places)):
            order = sorted(range(len(places)), key=places.__getitem__)
            changes = Spooled(changes[i] for i in order)
        return changes.whole(), left

    def _batches(self) -> Iterator[Sequence[int]]:
        changed = {self._root(key) for key in self._changed}
        parts: dict[str, MutableSequence[int]] = {}
        for i in range(len(self._of)) if changed else ():
            key = self._key(i)
            root = self._root(key) if key in self._parents else ""
            if root in changed:
                parts.setdefault(root, chunk_numbers()).append(i)
        batch = chunk_numbers()
        for part in parts.values():
            batch.extend(part)
            if len(batch) >= _AT_ONCE:
                yield batch
                batch = chunk_numbers()
        if batch:
            yield batch

    def _key(self, i: int) -> str:
        if self._of[i] >= 0:
            return self._documents[self._of[i]][0]
        metadata = self._chunks[i].stored
        return str(metadata[DOC_KEY]) if is_own(metadata) else ""

    def _join(self, key: str, other: str) -> None:
        self._parents.setdefault(key, key)
        self._parents.setdefault(other, other)
        self._parents[self._root(other)] = self._root(key)

    def _root(self, key: str) -> str:
        while (parent := self._parents[key]) != key:
            self._parents[key] = self._parents[parent]
            key = parent
        return key


def _stored(chunk: Examined) -> StoredChunk:
    source = chunk.hit.source
    return (
        source
        if isinstance(source, StoredChunk)
        else StoredChunk(chunk.hit.text, chunk.stored, chunk.id)
    )
