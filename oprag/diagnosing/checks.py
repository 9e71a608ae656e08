"""Reads stored chunks as retrieval does, and applies its rules to each document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from oprag.chaining import DocumentChains
from oprag.chunk import Chunk, Hit, Span
from oprag.citations import disambiguate_names
from oprag.diagnosing.report import Findings
from oprag.errors import (
    ConflictingPositionsError,
    InvalidOptionError,
    MissingPositionError,
    OpragError,
    PositionError,
    describe_type,
)
from oprag.metadata import CHAR_END, DOC_VERSION, as_number, version_text
from oprag.positions import (
    DocumentKey,
    Identity,
    PositionKeys,
    Unplaced,
    check_positions,
    deduplicate,
    identify_document,
    read_by_others,
    read_chunks,
    separate_by_facts,
    separate_by_positions,
)
from oprag.stores import StoredChunk, is_own, make_hit


def examine(chunk: StoredChunk | Hit) -> Hit:
    """Read a chunk the way retrieval would; its `source` has the form of a store.

    Args:
        chunk: A stored one, or a hit that an adapter made of a framework object.
    """
    if isinstance(chunk, Hit):
        stored = StoredChunk(chunk.text, chunk.metadata, _id_of(chunk.subject))
        return chunk._replace(source=stored)
    if not isinstance(chunk, StoredChunk):
        message = (
            f"chunks holds {describe_type(chunk)}, no StoredChunk. Take diagnose of "
            "langchain_oprag or llamaindex_oprag, which read what these frameworks "
            "return."
        )
        raise InvalidOptionError(message, option="chunks", value=chunk)
    return make_hit(chunk)


def _id_of(subject: Any) -> str:
    for name in ("node_id", "id"):
        value = getattr(subject, name, None)
        if isinstance(value, str):
            return value
    return ""


class Group(NamedTuple):
    """The chunks of one document."""

    key: str
    """The key by which retrieval groups; empty if the chunks name no document."""
    name: str
    members: list[int]
    """Numbers of its chunks, in the order of the store."""
    shared_name: str | None = None
    """The key that several files of its name would share; None if there is none."""


def group_chunks(
    chunks: Iterable[Hit], document_key: DocumentKey | None
) -> list[Group]:
    """Group the chunks by document, in the order in which the documents appear."""
    hits = [*chunks]
    found = [identify_document(hit, document_key) or NAMELESS for hit in hits]
    names = disambiguate_names((each.key, each.name) for each in found)
    documents = [Identity(each.key, names[each.key, each.name]) for each in found]
    if document_key is None:
        documents = separate_by_facts(hits, documents)
    groups: dict[str, Group] = {}
    for index, document in enumerate(documents):
        group = Group(document.key, document.name, [], document.shared_name)
        groups.setdefault(group.key, group).members.append(index)
    if document_key is not None:
        return list(groups.values())
    return [part for group in groups.values() for part in _separate(hits, group)]


NAMELESS = Identity("", "")


def _separate(hits: Sequence[Hit], group: Group) -> list[Group]:
    """Divide a group into its files, if positions show that it is of several."""
    members = [hits[i] for i in group.members]
    if not group.key or all(is_own(hit.metadata) for hit in members):
        return [group]
    identity = Identity(group.key, group.name, group.shared_name)
    chunks = read_chunks(members, [identity] * len(members), problems={})
    separated = separate_by_positions(chunks, {}).chunks
    groups: dict[str, Group] = {}
    for index, chunk in zip(group.members, separated, strict=True):
        name = chunk.document_name or ""
        of_file = Group(chunk.document_key, name, [], chunk.shared_name)
        groups.setdefault(of_file.key, of_file).members.append(index)
    return list(groups.values())


def read_places(
    hits: Sequence[Hit],
    name: str,
    position_keys: PositionKeys | None,
    problems: dict[str, OpragError] | None = None,
) -> list[Chunk]:
    """Read the places of one document as retrieval does, with the recorded ends.

    Retrieval claims no end if the text does not have the recorded length.
    """
    documents = [Identity(name, name)] * len(hits)
    chunks = read_chunks(
        hits, documents, position_keys=position_keys, problems=problems
    )
    return chunks if position_keys else [*map(_set_end, chunks, hits)]


def _set_end(chunk: Chunk, hit: Hit) -> Chunk:
    span = chunk.span
    if span is None or span.start < span.end:
        return chunk
    recorded = (hit.metadata.get(CHAR_END), *(hit.offsets or ())[1:])
    ends = [end for each in recorded if (end := as_number(each)) is not None]
    return chunk._replace(span=Span(span.start, max([span.start, *ends[:1]])))


def read_group(
    hits: Sequence[Hit], name: str, position_keys: PositionKeys | None
) -> list[Chunk] | PositionError:
    """Read the places and check them, as retrieval does; or return its error.

    Retrieval may also find only some of the chunks, which other keys order.
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
            if position_keys is None:
                separate_by_positions(of_one_text)  # refuses sections
            check_positions(deduplicate(of_one_text))
    except PositionError as error:
        return error
    return chunks


