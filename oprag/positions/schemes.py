"""Read the numbers that metadata give to chunks, and the parts that they count in.

A scheme is one way to write positions into metadata: a key, and the keys of the parts
(pages, rows, records) that the position may be relative to. A result of oprag has its
place under the key `oprag`, and that counts before any scheme of characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

from oprag.chunk import Hit
from oprag.metadata import CHAR_END, CHAR_START, CHUNK_INDEX, PART_INDEX, as_number
from oprag.positions.keys import PART_KEYS, look_up
from oprag.positions.position import (
    Position,
    place_at_number,
    place_at_span,
    read_position,
)
from oprag.result_key import read_written

_ATTRIBUTES = ("chunk_order", "chunk_order_int", "sort_order", "abs_idx")
"""Positions that are looked for on the framework's object too."""
_COUNTED = ("chunk_order_index", "segment_position")
_SECONDS = ("start_seconds", "start_time")


class Scheme(NamedTuple):
    """One way to write positions into metadata."""

    start: str
    """Key of the position; empty for the framework's own offsets (`Hit.offsets`)."""
    end: str | None
    """Key of the end, if the scheme writes one."""
    parts: tuple[str, ...]
    """Keys of the part that the position may be relative to."""
    characters: bool
    """Whether the position counts characters, so that it gives a span."""

    @property
    def is_framework_offsets(self) -> bool:
        """Whether it reads the framework's own offsets (`Hit.offsets`)."""
        return not self.start

    @property
    def is_of_seconds(self) -> bool:
        """Whether the position is the second at which a text begins to be said."""
        return self.start in _SECONDS

    @property
    def name(self) -> str:
        """The key of the position, for people."""
        return self.start or "start_char_idx"


SCHEMES = (
    Scheme(CHAR_START, CHAR_END, (PART_INDEX,), characters=True),
    Scheme("start_index", None, PART_KEYS, characters=True),
    Scheme("", None, PART_KEYS, characters=True),
    Scheme("start_char_idx", "end_char_idx", PART_KEYS, characters=True),
    Scheme("split_idx_start", None, (), characters=True),
    Scheme(CHUNK_INDEX, None, PART_KEYS, characters=False),
    Scheme("split_id", None, PART_KEYS, characters=False),
    *(Scheme(key, None, PART_KEYS, characters=False) for key in _ATTRIBUTES),
    *(Scheme(key, None, PART_KEYS, characters=False) for key in _COUNTED),
    *(Scheme(key, None, PART_KEYS, characters=False) for key in _SECONDS),
    Scheme("loc.lines.from", None, PART_KEYS, characters=False),
)
"""Known schemes in order of precedence: oprag; LangChain's splitters; LlamaIndex's
attributes, then its keys; Haystack; counted chunks in the keys of frameworks and of
applications (R2R, RAGFlow, PrivateGPT, LightRAG, Dify); seconds of a talk; LangChain.js
lines. If none fits, the part alone (page, row, record) orders the chunks."""


CHARACTER_STARTS = tuple(s.start for s in SCHEMES if s.start and s.characters)
"""Keys that say at which character a chunk begins."""
CHARACTER_KEYS = (*CHARACTER_STARTS, *(s.end for s in SCHEMES if s.end))
"""Keys of the first and the last character of a chunk; only chunks have them."""


class Reading(NamedTuple):
    """The place of a hit by one scheme."""

    hit: Hit
    scheme: Scheme
    part: int | None
    """The page, row or record that the number counts in; None for the document."""
    start: float
    """The first character of the hit, its number among the chunks, or its second."""

    def to_position(self) -> Position:
        """Return the position; it has no end if the recorded end disagrees."""
        if not self.scheme.characters:
            return place_at_number(self.start, self.part)
        written = read_written(self.hit.metadata)
        if written is not None and written.has_characters:
            return read_position(written, self.hit.text)
        start = int(self.start)
        end = start + len(self.hit.text)
        recorded = self._recorded_end
        if recorded is not None and recorded != end and as_number(recorded) != end:
            end = start
        return place_at_span(start, end, self.part)

    @property
    def _recorded_end(self) -> Any:
        if self.scheme.end is not None:
            return self.hit.metadata.get(self.scheme.end)
        if self.scheme.is_framework_offsets and self.hit.offsets is not None:
            return self.hit.offsets[1]
        return None


