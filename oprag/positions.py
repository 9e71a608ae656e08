"""Where each chunk stands in its document, read out of any metadata.

The chunks of one document are read together, because only together they show
whether a key orders them: the first scheme of `SCHEMES` that *every* one of them
carries is used, so a document never mixes characters with ordinals.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from oprag.chunk import Chunk, Span
from oprag.errors import (
    InvalidSpanError,
    MissingPositionError,
    PositionError,
    UnscopedPositionError,
)
from oprag.hit import Hit
from oprag.identity import PART_KEYS, SECTION_KEYS, look_up
from oprag.metadata import CHAR_END, CHAR_START, CHUNK_INDEX, PART_INDEX

__all__ = [
    "SCHEMES",
    "MissingPosition",
    "PositionKeys",
    "Scheme",
    "as_number",
    "read_chunks",
]

PositionKeys: TypeAlias = str | Callable[[Any], Any] | Sequence[Any]
"""A metadata key, an attribute name, a callable on the framework's object, or a
list of these, the most significant first (`["page", "start_index"]`)."""

MissingPosition: TypeAlias = Literal["error", "last", "rank"]

_LONGEST_NUMBER = 15
"""Digits a string may have and be a position; longer ones are hashes or ids."""


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


SCHEMES = (
    Scheme(CHAR_START, CHAR_END, (PART_INDEX,), characters=True),
    Scheme("start_index", None, PART_KEYS, characters=True),
    Scheme("", None, PART_KEYS, characters=True),
    Scheme("start_char_idx", "end_char_idx", PART_KEYS, characters=True),
    Scheme("split_idx_start", None, PART_KEYS, characters=True),
    Scheme(CHUNK_INDEX, None, PART_KEYS, characters=False),
    Scheme("split_id", None, PART_KEYS, characters=False),
    Scheme("loc.lines.from", None, PART_KEYS, characters=False),
)
"""Known schemes in order of precedence: oprag; LangChain's splitters; LlamaIndex's
attributes, then its keys; Haystack; counted chunks; LangChain.js lines. Where none
fits, the part alone (page, row, record) orders the chunks."""

_ENDS = {scheme.start: scheme.end for scheme in SCHEMES if scheme.characters}

_Place: TypeAlias = tuple[tuple[float, ...], Span | None, int | None]
"""Position, span and part of one chunk."""

_WAYS_OUT = (
    "Ways out: split with add_start_index=True or with oprag's own splitters; repair "
    "the index with annotate_positions (LangChain) or PositionAnnotator (LlamaIndex); "
    "name the key that holds the position with position_keys=; or accept another "
    'order with missing_position="last" or "rank".'
)


def as_number(value: Any) -> int | None:
    """The position that a metadata value gives, or None when it is not one.

    Non-negative integers, floats without a fraction (stores turn integers into
    floats) and strings of up to 15 ASCII digits are positions. Booleans, -1,
    NaN, roman numerals and hashes are not.
    """
    if type(value) is int:
        return value if value >= 0 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and value >= 0 else None
    if isinstance(value, str):
        digits = value.strip()
        fits = len(digits) <= _LONGEST_NUMBER and digits.isascii()
        return int(digits) if fits and digits.isdigit() else None
    if isinstance(value, bool):
        return None
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return number if number >= 0 else None


def read_chunks(
    hits: Sequence[Hit],
    documents: Sequence[tuple[str, str]],
    *,
    position_keys: PositionKeys | None = None,
    missing_position: MissingPosition = "error",
) -> list[Chunk]:
    """Turn hits into chunks that know their place.

    Args:
        hits: Best first; the index becomes the rank.
        documents: Key and name of each hit's document, as `read_documents` gives
            them; as many as hits.
        position_keys: Where the user keeps the position; None for the known
            schemes. A user's key is trusted: it is not searched for sections.
        missing_position: `"error"`; `"last"`: chunks without a usable position
            get None, the others keep theirs; `"rank"`: all chunks of a document
            that has such a chunk get None.

    Returns:
        One chunk per hit, in the same order.

    Raises:
        MissingPositionError: A chunk has no usable position.
        UnscopedPositionError: The offsets restart in every section or parent.
        InvalidSpanError: A span is negative or reversed.
    """
    groups: dict[str, list[int]] = {}
    for index, (key, _) in enumerate(documents):
        groups.setdefault(key, []).append(index)
    chunks: list[Chunk | None] = [None] * len(hits)
    for key, indexes in groups.items():
        members = [hits[index] for index in indexes]
        places = _places(members, indexes, key, position_keys, missing_position)
        for index, hit, place in zip(indexes, members, places, strict=True):
            position, span, part = place or (None, None, None)
            chunks[index] = Chunk(
                hit.text,
                key,
                index,
                position,
                span,
                part,
                hit.score,
                None,
                documents[index][1],
                hit.metadata,
                hit.source,
            )
    return [chunk for chunk in chunks if chunk is not None]


def _places(
    hits: Sequence[Hit],
    ranks: Sequence[int],
    document: str,
    position_keys: PositionKeys | None,
    policy: MissingPosition,
) -> Sequence[_Place | None]:
    try:
        if position_keys is None:
            places = _known_places(hits, ranks, document)
        else:
            places = _named_places(hits, document, position_keys)
        if None in places:
            culprit = _partial_places(hits, document, position_keys).index(None)
            raise _missing(hits[culprit], ranks[culprit], document, position_keys)
    except PositionError:
        if policy == "error":
            raise
        if policy == "rank":
            return [None] * len(hits)
        return _partial_places(hits, document, position_keys)
    return places


def _partial_places(
    hits: Sequence[Hit], document: str, position_keys: PositionKeys | None
) -> Sequence[_Place | None]:
    """Places of the chunks that have one, for `missing_position="last"`."""
    if position_keys is not None:
        return _named_places(hits, document, position_keys, lenient=True)
    for scheme in SCHEMES:
        try:
            places = _read_scheme(hits, scheme, document, lenient=True)
        except PositionError:
            continue
        if any(place is not None for place in places):
            return places
    return _parts_alone(hits)


def _known_places(
    hits: Sequence[Hit], ranks: Sequence[int], document: str
) -> Sequence[_Place | None]:
    for scheme in SCHEMES:
        places = _read_scheme(hits, scheme, document)
        if None not in places:
            return places
    places = _parts_alone(hits)
    for rank, hit in zip(ranks, hits, strict=True):
        label = hit.metadata.get("page_label")
        if None in places and label is not None and as_number(label) is None:
            raise _roman(document, rank, hit, label)
    return places


def _read_scheme(
    hits: Sequence[Hit], scheme: Scheme, document: str, *, lenient: bool = False
) -> Sequence[_Place | None]:
    """Places by one scheme; None where a chunk does not follow it."""
    values = [_raw(hit, scheme) for hit in hits]
    starts = [as_number(value) for value in values]
    nothing: list[_Place | None] = [None] * len(hits)
    if None in starts and (not lenient or not any(s is not None for s in starts)):
        if scheme.characters and not lenient:
            _refuse_negative(values, document)
        return nothing
    parts = _parts(hits, scheme.parts)
    if parts is None:
        return nothing
    if scheme.start == "start_index":
        _refuse_sections(hits, parts, document)
    if not scheme.start:
        _refuse_frames(hits, starts, parts, document)
    return [
        None if start is None else _place(hit, scheme, start, part, document)
        for hit, start, part in zip(hits, starts, parts, strict=True)
    ]


def _place(
    hit: Hit, scheme: Scheme, start: int, part: int | None, document: str
) -> _Place:
    if not scheme.characters:
        return (part or 0, start), None, part
    end = _end(hit, scheme, start, document)
    return (part or 0, start, end), Span(start, end), part


def _raw(hit: Hit, scheme: Scheme) -> Any:
    if not scheme.start:
        return None if hit.offsets is None else hit.offsets[0]
    if "." in scheme.start:
        return look_up(hit.metadata, None, scheme.start)
    return hit.metadata.get(scheme.start)


def _end(hit: Hit, scheme: Scheme, start: int, document: str) -> int:
    if scheme.start:
        value = None if scheme.end is None else hit.metadata.get(scheme.end)
    else:
        value = None if hit.offsets is None else hit.offsets[1]
    if value is None:
        return start + len(hit.text)
    end = as_number(value)
    if end is None or end < start:
        raise _invalid_span(document, start, value)
    return end


def _parts(hits: Sequence[Hit], keys: tuple[str, ...]) -> list[int | None] | None:
    """Part of every chunk by the first key that all of them have.

    A list of None when no chunk names a part; None when some do and none of the
    keys has a number on every chunk, so that the offsets' scope is unknown.
    """
    named = False
    for key in keys:
        column = [
            look_up(hit.metadata, None, key) if "." in key else hit.metadata.get(key)
            for hit in hits
        ]
        if all(value is None for value in column):
            continue
        named = True
        numbers = [as_number(value) for value in column]
        if None not in numbers:
            return numbers
    return None if named else [None] * len(hits)


def _parts_alone(hits: Sequence[Hit]) -> Sequence[_Place | None]:
    parts = _parts(hits, PART_KEYS) or [None] * len(hits)
    return [None if part is None else ((part,), None, part) for part in parts]


def _named_places(
    hits: Sequence[Hit],
    document: str,
    position_keys: PositionKeys,
    *,
    lenient: bool = False,
) -> Sequence[_Place | None]:
    single = isinstance(position_keys, str) or callable(position_keys)
    keys: Sequence[Any] = [position_keys] if single else list(position_keys)  # type: ignore[arg-type]  # narrowed by `single`
    places: list[_Place | None] = []
    for hit in hits:
        values = [look_up(hit.metadata, hit.subject, key) for key in keys]
        numbers = [number for value in values for number in _user_numbers(value)]
        if any(number is None for number in numbers):
            places.append(None)
            continue
        position = tuple(number for number in numbers if number is not None)
        span = None
        try:
            span = _named_span(hit, keys[-1], position[-1], document)
        except InvalidSpanError:
            if not lenient:
                raise
        places.append(_named_place(position, span))
    return places


def _named_place(position: tuple[float, ...], span: Span | None) -> _Place:
    """Place by the user's keys; a number before the offset is the offset's part.

    With more than one, or a fraction, no single part number tells the scopes apart;
    the chunks are ordered and not joined.
    """
    if span is None:
        return position, None, None
    *scope, _ = position
    if not scope:
        return (*position, span.end), span, None
    if len(scope) == 1 and float(scope[0]).is_integer():
        return (*position, span.end), span, int(scope[0])
    return (*position, span.end), None, None


def _user_numbers(value: Any) -> list[float | None]:
    """Numbers of a user's value: fractions (seconds of a video) are fine here."""
    if isinstance(value, (tuple, list)):
        return [number for item in value for number in _user_numbers(item)] or [None]
    if isinstance(value, float) and math.isfinite(value) and value >= 0:
        return [value]
    return [as_number(value)]


