"""Metadata for the proved places of chunks in their source."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from oprag.errors import (
    ConflictingPositionsError,
    PositionWarning,
    find_caller_stacklevel,
)
from oprag.locating import Location, exchangeable, given_order, locate
from oprag.metadata import (
    ALL_RESULT_KEYS,
    CHAR_END,
    CHAR_START,
    CHUNK_HASH,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    PART_INDEX,
    STAMP_KEYS,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    document_key,
    document_version,
    span_stamp,
    text_stamp,
)
from oprag.positions import CHARACTER_KEYS

_REPLACED = (
    *(DOC_KEY, DOC_URI, CHUNK_INDEX, N_CHUNKS, CHUNK_HASH, PART_INDEX),
    *CHARACTER_KEYS,
    *ALL_RESULT_KEYS,
)
"""Keys whose old values a repair replaces or removes."""

_PROVED = ("exact", "whitespace", "inside")
_LISTED = 10
"""The most chunks that an error names."""


class SourcePart(NamedTuple):
    """A source text, or one part (a page) of it, and the chunks made from it."""

    text: str
    """The text that was split."""
    chunks: Sequence[str]
    """All its chunks, in the order in which the splitter made them, if known."""
    number: int | None = None
    """The value of `part_index`; None for a document that is one text."""


def annotate_chunks(
    name: str,
    parts: Sequence[SourcePart],
    *,
    just_split: bool = False,
    believed: bool = False,
) -> list[list[dict[str, str | int]]]:
    """Locate the chunks of one document, and return metadata with their places.

    Every chunk gets `doc_key`, `doc_uri`, `chunk_index` and `n_chunks`: the order of
    the list is known even if a place is not. `char_start` and `char_end` are written
    only if the place is proved, and `chunk_hash` if the chunk is exactly the slice. The
    first chunk of each part gets the stamp of its text (`oprag.metadata.text_stamp`).
    If there are parts, every chunk gets a `doc_version`, which says which chunks belong
    together.

    If several splitters were applied one after another, they may step back a little.
    Then `chunk_index` follows the places.

    Args:
        name: The document's name.
        parts: Its parts in reading order; one for a document that is one text.
        just_split: Whether the caller split the text, so that the order is certain.
            If not, it is compared with the places of the chunks.
        believed: Whether the order counts if places neither prove nor disprove it.

    Returns:
        Metadata to write, nested like the chunks.
    """
    orders = [
        list(range(len(part.chunks)))
        if just_split
        else _order_part(name, part, believed=believed)
        for part in parts
    ]
    located = [
        _locate_part(part, order) for part, order in zip(parts, orders, strict=True)
    ]
    pairs = zip(parts, orders, located, strict=True)
    for part, order, locations in () if just_split else pairs:
        _refuse_likeness(name, part, order, locations)
    everywhere = list(itertools.chain(*located))
    _warn_of_unlocated(name, everywhere)
    own: dict[str, str | int] = {DOC_KEY: document_key(name), DOC_URI: name}
    if any(part.number is not None for part in parts):
        texts = [part.text for part in parts if part.chunks or part.text.strip()]
        own[DOC_VERSION] = document_version("located", texts)
    before = 0
    written = []
    for part, order, locations in zip(parts, orders, located, strict=True):
        numbers = {i: number for number, i in enumerate(order, before)}
        before += len(order)
        entries = []
        for i, location in enumerate(locations):
            entry = {**own, CHUNK_INDEX: numbers[i], N_CHUNKS: len(everywhere)}
            if part.number is not None:
                entry[PART_INDEX] = part.number
            if location.span is not None and location.status in _PROVED:
                entry |= span_stamp(part.text, location.span, part.chunks[i])
            entries.append(entry)
        if entries:
            entries[order[0]].update(text_stamp(part.text, exact=False))
        written.append(entries)
    return written


def replace_positions(
    metadata: Mapping[str, Any], entry: Mapping[str, str | int]
) -> dict[str, Any]:
    """Return a copy of the metadata with the positions of `entry` in it.

    Every old position is removed. LangChain's `start_index` stays, corrected, if the
    place is proved. If the span is another one, a token count and the stamp of a text
    are removed. If the start is another one, so is the version. They all were of
    another text.
    """
    stale = {*_REPLACED}
    if any(metadata.get(key) != entry.get(key) for key in (CHAR_START, CHAR_END)):
        stale |= {TOKEN_COUNT, TOKEN_COUNTER, *STAMP_KEYS}
    if metadata.get(CHAR_START, entry.get(CHAR_START)) != entry.get(CHAR_START):
        stale.add(DOC_VERSION)  # of a text in which its start was another
    kept = {key: value for key, value in metadata.items() if key not in stale}
    kept.update(entry)
    if "start_index" in metadata and CHAR_START in entry:
        kept["start_index"] = entry[CHAR_START]
    return kept


def _order_part(name: str, part: SourcePart, *, believed: bool) -> list[int]:
    order, doubtful = given_order(part.text, part.chunks, believed=believed)
    if order is None:
        raise _several_orders(name, part, doubtful)
    return order


def _refuse_likeness(
    name: str, part: SourcePart, order: list[int], locations: Sequence[Location]
) -> None:
    """Refuse chunks that differ in white space alone and are not at their places.

    Chunks that a splitter altered, so that they occur nowhere, are taken in the given
    order, if the others were given in the order of the text.
    """
    doubtful = exchangeable(part.text, part.chunks, locations)
    shuffled = order != sorted(order)
    if any(
        shuffled
        or (locations[i].status != "exact" and part.chunks[i].strip() in part.text)
        for i in doubtful
    ):
        raise _several_orders(name, part, doubtful)


def _several_orders(
    name: str, part: SourcePart, doubtful: Sequence[int]
) -> ConflictingPositionsError:
    of_part = "" if part.number is None else f" of part {part.number}"
    numbers = tuple(doubtful[:_LISTED])
    message = (
        f"Document {name!r}: the chunks fit the text{of_part} in more than one order "
        f"(in doubt: {', '.join(map(str, numbers))} of the list). Index the document "
        "with index_documents, which knows the order."
    )
    return ConflictingPositionsError(
        message, kind="ambiguous_position", document=name, position=(), ranks=numbers
    )


def _locate_part(part: SourcePart, order: Sequence[int]) -> list[Location]:
    found = locate(part.text, [part.chunks[i] for i in order])
    return [location for _, location in sorted(zip(order, found, strict=True))]


def _warn_of_unlocated(name: str, locations: Sequence[Location]) -> None:
    missing = [i for i, each in enumerate(locations) if each.status not in _PROVED]
    if missing:
        kinds = sorted({locations[i].status.replace("_", " ") for i in missing})
        message = (
            f"Document {name!r}: of {len(locations)} chunks {len(missing)} cannot be "
            f"placed ({', '.join(kinds)}; first: chunk {missing[0]}). They keep their "
            "order (chunk_index) and get no char_start."
        )
        warnings.warn(message, PositionWarning, stacklevel=find_caller_stacklevel())
