"""Stored chunks as retrieval reads them, and what its rules say of each document."""

from __future__ import annotations

import re
from array import array
from collections.abc import Container, Iterable, Mapping, MutableSequence, Sequence
from typing import Any, NamedTuple

from oprag.chunk import Chunk, Hit, Span
from oprag.diagnosing.report import Findings
from oprag.documents import StoredChunk, is_own, stored_hit
from oprag.errors import (
    AmbiguousPositionError,
    ConflictingTextError,
    InvalidSpanError,
    MissingPositionError,
    OpragError,
    PositionError,
    UnscopedPositionError,
)
from oprag.metadata import (
    CHAR_END,
    CHUNK_INDEX,
    DOC_VERSION,
    N_CHUNKS,
    SPANS,
    TOKEN_COUNTER,
    version_text,
)
from oprag.positions import (
    DocumentKey,
    PositionKeys,
    as_number,
    check_positions,
    known_document,
    read_by_others,
    read_chunks,
    read_node,
    without_duplicates,
)

_WORDS = re.compile(r"(?<!^)(?=[A-Z])")


class Examined(NamedTuple):
    """One chunk under examination."""

    id: str
    """The store's id of it; empty where it has none."""
    hit: Hit
    """As retrieval would see it."""
    stored: Mapping[str, Any]
    """Its metadata as the store keeps it; not that of the hit where LlamaIndex keeps
    a node beside it."""
    next_id: str | None = None
    """Id of the chunk after it, where the framework records one."""


def examine(chunk: StoredChunk | Hit) -> Examined:
    """Read a stored chunk, or a hit that an adapter made of a framework object."""
    if isinstance(chunk, Hit):
        return Examined(_id_of(chunk.subject), chunk, chunk.metadata)
    node = read_node(chunk.metadata)
    next_id = None if node is None else node.next_id
    return Examined(chunk.id, stored_hit(chunk), chunk.metadata, next_id)


def _id_of(subject: Any) -> str:
    for name in ("node_id", "id"):
        value = getattr(subject, name, None)
        if isinstance(value, str):
            return value
    return ""


class Group(NamedTuple):
    """The chunks of one document."""

    key: str
    """Its key, as retrieval groups by; empty where the chunks name no document."""
    name: str
    members: MutableSequence[int]
    """Numbers of its chunks, in the order of the store."""


def chunk_numbers() -> MutableSequence[int]:
    """Return an empty list of chunk numbers, four bytes for each."""
    return array("I")


def group_chunks(
    chunks: Iterable[Examined], document_key: DocumentKey | None
) -> list[Group]:
    """Group the chunks by document, in the order in which the documents appear."""
    groups: dict[str, Group] = {}
    for index, chunk in enumerate(chunks):
        key, name = known_document(chunk.hit, document_key) or ("", "")
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(key, name, chunk_numbers())
        group.members.append(index)
    return list(groups.values())


def read_places(
    hits: Sequence[Hit],
    name: str,
    position_keys: PositionKeys | None,
    problems: dict[str, OpragError] | None = None,
) -> list[Chunk]:
    """Read the places of one document as retrieval does, with the ends as recorded.

    Retrieval claims no end where the text is not as long as was recorded.
    """
    chunks = read_chunks(
        hits, [(name, name)] * len(hits), position_keys=position_keys, problems=problems
    )
    return chunks if position_keys else [*map(_with_end, chunks, hits)]


def _with_end(chunk: Chunk, hit: Hit) -> Chunk:
    span = chunk.span
    if span is None or span.start < span.end:
        return chunk
    recorded = (hit.metadata.get(CHAR_END), *(hit.offsets or ())[1:])
    ends = [end for each in recorded if (end := as_number(each)) is not None]
    return chunk._replace(span=Span(span.start, max([span.start, *ends[:1]])))


def read_group(
    hits: Sequence[Hit], name: str, position_keys: PositionKeys | None
) -> list[Chunk] | PositionError:
    """Read the places and check them, as retrieval does; or the error it raises.

    Retrieval may find some of them, which other keys order.
    """
    found = [] if position_keys is not None else read_by_others(hits)
    read = [_read_together(some, name, position_keys) for some in (hits, *found)]
    return next((each for each in read if isinstance(each, PositionError)), read[0])


def _read_together(
    hits: Sequence[Hit], name: str, position_keys: PositionKeys | None
) -> list[Chunk] | PositionError:
    try:
        chunks = read_places(hits, name, position_keys)
        texts: dict[str, list[Chunk]] = {}
        for chunk in chunks:  # retrieval stays within one text
            version = version_text(chunk.metadata.get(DOC_VERSION))
            texts.setdefault(version, []).append(chunk)
        for of_one_text in texts.values():
            check_positions(without_duplicates(of_one_text))
    except PositionError as error:
        return error
    return chunks


