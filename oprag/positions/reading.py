"""Where each chunk stands in its document, read out of any metadata.

The chunks of one document are read together, because only together they show
whether a key orders them: the first scheme of `SCHEMES` that *every* one of them
carries is used, so a document never mixes characters with ordinals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import repeat
from operator import add
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Chunk, Hit, Span
from oprag.errors import OpragError, PositionError, UnscopedPositionError
from oprag.metadata import HASH, SPANS
from oprag.positions.keys import (
    ATTRIBUTES,
    PART_KEYS,
    SCHEMES,
    PositionKeys,
    Scheme,
    as_list,
    as_number,
    as_numbers,
    look_up,
)
from oprag.positions.missing import no_position, only_a_label
from oprag.positions.place import is_unchanged, placed
from oprag.positions.validity import (
    invalid_span,
    refuse_frames,
    refuse_negative,
    refuse_sections,
)

_CHARACTERS = [scheme.start for scheme in SCHEMES if scheme.characters]
"""Keys that say at which character a chunk begins."""

_BY_CHARACTERS = 3
"""Numbers of a position that counts characters: part, start, end."""
_Position: TypeAlias = tuple[float, ...]
_Place: TypeAlias = tuple[_Position | None, Span | None, int | None]


# Of a tuple of all fields, thousands for each query: sooner than by their names.
_AS_CHUNK: Callable[[Iterable[Any]], Chunk] = partial(tuple.__new__, Chunk)
_AS_SPAN: Callable[[Iterable[int]], Span] = partial(tuple.__new__, Span)


class _Places(NamedTuple):
    """Where the chunks of a document stand, each without a position None in all."""

    positions: Sequence[_Position | None]
    spans: Sequence[Span | None]
    parts: Sequence[int | None]


def _nowhere(hits: Sequence[Hit]) -> _Places:
    nothing = [None] * len(hits)
    return _Places(nothing, nothing, nothing)


def read_chunks(
    hits: Sequence[Hit],
    documents: Sequence[tuple[str, str]],
    *,
    position_keys: PositionKeys | None = None,
    problems: dict[str, OpragError] | None = None,
) -> list[Chunk]:
    """Turn hits into chunks that know their place.

    Args:
        hits: Best first; the index becomes the rank.
        documents: Key and name of each hit's document, as `read_documents` gives
            them; as many as hits.
        position_keys: Where the user keeps the position; None for the known
            schemes. A user's key is trusted: it is not searched for sections, and
            says where a chunk begins, not where it ends.
        problems: Collects, by document key, what is raised without it. Chunks without
            a usable position get None then, and the others keep theirs; where the
            positions of a document contradict one another, all get None.

    Returns:
        One chunk per hit, in the same order. A text that is alone in its document
        needs no position: without one it gets None. Where the end is not known, or is
        not as far from the start as the text is long, the span is empty: it says where
        the chunk begins.

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
        places = _all_places(members, indexes, key, position_keys, problems)
        named = [documents[index] for index in indexes]
        for index, chunk in zip(
            indexes, _as_chunks(members, indexes, named, places), strict=True
        ):
            chunks[index] = chunk
    return [chunk for chunk in chunks if chunk is not None]


def _as_chunks(
    hits: Sequence[Hit],
    ranks: Sequence[int],
    documents: Sequence[tuple[str, str]],
    places: _Places,
) -> list[Chunk]:
    fields = zip(
        [hit.text for hit in hits],
        [key for key, _ in documents],
        ranks,
        *places,
        [hit.score for hit in hits],
        repeat(None),
        [name for _, name in documents],
        [hit.metadata for hit in hits],
        [hit.source for hit in hits],
        strict=False,  # what is repeated has no end
    )
    return list(map(_AS_CHUNK, fields))


