"""A sample of a store: its first chunks, and others if these show too little.

A chunk that is alone in its document needs no position, and pages order chunks of
different pages. If a sample shows no more of a document, that proves nothing about the
store. So all chunks of such documents are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from oprag.chunk import Chunk, Hit
from oprag.context import check_option
from oprag.diagnosing.checks import examine, group_chunks, read_group
from oprag.errors import PositionError
from oprag.positions import DocumentKey, PositionKeys, Unplaced, identify_document
from oprag.stores import StoredChunk, is_own


class Sample(NamedTuple):
    """Chunks of a store that are looked at."""

    chunks: Sequence[Hit]
    is_all: bool
    """Whether the store has no others."""
    total: int | None = None
    """Chunks that the store holds, if known."""


def take_sample(
    chunks: Iterable[StoredChunk | Hit],
    number: int | None,
    *,
    total: Callable[[], int | None] | None = None,
    position_keys: PositionKeys | None = None,
    document_key: DocumentKey | None = None,
) -> Sample:
    """Take the first chunks, and all others of documents of which they show too little.

    Args:
        chunks: All chunks of the store.
        number: How many to take; None for all.
        total: Counts all chunks, if there are more than were taken; None if they cannot
            be counted.
        position_keys: The option that retrieval takes.
        document_key: The same.

    Raises:
        InvalidOptionError: `number` is no count, or another value is impossible.
    """
    check_option("sample", number)
    check_option("position_keys", position_keys)
    check_option("document_key", document_key)
    rest = map(examine, chunks)
    taken = [*islice(rest, number)]
    if number is None:
        return Sample(taken, is_all=True, total=len(taken))
    unsettled = set()
    for group in group_chunks(taken, document_key):
        hits = [taken[i] for i in group.members]
        read = read_group(hits, group.name, position_keys)
        if isinstance(read, PositionError):
            # All chunks of its pages may show their order.
            is_unsettled = position_keys is None and Unplaced.is_said_by(read)
        else:
            is_unsettled = _says_too_little(read)
        if is_unsettled:
            unsettled.add(group.key)
    seen, is_all = len(taken), True
    for chunk in rest:
        seen += 1
        identity = identify_document(chunk, document_key)
        if identity is not None and identity.key in unsettled:
            taken.append(chunk)
            continue
        is_all = False
        if not unsettled:
            return Sample(taken, is_all, None if total is None else total())
    return Sample(taken, is_all, seen)


def _says_too_little(chunks: Sequence[Chunk]) -> bool:
    """Return whether chunks are in order only because no others of it are seen."""
    if any(chunk.position is None and chunk.text.strip() for chunk in chunks):
        return True  # it seems to be alone
    if all(is_own(chunk.metadata) for chunk in chunks):
        return False
    alone = len({chunk.text for chunk in chunks}) == 1
    return all(
        chunk.position is not None
        and (
            (chunk.part is not None and len(chunk.position) == 1)  # a page, no more
            or (alone and (chunk.span or chunk.position[-1:])[0] == 0)
            or (alone and len(chunk.position) == 1)
        )
        for chunk in chunks
    )