def check_group(
    chunks: Sequence[Examined],
    group: Group,
    findings: Findings,
    *,
    position_keys: PositionKeys | None,
    held: Container[int],
    sampled: bool,
) -> list[Chunk] | None:
    """Note what is wrong with the positions of one document.

    Of the chunks in `held` the recorded span holds the text in the source.

    Returns:
        Its chunks as retrieval reads them, in the order of the store; None where it
        refuses them.
    """
    hits = [chunks[i].hit for i in group.members]
    read = read_group(hits, group.name, position_keys)
    if isinstance(read, PositionError):
        kind = _WORDS.sub("_", type(read).__name__.removesuffix("Error")).lower()
        for at in _concerned(read, hits, group.name, position_keys):
            detail = _detail(read, hits[at])
            findings.add(kind, group.members[at], group.name, detail)
        return None
    if position_keys is None:  # others say nothing of where a chunk ends
        _check_spans(read, group, findings, held)
    _check_order(read, group, findings)
    if not sampled and not any(is_own(hit.metadata) for hit in hits):
        _check_numbers(hits, group, findings)  # of our own, see check_documents
    return read


def _concerned(
    error: PositionError,
    hits: Sequence[Hit],
    name: str,
    position_keys: PositionKeys | None,
) -> list[int]:
    """Numbers of the chunks that an error is about; all where it names none."""
    if isinstance(error, MissingPositionError):
        lenient = read_places(hits, name, position_keys, {})
        without = [i for i, chunk in enumerate(lenient) if chunk.position is None]
        return without or [error.rank]
    if isinstance(error, AmbiguousPositionError):
        return list(error.ranks)
    return list(range(len(hits)))


def _detail(error: PositionError, hit: Hit) -> str:
    """What is wrong with one chunk, or with the document that it is of."""
    if isinstance(error, MissingPositionError):
        return f"keys: {', '.join(sorted(map(str, hit.metadata))) or 'none'}"
    if isinstance(error, AmbiguousPositionError):
        return f"position {', '.join(map(str, error.position))}"
    if isinstance(error, ConflictingTextError):
        (a, b), (c, d) = error.spans
        return f"first at {a}-{b} and {c}-{d}"
    if isinstance(error, UnscopedPositionError):
        return f"by {', '.join(error.keys)}"
    if isinstance(error, InvalidSpanError):
        return f"first from {error.start} to {error.end}"
    return error.message


def _check_spans(
    chunks: Sequence[Chunk], group: Group, findings: Findings, held: Container[int]
) -> None:
    seen = set()
    for index, chunk in zip(group.members, chunks, strict=True):
        place = (chunk.metadata.get(DOC_VERSION), chunk.position, chunk.text)
        if place in seen:
            findings.add("duplicate", index, group.name, _at(chunk))
        seen.add(place)
        merged = SPANS in chunk.metadata
        if chunk.span and not chunk.exact and not merged and index not in held:
            start, end = chunk.span
            detail = f"{_at(chunk)}: {end - start} characters, text {len(chunk.text)}"
            ours = TOKEN_COUNTER in chunk.metadata
            kind = "cut_text" if ours else "length_mismatch"
            findings.add(kind, index, group.name, detail)


def _check_order(chunks: Sequence[Chunk], group: Group, findings: Findings) -> None:
    """Compare offsets with chunk numbers, where there are both."""
    numbered = [
        (chunk.position, number, index)
        for index, chunk in zip(group.members, chunks, strict=True)
        if chunk.span is not None
        and chunk.position is not None
        and (number := as_number(chunk.metadata.get(CHUNK_INDEX))) is not None
    ]
    if len(numbered) < len(chunks) or len({n for _, n, _ in numbered}) < len(chunks):
        return  # numbers that start anew in every part say nothing here
    highest = -1
    for position, number, index in sorted(numbered):
        if number < highest:
            detail = f"chunk_index {number} at {position}, after {highest}"
            findings.add("order_mismatch", index, group.name, detail)
        highest = max(highest, number)


def _check_numbers(hits: Sequence[Hit], group: Group, findings: Findings) -> None:
    """Whether the chunks are as many as `n_chunks` says, each number there once."""
    totals = [as_number(hit.metadata.get(N_CHUNKS)) for hit in hits]
    numbers = [as_number(hit.metadata.get(CHUNK_INDEX)) for hit in hits]
    if all(total is None for total in totals):
        return
    expected = max(total for total in totals if total is not None)
    if set(totals) != {expected} or set(numbers) != set(range(expected)):
        there = len({number for number in numbers if number is not None})
        detail = f"{there} different numbers, n_chunks {expected}"
        findings.add("incomplete", group.members[0], group.name, detail)


def _at(chunk: Chunk) -> str:
    place = chunk.span or chunk.position or ()
    return f"at {'-'.join(str(number) for number in place)}"
