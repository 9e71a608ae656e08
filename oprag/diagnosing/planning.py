"""What a repair writes: proved positions, and nothing else.

Every chunk of a document that is known gets the document's key and name, so that a
document stays one. `char_start` and `char_end` are written where the source proves
them; `chunk_index` and `n_chunks` where the chunks cover the source without a gap, so
that all are known to be there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from oprag.chunk import Hit
from oprag.diagnosing.checks import Examined
from oprag.diagnosing.proving import ProvedDocument
from oprag.locating import POSITION_KEYS, replaced
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_URI,
    N_CHUNKS,
    document_key,
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
        seems to be another text.
    """
    if document.foreign:
        return []
    group = [chunks[i] for i in document.members]
    hits = [chunk.hit for chunk in group]
    order = document.placement.order
    numbers = {} if order is None else {i: at for at, i in enumerate(order)}
    keep = order is None and _numbers_agree(hits, document)
    one_source = len({hit.document for hit in hits}) == 1
    changes = []
    for i in order or range(len(group)):
        entry: dict[str, str | int] = {
            DOC_KEY: document_key(document.name),
            DOC_URI: document.name,
        }
        if numbers:
            entry[CHUNK_INDEX], entry[N_CHUNKS] = numbers[i], len(group)
        span = document.placement.locations[i].span
        if span is not None:
            entry[CHAR_START], entry[CHAR_END] = span
        gone = span is None and document.holds[i] is False
        offsets: tuple[int | None, int | None] | None = span if one_source else None
        if gone:
            offsets = (None, None)
        update = _update(group[i], entry, keep=keep, gone=gone, offsets=offsets)
        if update:
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
    changed = {
        key: value
        for key, value in stored.items()
        if key not in chunk.stored or chunk.stored[key] != value
    }
    removed = [key for key in chunk.stored if key not in stored]
    return {**changed, **dict.fromkeys(removed)}


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