def _named_span(hit: Hit, key: Any, start: float, document: str) -> Span | None:
    if callable(key) or key not in _ENDS:
        return None
    end_key = _ENDS[key]
    value = None if end_key is None else look_up(hit.metadata, hit.subject, end_key)
    end = int(start) + len(hit.text) if value is None else as_number(value)
    if end is None or end < start:
        raise _invalid_span(document, int(start), value)
    return Span(int(start), end)


def _refuse_negative(values: Sequence[Any], document: str) -> None:
    """Say so when a start is negative; -1 alone means "not found" and is missing."""
    for value in values:
        if type(value) in (int, float) and value < 0 and value != -1:
            raise _invalid_span(document, int(value), None)


def _refuse_sections(
    hits: Sequence[Hit], parts: Sequence[int | None], document: str
) -> None:
    """Refuse `start_index` when the chunks come from several sections.

    LangChain copies the metadata of the text that was split into every chunk, so
    chunks whose section differs were split from different texts, and their
    offsets count from the start of each. So were chunks of several parents
    (`doc_id`), unless these are pages.
    """
    keys = SECTION_KEYS if parts[0] is not None else (*SECTION_KEYS, "doc_id")
    differing = []
    for key in keys:
        values = [hit.metadata.get(key) for hit in hits]
        if any(value != values[0] for value in values):
            differing.append(key)
    if not differing:
        return
    message = (
        f"Document {document!r}: start_index counts from the start of a section here "
        f"(the chunks differ in {', '.join(differing)}), so it does not order the "
        f'document. If it does count from the start, say position_keys="start_index". '
        f"{_WAYS_OUT}"
    )
    raise UnscopedPositionError(message, document=document, keys=tuple(differing))


