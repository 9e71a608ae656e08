"""What a repair writes: proved positions, and nothing else.

Every chunk of a document that is known gets the document's key and name, so that a
document stays one. `char_start` and `char_end` are written where the source proves
them; `chunk_index`, `n_chunks` and the length and hash of the text where the chunks
cover the source without a gap, so that all are known to be there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from oprag.chunk import Hit, Span
from oprag.diagnosing.checks import Examined
from oprag.diagnosing.proving import ProvedDocument
from oprag.documents import POSITION_KEYS, StoredChunk, rebuild, replaced
from oprag.errors import OpragError
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    OWN_KEYS,
    PART_INDEX,
    TEXT_HASH,
    TEXT_LENGTH,
    document_key,
    text_stamp,
    version_of_hashes,
    version_text,
)
from oprag.positions import NODE_CONTENT, PART_KEYS, as_number, rewritten

_NUMBERS = (CHUNK_INDEX, N_CHUNKS)
_NAMES = (DOC_KEY, DOC_URI)


class Change(NamedTuple):
    """What a repair writes on one chunk."""

    id: str
    """The store's id of the chunk."""
    document: str
    """Name of its document."""
    metadata: Mapping[str, Any]
    """The chunk's metadata as the store keeps it now."""
    update: Mapping[str, Any]
    """Keys to set; None for those to remove."""


def changes_of(chunks: Sequence[Examined], document: ProvedDocument) -> list[Change]:
    """Plan the repair of one document, of which `chunks` holds all chunks.

    Returns:
        One change per chunk that differs from what is proved, in reading order where
        that is known. None for a document that is right already, or whose source
        seems to be another text, or was changed since.
    """
    if document.foreign:
        return []
    group = [chunks[i] for i in document.members]
    if _is_proved(group):
        return [*_beside_nodes(group, document.name)]
    stamped = _stamp_alone(group, document)
    if stamped is not None:
        return stamped
    hits = [chunk.hit for chunk in group]
    order = document.placement.order
    numbers = {i: number for number, i in enumerate(order or ())}
    keep = order is None and _numbers_agree(hits, document)
    one_source = len({hit.document for hit in hits}) == 1
    changes = []
    for i in order or range(len(group)):
        span = document.placement.locations[i].span
        entry = _entry(group, document, i, numbers.get(i))
        gone = span is None and document.holds[i] is False
        offsets: tuple[int | None, int | None] | None = span if one_source else None
        if gone:
            offsets = (None, None)
        update = _update(group[i], entry, keep=keep, gone=gone, offsets=offsets)
        if update:
            change = Change(group[i].id, document.name, group[i].stored, update)
            changes.append(change)
    return changes


def _is_proved(group: Sequence[Examined]) -> bool:
    """Whether the chunks are a whole text by its own hash, whatever the source is.

    No place is to be repaired then: a source that differs was changed since, and in one
    that does not, places count from the start of the text and not of a page.
    """
    metadatas = [chunk.hit.metadata for chunk in group]
    stamps = sum(TEXT_HASH in metadata for metadata in metadatas)
    names = {str(metadata.get(DOC_URI)) for metadata in metadatas}
    if not stamps or len(names) != 1:
        return False
    stored = [StoredChunk(chunk.hit.text, chunk.hit.metadata) for chunk in group]
    try:
        found = rebuild(names.pop(), stored, exact=False)
    except OpragError:
        return False
    return found.exact or stamps >= len(found.parts)


def _beside_nodes(group: Sequence[Examined], name: str) -> Iterator[Change]:
    """Write to where stores filter what a node has, and a name where neither has it."""
    for chunk in group:
        own = {k: v for k, v in chunk.hit.metadata.items() if k in OWN_KEYS}
        update = {k: v for k, v in own.items() if chunk.stored.get(k) != v}
        if DOC_URI not in own:
            entry = {DOC_URI: name}
            update |= _update(chunk, entry, keep=False, gone=False, offsets=None)
        if update:
            yield Change(chunk.id, name, chunk.stored, update)


def _entry(
    group: Sequence[Examined], document: ProvedDocument, i: int, number: int | None
) -> dict[str, str | int]:
    """What is proved of one chunk, the `number`th of all, where that is known."""
    entry: dict[str, str | int] = {
        DOC_KEY: document_key(document.name),
        DOC_URI: document.name,
    }
    if number is not None:
        entry[CHUNK_INDEX], entry[N_CHUNKS] = number, len(group)
    if number == 0:
        entry |= _stamp(group, document, document.placement.order or ())
    span = document.placement.locations[i].span
    if span is not None:
        entry[CHAR_START], entry[CHAR_END] = span
    return entry


