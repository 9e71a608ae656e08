"""Read the numbers that hits carry under the keys of one scheme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oprag.chunk import Hit
from oprag.metadata import as_number
from oprag.positions.keys import ATTRIBUTES, SCHEMES, Scheme, look_up
from oprag.result_key import read_written


def read_column(hits: Sequence[Hit], key: str) -> list[Any]:
    """Return each hit's value for a key; key "" is the framework's own start."""
    if not key:
        return [hit.offsets and hit.offsets[0] for hit in hits]
    if key in ATTRIBUTES or "." in key:
        return [look_up(hit.metadata, hit.subject, key) for hit in hits]
    return [hit.metadata.get(key) for hit in hits]


def read_recorded_start(hit: Hit, scheme: Scheme) -> int | None:
    """Return a hit's own number by a scheme, whatever oprag wrote on it."""
    return as_number(read_column([hit], scheme.start)[0])


def read_starts(hits: Sequence[Hit], scheme: Scheme) -> list[int | None]:
    """Return each hit's number by a scheme.

    A result of oprag has the characters that oprag wrote, whatever the key; and none
    by any key where oprag wrote none: it saw more of the document then.
    """
    numbers = [*map(as_number, read_column(hits, scheme.start))]
    if scheme.characters:
        for i, hit in enumerate(hits):
            written = read_written(hit.metadata)
            if written is not None:
                whole = written.whole
                numbers[i] = None if whole is None else whole.start
    return numbers


def has_written_place(hit: Hit) -> bool:
    """Return whether it is a result, and oprag wrote at which character it begins."""
    written = read_written(hit.metadata)
    return written is not None and bool(written.spans)


def is_without_place(hit: Hit) -> bool:
    """Return whether it is a result, and oprag wrote that it has no place."""
    written = read_written(hit.metadata)
    return written is not None and written.problem is not None and not written.spans


def read_parts(hits: Sequence[Hit], keys: Sequence[str]) -> Sequence[int | None] | None:
    """Return the part of every hit by the first key that all of them have.

    A list of None when no hit names a part; None when some do and none of the keys has
    a number on every hit, so that it is not known what the offsets count from.
    """
    places = [read_written(hit.metadata) for hit in hits]
    placed_hits = [place is not None and bool(place.spans) for place in places]
    written = [None if place is None else place.part for place in places]
    if all(placed_hits):
        return written
    named = False
    for key in keys:
        names = {key, key.partition(".")[0]}
        if all(hit.metadata.keys().isdisjoint(names) for hit in hits):
            continue
        values = read_column(hits, key)
        rows = zip(values, written, placed_hits, strict=True)
        values = [part if is_ours else value for value, part, is_ours in rows]
        named = named or any(value is not None for value in values)
        numbers = [as_number(value) for value in values]
        if None not in numbers:
            return numbers
    return None if named else [None] * len(hits)


def read_by_others(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return the chunks of each known key that only some chunks have.

    A search that returns only these may be put in order by this key, and the whole
    document by another.
    """
    subsets = []
    for scheme in SCHEMES:
        pairs = zip(hits, read_starts(hits, scheme), strict=True)
        usable = [hit for hit, number in pairs if number is not None]
        if 0 < len(usable) < len(hits):
            subsets.append(usable)
    return subsets