def read_scheme(
    hits: Sequence[Hit], scheme: Scheme, document_key: str
) -> list[Reading] | None:
    """Read hits of one document by a scheme; None unless all of them follow it.

    If some name a part and others do not, it is not known what their numbers count in,
    so they do not follow the scheme. The offsets of nodes of one framework document
    count in that document, whatever pages they name.
    """
    starts = [start for start in read_starts(hits, scheme) if start is not None]
    if len(starts) < len(hits):
        return None
    parts = read_parts(hits, scheme.parts)
    if parts is None:
        is_one_text = all(hit.document == document_key for hit in hits)
        if not scheme.is_framework_offsets or not is_one_text:
            return None
        parts = [None] * len(hits)
    rows = zip(hits, parts, starts, strict=True)
    return [Reading(hit, scheme, part, start) for hit, part, start in rows]


def read_starts(hits: Sequence[Hit], scheme: Scheme) -> Sequence[float | None]:
    """Return each hit's number by a scheme.

    A result of oprag has the characters that oprag wrote, under any key. If oprag wrote
    none, it has none under any key, because oprag saw more of the document then.
    """
    if scheme.is_of_seconds:
        return _read_seconds(hits, scheme.start)
    numbers = [*map(as_number, _read_column(hits, scheme.start))]
    if not scheme.characters:
        return numbers
    for i, hit in enumerate(hits):
        written = read_written(hit.metadata)
        if written is not None:
            whole = written.whole
            numbers[i] = None if whole is None else whole.start
    return numbers


def _read_seconds(hits: Sequence[Hit], key: str) -> list[float | None]:
    """Return each hit's second; none if it is that of all, as of a whole recording."""
    values = [hit.metadata.get(key) for hit in hits]
    seconds = [each if _is_fraction(each) else as_number(each) for each in values]
    is_one = len({*seconds}) == 1 < len({hit.text for hit in hits})
    return [None] * len(hits) if is_one else seconds


def _is_fraction(value: Any) -> bool:
    return isinstance(value, float) and 0 <= value < inf and not value.is_integer()


def read_parts(hits: Sequence[Hit], keys: Sequence[str]) -> Sequence[int | None] | None:
    """Return the part of every hit by the first key that all of them have.

    A result with characters has the part that was written with them, under any key.

    Returns:
        A list of None if no hit names a part. None if some do and no key has a number
        on every hit, since then it is unknown which text the offsets count from.
    """
    written_parts = _read_written_parts(hits)
    if len(written_parts) == len(hits):
        return [*written_parts.values()]
    some_are_named = False
    for key in keys:
        names = {key, key.partition(".")[0]}
        if all(hit.metadata.keys().isdisjoint(names) for hit in hits):
            continue
        values = _read_column(hits, key)
        for i, part in written_parts.items():
            values[i] = part
        numbers = [*map(as_number, values)]
        if None not in numbers:
            return numbers
        if any(value is not None for value in values):
            some_are_named = True
    return None if some_are_named else [None] * len(hits)


def read_written_numbers(hits: Sequence[Hit]) -> list[int] | None:
    """Return the number that oprag wrote on each; None unless all have one."""
    numbers = []
    for hit in hits:
        written = read_written(hit.metadata)
        number = None if written is None else written.find_link_number(hit.text)
        if number is None:
            return None
        numbers.append(number)
    return numbers


def _read_written_parts(hits: Sequence[Hit]) -> dict[int, int | None]:
    """Return the parts of results with characters, by the indices of the hits."""
    parts = {}
    for i, hit in enumerate(hits):
        written = read_written(hit.metadata)
        if written is not None and written.has_characters:
            parts[i] = written.part
    return parts


def _read_column(hits: Sequence[Hit], key: str) -> list[Any]:
    """Return each hit's value for a key; key "" is the framework's own start."""
    if not key:
        return [hit.offsets and hit.offsets[0] for hit in hits]
    if key in _ATTRIBUTES or "." in key:
        return [look_up(hit.metadata, hit.subject, key) for hit in hits]
    return [hit.metadata.get(key) for hit in hits]


def read_known_positions(hit: Hit) -> dict[str, Any]:
    """Return a chunk's values under the known keys of positions and parts."""
    found = {}
    for key in (*(scheme.start for scheme in SCHEMES), *PART_KEYS):
        if key:
            found[key] = look_up(hit.metadata, hit.subject, key)
    if hit.offsets is not None and hit.offsets[0] is not None:
        found["start_char_idx"] = hit.offsets[0]
    return {key: value for key, value in found.items() if value is not None}


def read_by_others(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return for each known key that only some chunks have the chunks that have it.

    A search that returns only these may order them by this key, and the whole document
    by another.
    """
    subsets = []
    for scheme in SCHEMES:
        pairs = zip(hits, read_starts(hits, scheme), strict=True)
        usable = [hit for hit, number in pairs if number is not None]
        if 0 < len(usable) < len(hits):
            subsets.append(usable)
    return subsets
