"""Checks whether each document that oprag wrote is there whole, and only once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from oprag.chunk import FullText, Hit, Span
from oprag.diagnosing.report import DAMAGE, Findings
from oprag.documents import ForeignChunks, group_by_version, rebuild
from oprag.errors import IncompleteDocumentError, OpragError
from oprag.locating import squeeze, starts_of
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    DOC_KEY,
    DOC_VERSION,
    NONSPACE_HASH,
    PART_INDEX,
    TEXT_HASH,
    TEXT_LENGTH,
    as_number,
    version_text,
)
from oprag.positions import are_indexed_versions, document_name
from oprag.stores import StoredChunk, is_own, name_of_key

_READABLE = ("", "inexact")
"""Kinds of documents that can be put together, at least with `exact=False`."""


def check_documents(
    chunks: Sequence[Hit], findings: Findings, *, sampled: bool
) -> set[int]:
    """Note problems of whole documents, and further chunks of them.

    A text is judged by the code that reads it later (`oprag.documents`), over the same
    chunks: those in the store that have the key of the document's name.

    Returns:
        The numbers of the chunks of damaged documents, which cannot be read. A document
        that can be read is not damaged, even if chunks of another version or size are.
    """
    keys: dict[str, list[int]] = {}
    names: dict[str, str] = {}
    for i, chunk in enumerate(chunks):
        if is_own(chunk.source.metadata):
            key = chunk.source.metadata[DOC_KEY]
            keys.setdefault(key, []).append(i)
            if (own_name := name_of_key(chunk.source.metadata)) is not None:
                names.setdefault(key, own_name)
    groups = {name: keys[key] for key, name in names.items()}
    _check_foreign(chunks, groups, findings)
    damaged = set[int]()
    for name, members in groups.items():
        own = [chunks[i].source for i in members]
        if are_indexed_versions([chunks[i] for i in members]):
            _check_versions(name, members, own, findings)
        if not sampled and _check_texts(name, members, own, findings):
            damaged.update(members)
    return damaged


def _check_foreign(
    chunks: Sequence[Hit], groups: Mapping[str, Sequence[int]], findings: Findings
) -> None:
    """Note chunks of oprag's documents that another program wrote, each once."""
    if not groups:
        return
    hits = (chunk._replace(source=i) for i, chunk in enumerate(chunks))
    foreign = ForeignChunks(hits)
    for name, members in groups.items():
        own = [chunks[i].source for i in members]
        for hit in foreign.of(name, own):
            other = document_name(hit.metadata) or name
            detail = "" if other == name else f"as {other}"
            findings.add("foreign_chunks", hit.source, name, detail)


def _check_texts(
    name: str, members: Sequence[int], own: Sequence[StoredChunk], findings: Findings
) -> bool:
    """Note problems that prevent a document, or a version of it, from being read whole.

    Returns:
        Whether it is damaged.
    """
    kinds = set[str]()
    versions = group_by_version(chunk.metadata for chunk in own)
    for places in versions.values():
        of_version = [own[at] for at in places]
        full, kind, detail = _judge(name, of_version)
        if kind:
            findings.add(kind, members[places[0]], name, detail)
            kinds.add(kind)
        for at, where in find_misplaced(full, of_version) if full else ():
            findings.add("wrong_position", members[places[at]], name, where)
    if len(versions) > 1:  # each may be whole, and yet none of them the document
        _, kind, detail = _judge(name, own)
        if kind not in _READABLE and not kinds & DAMAGE:
            findings.add(kind, members[0], name, detail)
    return kind not in _READABLE and bool({kind, *kinds} & DAMAGE)


def _check_versions(
    name: str, members: Sequence[int], own: Sequence[StoredChunk], findings: Findings
) -> None:
    """Note texts that replace each other; pages indexed one by one do not."""
    texts: dict[Any, dict[str, int]] = {}
    for chunk in own:
        of_part = texts.setdefault(chunk.metadata.get(PART_INDEX), {})
        text = version_text(chunk.metadata.get(DOC_VERSION))
        of_part[text] = of_part.get(text, 0) + 1
    for part, counts in texts.items():
        if len(counts) < 2:  # noqa: PLR2004 -- one text, of whatever sizes
            continue
        shown = " and ".join(f"{count:,}" for count in counts.values())
        detail = f"{len(counts)} texts, in {shown} chunks"
        for i, chunk in zip(members, own, strict=True):
            if chunk.metadata.get(PART_INDEX) == part:
                findings.add("several_versions", i, name, detail)


