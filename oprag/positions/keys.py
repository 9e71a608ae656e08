"""The known metadata keys: of documents, of parts, of positions, and their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Hit
from oprag.metadata import CHAR_END, CHAR_START, CHUNK_INDEX, PART_INDEX, as_number
from oprag.result_key import is_unchanged, read_written

PositionKeys: TypeAlias = str | Callable[[Any], Any] | Sequence[Any]
"""A metadata key, an attribute name, a callable on the framework's object, or a
list of these, the most significant first (`["page", "start_index"]`).

Under a key, numbers, texts of numbers (`"1718041234.000300"`) and dates are positions.
A callable may return anything that can be compared, or a tuple of it."""

PART_KEYS = (
    "part_index",
    "page",
    "page_number",
    "page_label",
    "row",
    "seq_num",
    "loc.pageNumber",
)
"""Keys of readers that make one framework document per page, row or record.

`page` comes before `page_label`: a label may be a roman numeral.
"""

SECTION_KEYS = (
    *(f"Header {level}" for level in range(1, 7)),
    *(f"h{level}" for level in range(1, 7)),
    "header_path",
    "section",
)
"""Keys of splitters that cut a document into sections first."""

ATTRIBUTES = ("chunk_order", "chunk_order_int", "sort_order", "abs_idx")
"""Positions that are looked for on the framework's object too."""
_COUNTED = ("chunk_order_index", "segment_position", "start_seconds")


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


SCHEMES = (
    Scheme(CHAR_START, CHAR_END, (PART_INDEX,), characters=True),
    Scheme("start_index", None, PART_KEYS, characters=True),
    Scheme("", None, PART_KEYS, characters=True),
    Scheme("start_char_idx", "end_char_idx", PART_KEYS, characters=True),
    Scheme("split_idx_start", None, (), characters=True),
    Scheme(CHUNK_INDEX, None, PART_KEYS, characters=False),
    Scheme("split_id", None, PART_KEYS, characters=False),
    *(Scheme(key, None, PART_KEYS, characters=False) for key in ATTRIBUTES),
    *(Scheme(key, None, PART_KEYS, characters=False) for key in _COUNTED),
    Scheme("loc.lines.from", None, PART_KEYS, characters=False),
)
"""Known schemes in order of precedence: oprag; LangChain's splitters; LlamaIndex's
attributes, then its keys; Haystack; counted chunks in the keys of frameworks and of
applications (R2R, RAGFlow, PrivateGPT, LightRAG, Dify); seconds of a talk; LangChain.js
lines. If none fits, the part alone (page, row, record) orders the chunks."""


CHARACTERS = frozenset(scheme.start for scheme in SCHEMES if scheme.characters)
"""Keys that say at which character a chunk begins."""


def look_up(metadata: Mapping[str, Any], subject: Any, key: Any) -> Any:
    """Return the value of a user's key: a call, a metadata key, a path or attribute.

    Args:
        metadata: Looked in first, by the whole `key`, then along its dots
            (`loc.lines.from` also finds `{"loc": {"lines": {"from": 3}}}`, and
            `items.0.page` looks into a list).
        subject: The framework's object. It is passed to a callable, and is asked last
            for an attribute of that name. If it is None, a callable gets the metadata.
        key: A callable or a string.

    Returns:
        The value, or None if there is none.
    """
    if callable(key):
        return key(metadata if subject is None else subject)
    value = metadata.get(key)
    if value is None and "." in key:
        value = metadata
        for step in key.split("."):
            value = _step_into(value, step)
    return getattr(subject, key, None) if value is None else value


def _step_into(value: Any, step: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(step)
    if isinstance(value, (list, tuple)) and step.isdecimal() and int(step) < len(value):
        return value[int(step)]
    return None


def read_known_positions(hit: Hit) -> dict[str, Any]:
    """Return a chunk's values under the known keys of positions and parts."""
    keys = (*(scheme.start for scheme in SCHEMES if scheme.start), *PART_KEYS)
    found = {key: look_up(hit.metadata, hit.subject, key) for key in keys}
    if hit.offsets is not None and hit.offsets[0] is not None:
        found["start_char_idx"] = hit.offsets[0]
    return {key: value for key, value in found.items() if value is not None}


def list_keys(keys: str | Callable[[Any], Any] | Sequence[Any]) -> Sequence[Any]:
    """Return a list of the keys, even if one alone was given."""
    return [keys] if isinstance(keys, str) or callable(keys) else keys


def read_column(hits: Sequence[Hit], key: str) -> list[Any]:
    """Return each hit's value for a key; key "" is the framework's own start."""
    if not key:
        return [hit.offsets and hit.offsets[0] for hit in hits]
    if key in ATTRIBUTES or "." in key:
        return [look_up(hit.metadata, hit.subject, key) for hit in hits]
    return [hit.metadata.get(key) for hit in hits]


def read_recorded_start(hit: Hit, scheme: Scheme) -> int | None:
    """Return a hit's original number by a scheme, even if oprag wrote another on it."""
    return as_number(read_column([hit], scheme.start)[0])


def read_starts(hits: Sequence[Hit], scheme: Scheme) -> list[int | None]:
    """Return each hit's number by a scheme.

    A result of oprag has the characters that oprag wrote, under any key. If oprag wrote
    none, it has none under any key, because oprag saw more of the document then.
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
    """Return whether it is a result on which oprag wrote its beginning."""
    written = read_written(hit.metadata)
    return written is not None and bool(written.spans)


def is_without_place(hit: Hit) -> bool:
    """Return whether it is a result on which oprag wrote that it has no place."""
    written = read_written(hit.metadata)
    return written is not None and written.problem is not None and not written.spans


def have_written_numbers(hits: Sequence[Hit]) -> bool:
    """Return whether all are results of oprag, with a number written on each."""
    return None not in map(read_written_number, hits)


def read_written_number(hit: Hit) -> int | None:
    """Return a result's number among its chunks, as oprag wrote it; or None."""
    place = read_written(hit.metadata)
    if place is None or place.proof != "chained" or place.spans:
        return None
    return as_number(place.counted) if is_unchanged(hit.metadata, hit.text) else None


def read_parts(hits: Sequence[Hit], keys: Sequence[str]) -> Sequence[int | None] | None:
    """Return the part of every hit by the first key that all of them have.

    A list of None if no hit names a part. None if some do and no key has a number on
    every hit, since then it is unknown which text the offsets count from.
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