def check_group(
    chunks: Sequence[Hit],
    group: Group,
    findings: Findings,
    *,
    position_keys: PositionKeys | None,
    chains: DocumentChains | None = None,
) -> list[Chunk] | None:
    """Note problems with the positions of one document.

    Args:
        chunks: Those of the index.
        group: The document.
        findings: Gets the problems.
        position_keys: The option that retrieval takes.
        chains: The order of its pages, if positions are missing; None for a document
            that has them. Chunks that it orders have no problem.

    Returns:
        Its chunks as retrieval reads them, in the order of the store; None if
        retrieval refuses them.
    """
    hits = [chunks[i] for i in group.members]
    read = read_group(hits, group.name, position_keys)
    if isinstance(read, PositionError):
        kind = read.kind
        concerned = _find_concerned(read, hits, group.name, position_keys)
        if chains is not None:
            every = range(len(hits))
            concerned = [i for i in every if not chains.is_page_ordered(hits[i])]
        for at in concerned:
            detail = read.message.partition(". ")[0]
            if isinstance(read, MissingPositionError):
                detail = keys_of(hits[at])
            findings.add(kind, group.members[at], group.name, detail)
        return None
    seen = set()
    for index, chunk in zip(group.members, read, strict=True):
        place = (chunk.metadata.get(DOC_VERSION), chunk.position, chunk.text)
        if place in seen:
            numbers = chunk.span or chunk.position or ()
            detail = f"at {'-'.join(map(str, numbers))}"
            findings.add("duplicate", index, group.name, detail)
        seen.add(place)
    return read


def find_chains(
    hits: Sequence[Hit],
    error: object,
    position_keys: PositionKeys | None,
    *,
    hidden: bool = False,
) -> DocumentChains | None:
    """Return the order of a document's pages by overlaps, if it has no positions.

    Args:
        hits: All its chunks.
        error: The error that retrieval raises for it; or the chunks that it reads.
        position_keys: The option that retrieval takes.
        hidden: Whether chunks may be hidden from the reader.

    Returns:
        None if it has positions, or its pages are not known.
    """
    lacks = isinstance(error, PositionError) and Unplaced.is_said_by(error)
    if position_keys is not None or not lacks:
        return None
    chains = DocumentChains(hits, hidden=hidden)
    return chains if chains.has_known_pages else None


def keys_of(hit: Hit) -> str:
    """Return the names of its metadata keys, for people."""
    return f"keys: {', '.join(sorted(map(str, hit.metadata))) or 'none'}"


def _find_concerned(
    error: PositionError,
    hits: Sequence[Hit],
    name: str,
    position_keys: PositionKeys | None,
) -> Sequence[int]:
    """Return the numbers of the chunks that an error is about; all if it names none."""
    if isinstance(error, MissingPositionError):
        lenient = read_places(hits, name, position_keys, {})
        without = [i for i, chunk in enumerate(lenient) if chunk.position is None]
        return without or [error.rank]
    if isinstance(error, ConflictingPositionsError) and error.ranks:
        return error.ranks
    return range(len(hits))