def _refuse_frames(
    hits: Sequence[Hit],
    starts: Sequence[int | None],
    parts: Sequence[int | None],
    document: str,
) -> None:
    """Refuse framework offsets that are relative to something else.

    Each part is a text of its own, with its own last chunk.
    """
    for part in dict.fromkeys(parts):
        members = [
            (hit, start)
            for hit, start, its_part in zip(hits, starts, parts, strict=True)
            if its_part == part
        ]
        restarts = part is None and len({hit.document for hit, _ in members}) > 1
        if not restarts and not _has_wrong_frame(members):
            continue
        origin = (
            "several framework documents, each counted from 0, that no page or part "
            "number puts in order"
            if restarts
            else "a parent or an intermediate text (hierarchical or chained node "
            "parsers write such offsets)"
        )
        message = (
            f"Document {document!r}: start_char_idx counts from the start of {origin}, "
            f"so it does not order the document. {_WAYS_OUT}"
        )
        raise UnscopedPositionError(
            message, document=document, keys=("start_char_idx",)
        )


def _has_wrong_frame(members: Sequence[tuple[Hit, int | None]]) -> bool:
    """Whether the chunks cannot all be of one text that was split once.

    Such a text has one last chunk, the furthest one, and no chunk stands alone
    beside it. Chained parsers leave one chunk that looks alone, and many that look
    like the last.
    """
    frames = [hit.frame for hit, _ in members]
    if "parent" in frames or "last" not in frames:
        return "parent" in frames
    last = {start for hit, start in members if hit.frame == "last"}
    furthest = max(start for _, start in members if start is not None)
    return "only" in frames or last != {furthest}