def _stamp(
    group: Sequence[Examined], document: ProvedDocument, order: Sequence[int]
) -> dict[str, str | int]:
    """Length and hash of the source, if the first chunk does not have them already.

    A version that was recorded has to be of that text.
    """
    spans = [document.placement.locations[i].span for i in order]
    exact, reach = True, 0
    for i, place in zip(order, spans, strict=True):
        span = place or Span(0, 0)
        text = document.source[span.start : span.end]
        exact = exact and span.start <= reach and text == group[i].hit.text
        reach = max(reach, span.end)
    exact = exact and reach == len(document.source)
    stamp = text_stamp(document.source, exact=exact)
    first = group[order[0]].hit.metadata
    recorded = version_text(first.get(DOC_VERSION))
    if recorded not in ("", version_of_hashes([str(stamp[TEXT_HASH])])):
        return {}
    unmoved = tuple(map(first.get, (CHAR_START, CHAR_END))) == spans[0]
    written = first.get(TEXT_LENGTH), first.get(TEXT_HASH)
    has_it = written == (stamp[TEXT_LENGTH], stamp[TEXT_HASH])
    return {} if has_it and unmoved else stamp


def _stamp_alone(
    group: Sequence[Examined], document: ProvedDocument
) -> list[Change] | None:
    """Length and hash of each part's text, where nothing else of a version is wrong.

    `doc_version` holds a hash of the texts, so they are known where the chunks give
    them, whatever stood between the pages.
    """
    metadatas = [chunk.hit.metadata for chunk in group]
    versions = {version_text(metadata.get(DOC_VERSION)) for metadata in metadatas}
    if (
        len(versions) != 1
        or "" in versions
        or document.placement.order is None
        or not {*document.verdicts} <= {"proved", "blank"}
        or any(TEXT_HASH in metadata for metadata in metadatas)
    ):
        return None
    stored = [StoredChunk(chunk.hit.text, chunk.hit.metadata) for chunk in group]
    try:
        parts = rebuild(document.name, stored, exact=False).parts
    except OpragError:  # not whole, or not in the order that its numbers say
        return None
    stamps = [text_stamp(text) for text in parts]
    if {version_of_hashes([str(stamp[TEXT_HASH]) for stamp in stamps])} != versions:
        return None
    first: dict[Any, int] = {}
    numbered = sorted(
        range(len(group)), key=lambda i: as_number(metadatas[i].get(CHUNK_INDEX)) or 0
    )
    for i in numbered:
        first.setdefault(as_number(metadatas[i].get(PART_INDEX)), i)
    changes = []
    for i, stamp in zip(first.values(), stamps, strict=True):
        update = _update(group[i], stamp, keep=False, gone=False, offsets=None)
        change = Change(group[i].id, document.name, group[i].stored, update)
        changes.append(change)
    return changes


def _numbers_agree(hits: Sequence[Hit], document: ProvedDocument) -> bool:
    """Whether the chunk numbers that are there follow the proved places."""
    numbered = sorted(
        (number, location.span)
        for hit, location in zip(hits, document.placement.locations, strict=True)
        if location.span is not None
        and (number := as_number(hit.metadata.get(CHUNK_INDEX))) is not None
    )
    return all(
        first[0] < second[0] and first[1] <= second[1]
        for first, second in pairwise(numbered)
    )


def _update(
    chunk: Examined,
    entry: Mapping[str, str | int],
    *,
    keep: bool,
    gone: bool,
    offsets: tuple[int | None, int | None] | None,
) -> dict[str, Any]:
    """What to set and to remove so that the stored metadata say what `entry` does."""
    stored = _renewed(chunk.stored, entry, keep=keep, gone=gone)
    content = chunk.stored.get(NODE_CONTENT)
    if chunk.stored is not chunk.hit.metadata and isinstance(content, str):
        node = _renewed(chunk.hit.metadata, entry, keep=keep, gone=gone)
        text = rewritten(content, node, offsets)
        if json.loads(text) != json.loads(content):
            stored[NODE_CONTENT] = text
    return difference(chunk.stored, stored)


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return what to set, and None for what to remove, to make the one the other."""
    changed = {k: v for k, v in new.items() if k not in old or old[k] != v}
    return {**changed, **dict.fromkeys(key for key in old if key not in new)}


def _renewed(
    metadata: Mapping[str, Any],
    entry: Mapping[str, str | int],
    *,
    keep: bool,
    gone: bool,
) -> dict[str, Any]:
    if CHAR_START not in entry and not gone and CHUNK_INDEX not in entry:
        return {**metadata, **entry}
    renewed = replaced(metadata, entry)
    if gone or CHAR_START not in entry:
        renewed = {
            key: value
            for key, value in renewed.items()
            if key in entry or key not in POSITION_KEYS
        }
    if any(key in metadata for key in PART_KEYS):
        # It counted from the start of a part, and other chunks still may.
        renewed.pop("start_index", None)
    if keep:
        kept = {key: metadata[key] for key in _NUMBERS if key in metadata}
        renewed = {**renewed, **kept}
    return renewed
