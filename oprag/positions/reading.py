"""Read the place of each chunk in its document out of any metadata.

The chunks of a document are read together, because only together they show whether a
key orders them: the first scheme of `SCHEMES` that *every* one of them carries is used,
so a document never mixes characters with ordinals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from oprag.chunk import Chunk, Hit, Span
from oprag.errors import OpragError, PositionError
from oprag.metadata import HASH, SPANS
from oprag.positions.errors import invalid_span, no_position, unscoped
from oprag.positions.keys import (
    ATTRIBUTES,
    HIGHEST,
    PART_KEYS,
    SCHEMES,
    SECTION_KEYS,
    PositionKeys,
    Scheme,
    as_list,
    as_number,
    look_up,
)
from oprag.positions.place import is_unchanged, placed

_CHARACTERS = [scheme.start for scheme in SCHEMES if scheme.characters]
"""Keys that say at which character a chunk begins."""
_BY_CHARACTERS = 3
"""Numbers of a position that counts characters: part, start, end."""

_Position: TypeAlias = tuple[float, ...]
_Place: TypeAlias = tuple[_Position | None, Span | None, int | None]
"""Position, span and part of a chunk."""
_NOWHERE: _Place = (None, None, None)


class _Document:
    """The hits of one document.

    Args:
        key: Key of the document.
        hits: Best first.
        ranks: Of each.
    """

    def __init__(self, key: str, hits: Sequence[Hit], ranks: Sequence[int]) -> None:
        self.key, self.hits, self.ranks = key, hits, ranks
        self._there = set().union(*[hit.metadata for hit in hits])

    def values(self, key: str) -> Sequence[Any]:
        """The value of a key on each hit; "" for the framework's own offsets."""
        if not key:
            return [h.offsets if h.offsets is None else h.offsets[0] for h in self.hits]
        if key in ATTRIBUTES or "." in key:
            return [look_up(hit.metadata, hit.subject, key) for hit in self.hits]
        if key not in self._there:
            return [None] * len(self.hits)
        return [hit.metadata.get(key) for hit in self.hits]

    def parts(self, keys: Sequence[str]) -> Sequence[int | None] | None:
        """Part of every chunk by the first key that all of them have.

        A list of None when no chunk names a part; None when some do and none of the
        keys has a number on every chunk, so that the offsets' scope is unknown.
        """
        named = False
        for key in keys:
            if self._there.isdisjoint((key, key.partition(".")[0])):
                continue
            values = self.values(key)
            named = named or any(value is not None for value in values)
            numbers = [*map(as_number, values)]
            if None not in numbers:
                return numbers
        return None if named else [None] * len(self.hits)


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
        PositionError: The offsets restart in every section or parent.
        PositionError: A span is negative or reversed.
    """
    groups: dict[str, list[int]] = {}
    for index, (key, _) in enumerate(documents):
        groups.setdefault(key, []).append(index)
    found: dict[int, _Place] = {}
    for key, ranks in groups.items():
        document = _Document(key, [hits[rank] for rank in ranks], ranks)
        places = _with_results(document, position_keys, problems)
        found.update(zip(ranks, places, strict=True))
    named = enumerate(zip(hits, documents, strict=True))
    return [
        # Hundreds for each query: by place, which is sooner than by name.
        Chunk(h.text, key, r, *found[r], h.score, None, name, h.metadata, h.source)
        for r, (h, (key, name)) in named
    ]


def read_by_others(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return chunks of one document that other keys order where they stand alone.

    A key counts if every chunk has it, so that what is retrieved decides which does.
    """
    subsets = []
    document = _Document("", hits, range(len(hits)))
    for scheme in SCHEMES:
        pairs = zip(hits, map(as_number, document.values(scheme.start)), strict=True)
        usable = [hit for hit, number in pairs if number is not None]
        if 0 < len(usable) < len(hits):
            subsets.append(usable)
    return subsets


def _with_results(document: _Document, *how: Any) -> list[_Place]:
    """Keep the places written on results, if all others have characters too."""
    hits = document.hits
    ours = [HASH in hit.metadata for hit in hits]
    if True not in ours:
        return _places(document, *how)
    written = [
        placed(hit.metadata, hit.text)
        for hit, its in zip(hits, ours, strict=True)
        if its
    ]
    if all(position is not None for position, _, _ in written):
        others = [number for number, its in enumerate(ours) if not its]
        read: list[_Place] = []
        if others:
            beside, ranks = zip(
                *[(hits[n], document.ranks[n]) for n in others], strict=True
            )
            read = _places(_Document(document.key, beside, ranks), *how)
        lengths = {len(position) for position, _, _ in (*written, *read) if position}
        if lengths <= {_BY_CHARACTERS}:
            of_results, of_others = iter(written), iter(read)
            return [next(of_results if its else of_others) for its in ours]
    return [
        (position, span if is_unchanged(hit.metadata, hit.text) else None, part)
        if its
        else (position, span, part)
        for (position, span, part), hit, its in zip(
            _places(document, *how), hits, ours, strict=True
        )
    ]


def _places(
    document: _Document,
    position_keys: PositionKeys | None,
    problems: dict[str, OpragError] | None,
) -> list[_Place]:
    try:
        if position_keys is None:
            places = _known_places(document)
        else:
            places = _named_places(document.hits, position_keys)
        if _NOWHERE in places:
            partial = _partial_places(document, position_keys)
            rows = zip(document.hits, document.ranks, partial, strict=True)
            lacking = [(hit, rank) for hit, rank, place in rows if place is _NOWHERE]
            raise no_position(lacking, document.key, position_keys)
    except PositionError as error:
        if len({hit.text for hit in document.hits}) > 1:
            if problems is None:
                raise
            problems.setdefault(document.key, error)
            if error.kind == "unscoped_position":
                return [_NOWHERE] * len(document.hits)
        return _partial_places(document, position_keys)
    return places