def read_by_others(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return chunks of one document that other keys order where they stand alone.

    A key counts if every chunk has it, so that what is retrieved decides which does.
    """
    subsets = []
    for scheme in SCHEMES:
        usable = [
            hit
            for hit, value in zip(hits, _raw(hits, scheme.start), strict=True)
            if as_number(value) is not None
        ]
        if 0 < len(usable) < len(hits):
            subsets.append(usable)
    return subsets


def _all_places(hits: Sequence[Hit], ranks: Sequence[int], *how: Any) -> _Places:
    """The places of results as written, if all others have characters too."""
    ours = [HASH in hit.metadata for hit in hits]
    if True not in ours:
        return _places(hits, ranks, *how)
    found: list[_Place | None] = [
        placed(hit.metadata, hit.text) if its else None
        for hit, its in zip(hits, ours, strict=True)
    ]
    if all(place is None or place[0] is not None for place in found):
        others = [number for number, its in enumerate(ours) if not its]
        if others:
            read = _places([hits[n] for n in others], [ranks[n] for n in others], *how)
            for number, place in zip(others, zip(*read, strict=True), strict=True):
                found[number] = place
        lengths = {len(place[0]) for place in found if place and place[0] is not None}
        if lengths <= {_BY_CHARACTERS}:
            return _Places(*map(list, zip(*filter(None, found), strict=True)))
    places = _places(hits, ranks, *how)
    return _Places(
        places.positions,
        [
            span if not its or is_unchanged(hit.metadata, hit.text) else None
            for span, hit, its in zip(places.spans, hits, ours, strict=True)
        ],
        places.parts,
    )


def _places(
    hits: Sequence[Hit],
    ranks: Sequence[int],
    document: str,
    position_keys: PositionKeys | None,
    problems: dict[str, OpragError] | None,
) -> _Places:
    try:
        if position_keys is None:
            places = _known_places(hits, ranks, document)
        else:
            places = _named_places(hits, position_keys)
        if None in places.positions:
            partial, *_ = _partial_places(hits, document, position_keys)
            raise no_position(hits, ranks, partial, document, position_keys)
    except PositionError as error:
        if len({hit.text for hit in hits}) > 1:
            if problems is None:
                raise
            problems.setdefault(document, error)
            if isinstance(error, UnscopedPositionError):
                return _nowhere(hits)
        return _partial_places(hits, document, position_keys)
    return places


def _partial_places(
    hits: Sequence[Hit], document: str, position_keys: PositionKeys | None
) -> _Places:
    """Places of the chunks that have one."""
    if position_keys is not None:
        return _named_places(hits, position_keys)
    for scheme in SCHEMES:
        try:
            places = _read_scheme(hits, scheme, document, lenient=True)
        except PositionError:
            continue
        if places and any(position is not None for position in places.positions):
            return places
    return _parts_alone(hits)


def _known_places(hits: Sequence[Hit], ranks: Sequence[int], document: str) -> _Places:
    for scheme in SCHEMES:
        places = _read_scheme(hits, scheme, document)
        if places and None not in places.positions:
            return places
    places = _parts_alone(hits)
    for rank, hit in zip(ranks, hits, strict=True):
        label = hit.metadata.get("page_label")
        if None in places.positions and label is not None and as_number(label) is None:
            raise only_a_label(document, rank, hit, label)
    return places


def _read_scheme(
    hits: Sequence[Hit], scheme: Scheme, document: str, *, lenient: bool = False
) -> _Places | None:
    """Places by one scheme; None where the chunks do not follow it."""
    values = _raw(hits, scheme.start)
    starts = as_numbers(values)
    if None in starts and (not lenient or not any(s is not None for s in starts)):
        if scheme.characters and not lenient:
            refuse_negative(values, document)
        return None
    parts = _parts(hits, scheme.parts)
    if parts is None:
        return None
    if scheme.start == "start_index":
        refuse_sections(hits, parts, document)
    if not scheme.start:
        refuse_frames(hits, starts, parts, document)
    if None in starts:
        parts = [
            None if start is None else part
            for start, part in zip(starts, parts, strict=True)
        ]
    if not scheme.characters:
        positions = [
            None if start is None else (part or 0, start)
            for start, part in zip(starts, parts, strict=True)
        ]
        return _Places(positions, [None] * len(hits), parts)
    return _places_of_spans(hits, scheme, starts, parts, None if lenient else document)


def _places_of_spans(
    hits: Sequence[Hit],
    scheme: Scheme,
    starts: Sequence[int | None],
    parts: Sequence[int | None],
    document: str | None,
) -> _Places:
    """Places of spans; one that cannot be is an error, if the document is named."""
    values = _ends(hits, scheme)
    begins = [start for start in starts if start is not None]
    lengths = [len(hit.text) for hit in hits]
    if len(begins) == len(hits):
        reach = [*map(add, begins, lengths)]
        if values == reach or (scheme.end is None and {*values} == {None}):
            # Mostly so, and sooner than one by one.
            return _by_spans(parts, begins, reach)
    found = [
        None if start is None else _span_at(start, end, hit, document)
        for hit, start, end in zip(hits, starts, values, strict=True)
    ]
    return _Places(
        [
            None if span is None else (part or 0, *span)
            for span, part in zip(found, parts, strict=True)
        ],
        found,
        parts,
    )


def _by_spans(
    parts: Sequence[int | None], starts: Sequence[int], ends: Sequence[int]
) -> _Places:
    before = [part or 0 for part in parts]
    positions = list(zip(before, starts, ends, strict=True))
    spans = list(map(_AS_SPAN, zip(starts, ends, strict=True)))
    return _Places(positions, spans, parts)


def _raw(hits: Sequence[Hit], key: str) -> list[Any]:
    if not key:
        return [None if hit.offsets is None else hit.offsets[0] for hit in hits]
    if "." in key:
        return [look_up(hit.metadata, None, key) for hit in hits]
    values = [hit.metadata.get(key) for hit in hits]
    # Objects of one class all have the attribute, or none has.
    if key in ATTRIBUTES and hasattr(hits[0].subject, key):
        return [look_up(hit.metadata, hit.subject, key) for hit in hits]
    return values


def _ends(hits: Sequence[Hit], scheme: Scheme) -> list[Any]:
    if not scheme.start:
        return [None if hit.offsets is None else hit.offsets[1] for hit in hits]
    if scheme.end is None:
        return [None] * len(hits)
    return [hit.metadata.get(scheme.end) for hit in hits]


def _span_at(start: int, value: Any, hit: Hit, document: str | None) -> Span | None:
    """The span of the text; empty where the recorded end disagrees with its length."""
    reach = start + len(hit.text)
    end = reach if value is None else as_number(value)
    if end is None or end < start:
        if document is None:
            return None
        raise invalid_span(document, start, value)
    joined = SPANS in hit.metadata  # over gaps, which say where it ends
    return Span(start, end if end == reach or joined else start)


def _parts(hits: Sequence[Hit], keys: tuple[str, ...]) -> list[int | None] | None:
    """Part of every chunk by the first key that all of them have.

    A list of None when no chunk names a part; None when some do and none of the
    keys has a number on every chunk, so that the offsets' scope is unknown.
    """
    named = False
    there = set().union(*[hit.metadata for hit in hits])
    for key in keys:
        if key not in there and key.partition(".")[0] not in there:
            continue
        column = [
            look_up(hit.metadata, None, key) if "." in key else hit.metadata.get(key)
            for hit in hits
        ]
        if all(value is None for value in column):
            continue
        named = True
        numbers = as_numbers(column)
        if None not in numbers:
            return numbers
    return None if named else [None] * len(hits)


def _parts_alone(hits: Sequence[Hit]) -> _Places:
    parts = _parts(hits, PART_KEYS) or [None] * len(hits)
    positions = [None if part is None else (part,) for part in parts]
    return _Places(positions, [None] * len(hits), parts)


def _named_places(hits: Sequence[Hit], position_keys: PositionKeys) -> _Places:
    keys = as_list(position_keys)
    places: list[_Place] = []
    for hit in hits:
        values = [look_up(hit.metadata, hit.subject, key) for key in keys]
        numbers = [number for value in values for number in _user_numbers(value)]
        if any(number is None for number in numbers):
            places.append((None, None, None))
            continue
        position = tuple(number for number in numbers if number is not None)
        places.append(_named_place(position, characters=keys[-1] in _CHARACTERS))
    return _Places(*map(list, zip(*places, strict=True)))


def _named_place(position: _Position, *, characters: bool) -> _Place:
    """Place by the user's keys; a number before the offset is the offset's part.

    With more than one, or a fraction, no single part number tells the scopes apart.
    """
    if not characters:
        return position, None, None
    *scope, start = position
    position, span = (*position, start), Span(int(start), int(start))
    if not scope:
        return position, span, None
    if len(scope) == 1 and float(scope[0]).is_integer():
        return position, span, int(scope[0])
    return position, None, None


def _user_numbers(value: Any) -> list[float | None]:
    """Numbers of a user's value: fractions (seconds of a video) are fine here."""
    if isinstance(value, (tuple, list)):
        return [number for item in value for number in _user_numbers(item)] or [None]
    if isinstance(value, float) and math.isfinite(value) and value >= 0:
        return [value]
    return [as_number(value)]