def find_misplaced(
    full: FullText, chunks: Sequence[StoredChunk]
) -> Iterator[tuple[int, str]]:
    """Compare recorded characters with the text that the chunks were joined to.

    Offsets in other units (bytes, UTF-16) join to the right text as well, because they
    follow one another like the chunks.

    Args:
        full: The text. If its white space is not known (`exact=False`), places are
            disproved only by the characters before, in and after a chunk.
        chunks: All chunks that it was joined from.

    Yields:
        The number of a chunk whose text is not at its recorded place, and the place at
        which the text has it, if there is only one.
    """
    parts = {
        as_number(metadata.get(PART_INDEX)): full.text[slice(*span)]
        for metadata, span in full.pages
    } or {None: full.text}
    lengths = {
        as_number(chunk.metadata.get(PART_INDEX)): length
        for chunk in chunks
        if (length := as_number(chunk.metadata.get(TEXT_LENGTH))) is not None
    }
    flats = {} if full.exact else {part: squeeze(text) for part, text in parts.items()}
    altered = any(NONSPACE_HASH in chunk.metadata for chunk in chunks)
    for number, (text, metadata, *_) in enumerate(chunks):
        part = as_number(metadata.get(PART_INDEX))
        start, end = (as_number(metadata.get(key)) for key in (CHAR_START, CHAR_END))
        if start is None or end is None or part not in parts:
            continue
        span = Span(start, end)
        if not full.exact:
            if not _may_stand(squeeze(text), flats[part], span, lengths.get(part)):
                yield number, ""
            continue
        there = parts[part][start:end] if end <= len(parts[part]) else ""
        if there == text or (altered and squeeze(there) == squeeze(text)):
            continue  # another splitter may have changed its white space
        found = [*islice(starts_of(text, parts[part]), 2)]
        place = f"it stands at {found[0]}-{found[0] + len(text)}" if found else ""
        yield number, place if len(found) == 1 else ""


def _may_stand(piece: str, flat: str, span: Span, length: int | None) -> bool:
    """Return whether a text may be at a place, both compared without white space.

    Args:
        piece: The chunk's text, without its white space.
        flat: The whole text, without its white space.
        span: Characters of the whole text.
        length: The length of the whole text, if known.
    """
    if length is None or not piece:
        return True
    return any(
        at <= span.start
        and len(piece) <= span.end - span.start
        and len(flat) - at - len(piece) <= length - span.end
        for at in starts_of(piece, flat)
    )


def _judge(
    name: str, chunks: Sequence[StoredChunk]
) -> tuple[FullText | None, str, str]:
    """Put a document together in the way that its readers do.

    Returns:
        Its text, or None if it cannot be read whole. Also the kind of the problem that
        prevents it from being read unchanged, and its description. Both are empty if
        there is none.
    """
    try:
        found = rebuild(name, chunks, exact=False, warns=False)
    except OpragError as error:
        # The first sentence, without the document, which is named beside it.
        detail = error.message.removeprefix(f"Document {name!r}: ").partition(". ")[0]
        return None, _kind_of(error, chunks), detail
    return found, ("" if found.exact else "inexact"), ""


def _kind_of(error: OpragError, chunks: Sequence[StoredChunk]) -> str:
    lacking = isinstance(error, IncompleteDocumentError)
    if isinstance(error, IncompleteDocumentError) and error.missing:
        return "incomplete"
    if not any(TEXT_HASH in chunk.metadata for chunk in chunks):
        return "unstamped"
    # Another splitter may have dropped more than white space.
    others = any(NONSPACE_HASH in chunk.metadata for chunk in chunks)
    kind = "unproved_text" if others else "incomplete"
    return kind if lacking else "altered_text"
