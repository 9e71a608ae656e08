"""Read hits, tell their files apart and check them, before anything is selected.

hits -> chunks -> of one file each -> of one version -> without duplicates
-> without contradictions -> at their places in the full texts
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oprag.chunk import Chunk, Hit
from oprag.citations import may_count_from_1
from oprag.context.options import ContextOptions, TextsByName
from oprag.context.places import locate_hits
from oprag.errors import (
    MissingDocumentError,
    OpragError,
    PositionError,
    PositionWarning,
    find_caller_stacklevel,
)
from oprag.metadata import UNNAMED
from oprag.ordering import group_by_document
from oprag.positions import (
    check_positions,
    deduplicate,
    drop_place,
    identify_documents,
    keep_one_version,
    read_chunks,
    separate_by_positions,
)
from oprag.result_key import read_written


class CheckedHits(NamedTuple):
    """The chunks of hits, as far as they can all be at the places that they name."""

    chunks: list[Chunk]
    """Ranked by the order of the hits."""
    problems: dict[str, OpragError]
    """By document key; empty unless `on_problem="warn"`."""
    dropped: dict[str, list[int]]
    """Indices of hits in their list, by the reason why they were left out."""
    doubts: dict[str, tuple[str, ...]]
    """See `Separation.doubts`; with `page` if that may count from 1, and name pages one
    too high."""
    other_versions: Sequence[Chunk]
    """Those left out for the version of the text that is kept."""
    n_retrieved: int
    """How many hits come before the neighbours (`CandidateTail`)."""

    def warn_of_versions(self) -> None:
        """Warn of chunks that were left out: it may be an interrupted indexing."""
        if not self.other_versions:
            return
        names = dict.fromkeys(chunk.text_id for chunk in self.other_versions)
        message = (
            f"{len(self.other_versions)} retrieved chunks of "
            f"{', '.join(map(repr, names))} were left out: they are of another version "
            "of the text (doc_version) than the others. An interrupted indexing leaves "
            "such chunks: index these documents again."
        )
        warnings.warn(message, PositionWarning, stacklevel=find_caller_stacklevel())

    def drop_places(self, error: PositionError) -> CheckedHits:
        """Return the chunks, without a place those of the document of an error."""
        chunks = [
            drop_place(chunk) if chunk.document_key == error.document else chunk
            for chunk in self.chunks
        ]
        problems = {**self.problems, error.document: error}
        return self._replace(chunks=chunks, problems=problems)

    def mark_problems(self) -> CheckedHits:
        """Record on each chunk the error that `on_problem="warn"` did not raise.

        Chunks of unnamed documents lose their place, and equal ones are then one.
        """
        chunks, problems = self.chunks, self.problems
        if not problems and not any(map(_is_unnamed, chunks)):
            return self
        marked = []
        at_place = Counter((chunk.document_key, chunk.position) for chunk in chunks)
        for chunk in chunks:
            shares_place = at_place[chunk.document_key, chunk.position] > 1
            kind = _find_problem_kind(chunk, problems, shares_place=shares_place)
            kept = drop_place(chunk) if _is_unnamed(chunk) else chunk
            marked.append(kept._replace(problem=kept.problem or kind))
        unique = deduplicate(marked)
        dropped = {**self.dropped}
        _note_dropped(dropped, "duplicate", marked, unique)
        return self._replace(chunks=unique, dropped=dropped)


def check_hits(
    hits: Sequence[Hit],
    options: ContextOptions,
    texts: TextsByName | None,
    n_neighbours: int = 0,
) -> CheckedHits:
    """Read positions, tell files apart, and leave out duplicates and other versions.

    Args:
        hits: Those retrieved, best first, then neighbours.
        options: See `ContextOptions`.
        texts: The full texts; None without any.
        n_neighbours: How many of the last hits take the room that the others leave.
    """
    errors: dict[str, OpragError] = {}
    warns = options.on_problem == "warn"
    # Full texts may still resolve these errors.
    collected = None if texts is None and not warns else errors
    documents = identify_documents(
        hits,
        document_key=options.document_key,
        position_keys=options.position_keys,
        problems=errors if warns else None,
    )
    chunks = read_chunks(
        hits, documents, position_keys=options.position_keys, problems=collected
    )
    doubts: dict[str, tuple[str, ...]] = {}
    agreeing = frozenset[str]()
    if options.document_key is None and options.position_keys is None:
        chunks, doubts, agreeing = separate_by_positions(chunks, collected)
    dropped: dict[str, list[int]] = {}
    # First, as one text may be in both versions, and must not be lost with the other.
    ids = None if options.document_key is None else hits
    kept, others = keep_one_version(chunks, ids)
    _note_dropped(dropped, "version", chunks, kept)
    chunks = deduplicate(kept)
    _note_dropped(dropped, "duplicate", kept, chunks)
    recorded = {c.rank: c.span for c in chunks if c.part is None} if texts else {}
    # With nothing left out, these are the chunks that were looked at.
    agreeing = frozenset() if others else agreeing
    chunks = check_positions(chunks, problems=collected, agreeing=agreeing)
    if texts is not None:
        located = locate_hits(
            chunks, texts.find_text, errors, compared=texts.at_hand, recorded=recorded
        )
        _note_dropped(dropped, "blank", chunks, located)
        chunks = deduplicate(located)
        _note_dropped(dropped, "duplicate", located, chunks)
        texts.check_any_found()
    if errors and not warns:
        raise next(iter(errors.values()))
    _note_pages(doubts, chunks)
    chunks = [*map(_keep_problem, chunks)]
    n_retrieved = len(hits) - n_neighbours
    if n_neighbours:
        chunks = [
            chunk if chunk.rank < n_retrieved else chunk._replace(is_neighbour=True)
            for chunk in chunks
        ]
    return CheckedHits(chunks, errors, dropped, doubts, others, n_retrieved)


def _note_pages(doubts: dict[str, tuple[str, ...]], chunks: Sequence[Chunk]) -> None:
    """Note the documents whose `page` may count from 1."""
    for key, members in group_by_document(chunks).items():
        if may_count_from_1(chunk.metadata for chunk in members):
            name = members[0].document_name or key
            doubts[name] = (*doubts.get(name, ()), "page")


def _note_dropped(
    dropped: dict[str, list[int]],
    reason: str,
    before: Sequence[Chunk],
    after: Sequence[Chunk],
) -> None:
    kept = {chunk.rank for chunk in after}
    ranks = [chunk.rank for chunk in before if chunk.rank not in kept]
    if ranks:
        dropped[reason] = sorted([*dropped.get(reason, []), *ranks])


def _keep_problem(chunk: Chunk) -> Chunk:
    """Return the chunk; a result that still has no place keeps its problem."""
    if chunk.position is not None:
        return chunk
    written = read_written(chunk.metadata)
    return chunk if written is None else chunk._replace(problem=written.problem)


def _is_unnamed(chunk: Chunk) -> bool:
    return chunk.document_key.startswith(UNNAMED)


def _find_problem_kind(
    chunk: Chunk, problems: Mapping[str, OpragError], *, shares_place: bool
) -> str | None:
    """Return the kind of error that concerns a chunk; None if none does."""
    if _is_unnamed(chunk):
        return MissingDocumentError.kind
    error = problems.get(chunk.document_key)
    if error is None:
        return None
    return error.kind if chunk.position is None or shares_place else None