def _invalid_span(document: str, start: int, end: Any) -> InvalidSpanError:
    shown = f"start {start}" if end is None else f"span [{start}, {end!r})"
    message = (
        f"Document {document!r}: a chunk has the {shown}; a span starts at 0 or later "
        f"and ends after its start. {_WAYS_OUT}"
    )
    found = as_number(end)
    return InvalidSpanError(
        message, document=document, start=start, end=start if found is None else found
    )


def _missing(
    hit: Hit, rank: int, document: str, position_keys: PositionKeys | None
) -> MissingPositionError:
    keys = tuple(sorted(map(str, hit.metadata)))
    useless = [
        f"{key}={value!r}"
        for key in (*(s.start for s in SCHEMES), *PART_KEYS)
        if key and (value := hit.metadata.get(key)) is not None
    ]
    found = ", ".join(keys) or "none"
    message = (
        f"Document {document!r}: the chunk at rank {rank} has no position that can be "
        f"used. Metadata keys found: {found}."
    )
    if position_keys is not None:
        message += f" position_keys={position_keys!r} gives no number on it."
    elif useless:
        message += f" Not usable for every chunk of the document: {', '.join(useless)}."
    return MissingPositionError(
        f"{message} {_WAYS_OUT}", document=document, rank=rank, keys=keys
    )


def _roman(document: str, rank: int, hit: Hit, label: Any) -> MissingPositionError:
    message = (
        f"Document {document!r}: the chunk at rank {rank} has only a page_label, and "
        f"{label!r} is not a number that orders pages. Let the reader write the page's "
        f"number under `page` as well, or name another key. {_WAYS_OUT}"
    )
    keys = tuple(sorted(map(str, hit.metadata)))
    return MissingPositionError(message, document=document, rank=rank, keys=keys)