def _partial_places(
    document: _Document, position_keys: PositionKeys | None
) -> list[_Place]:
    """Places of the chunks that have one."""
    if position_keys is not None:
        return _named_places(document.hits, position_keys)
    for scheme in SCHEMES:
        try:
            places = _by_scheme(document, scheme, partly=True)
        except PositionError:
            continue
        if places and any(place is not _NOWHERE for place in places):
            return places
    return _by_part(document)


def _known_places(document: _Document) -> list[_Place]:
    for scheme in SCHEMES:
        places = _by_scheme(document, scheme)
        if places is not None:
            return places
    return _by_part(document)


def _by_part(document: _Document) -> list[_Place]:
    parts = document.parts(PART_KEYS) or [None] * len(document.hits)
    return [_NOWHERE if part is None else ((part,), None, part) for part in parts]


def _by_scheme(
    document: _Document, scheme: Scheme, *, partly: bool = False
) -> list[_Place] | None:
    """Places by one scheme; None where not all chunks, or `partly` none, follow it."""
    values = document.values(scheme.start)
    starts = [*map(as_number, values)]
    lacking = starts.count(None)
    if lacking == len(starts) or (lacking and not partly):
        if scheme.characters and not partly:
            _refuse_negative(values, document.key)
        return None
    parts = document.parts(scheme.parts)
    if parts is None:
        return None
    if scheme.start == "start_index":
        _refuse_sections(document, parts)
    if not scheme.start:
        _refuse_frames(document, starts, parts)
    name = None if partly else document.key
    return [
        _NOWHERE if start is None else _place(hit, scheme, start, part, name)
        for hit, start, part in zip(document.hits, starts, parts, strict=True)
    ]


def _place(
    hit: Hit, scheme: Scheme, start: int, part: int | None, document: str | None
) -> _Place:
    """The place of a text; an end that cannot be one is an error of a `document`."""
    if not scheme.characters:
        return (part or 0, start), None, part
    end = _end(hit, scheme, start)
    if end is not None:
        return (part or 0, start, end), Span(start, end), part
    if document is None:
        return _NOWHERE
    raise invalid_span(document, start, _written_end(hit, scheme))


def _end(hit: Hit, scheme: Scheme, start: int) -> int | None:
    """The end of a text; its start where the recorded end disagrees with its length.

    None where the recorded end cannot be one.
    """
    reach = start + len(hit.text)
    written = _written_end(hit, scheme)
    end = reach if written is None else as_number(written)
    if end is None or end < start:
        return None
    # A text that was joined over gaps is shorter than its span.
    return end if end == reach or SPANS in hit.metadata else start


def _written_end(hit: Hit, scheme: Scheme) -> Any:
    if not scheme.start:
        return None if hit.offsets is None else hit.offsets[1]
    return None if scheme.end is None else hit.metadata.get(scheme.end)


def _refuse_negative(values: Sequence[Any], document: str) -> None:
    """Refuse a negative start; -1 alone means "not found" and is missing.

    So is what no column of 64 bits holds, such as minus infinity.
    """
    for value in values:
        if type(value) in (int, float) and -HIGHEST <= value < 0 and value != -1:
            raise invalid_span(document, int(value), None)


def _refuse_sections(document: _Document, parts: Sequence[int | None]) -> None:
    """Refuse `start_index` when the chunks come from several sections.

    LangChain copies the metadata of the text that was split into every chunk, so
    chunks whose section differs were split from different texts, and their
    offsets count from the start of each. So were chunks of several parents
    (`doc_id`), unless these are pages.
    """
    keys = SECTION_KEYS if parts[0] is not None else (*SECTION_KEYS, "doc_id")
    columns = {key: document.values(key) for key in keys}
    differing = [
        key
        for key, values in columns.items()
        if any(value != values[0] for value in values)
    ]
    if differing:
        origin = f"a section (the chunks differ in {', '.join(differing)})"
        raise unscoped(document.key, "start_index", origin, tuple(differing))


def _refuse_frames(
    document: _Document, starts: Sequence[int | None], parts: Sequence[int | None]
) -> None:
    """Refuse framework offsets that are relative to something else.

    Each part is a text of its own, with its own last chunk.
    """
    groups: dict[int | None, list[tuple[Hit, int | None]]] = {}
    for hit, start, part in zip(document.hits, starts, parts, strict=True):
        groups.setdefault(part, []).append((hit, start))
    for part, members in groups.items():
        if part is None and len({hit.document for hit, _ in members}) > 1:
            origin = "one of several framework documents, which nothing numbers"
        elif _has_wrong_frame(members):
            origin = "a parent or an intermediate text"
        else:
            continue
        raise unscoped(document.key, "start_char_idx", origin, ("start_char_idx",))


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


def _named_places(hits: Sequence[Hit], position_keys: PositionKeys) -> list[_Place]:
    keys = as_list(position_keys)
    places: list[_Place] = []
    for hit in hits:
        values = [look_up(hit.metadata, hit.subject, key) for key in keys]
        numbers = [number for value in values for number in _user_numbers(value)]
        position = tuple(number for number in numbers if number is not None)
        if len(position) < len(numbers):
            places.append(_NOWHERE)
        else:
            places.append(_named_place(position, characters=keys[-1] in _CHARACTERS))
    return places


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
