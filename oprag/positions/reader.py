"""Read each chunk's place in its document from any metadata.

The chunks of a document are read together, because only together do they show whether
a key orders them: the first scheme of `SCHEMES` that *every* one of them carries is
used, so a document never mixes characters with ordinals. Where none fits all, one that
some carry orders these, and pages the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from numbers import Integral, Real
from typing import Any, TypeAlias

from oprag.chunk import IS_EXACT, Chunk, Hit, Span
from oprag.errors import OpragError, PositionError
from oprag.metadata import EXACT, HASH, PART, PROBLEM, START
from oprag.positions.errors import no_position, unscoped
from oprag.positions.keys import (
    ATTRIBUTES,
    PART_KEYS,
    SCHEMES,
    SECTION_KEYS,
    PositionKeys,
    Scheme,
    as_list,
    as_number,
    is_of_a_parent,
    look_up,
)
from oprag.positions.place import is_unchanged, placed

_CHARACTERS = [scheme.start for scheme in SCHEMES if scheme.characters]
"""Keys that say at which character a chunk begins."""

_Position: TypeAlias = tuple[float, ...]
_Place: TypeAlias = tuple[_Position | None, Span | None, int | None]
"""Position, span and part of a chunk."""
_NOWHERE: _Place = (None, None, None)
_WRITTEN = Scheme(START, None, PART_KEYS, characters=True)
"""The characters of results: they stand for those of every scheme."""
_Row: TypeAlias = tuple[Hit, int, int | None]
"""A hit, where it begins, and its part."""


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
        problems: If given, errors go here by document key and are not raised. Chunks
            without a usable position then get None; where the offsets of a document
            restart, all of its chunks do.

    Returns:
        One chunk per hit, in the same order. A document's only text needs no position:
        without one it gets None. Where the end is unknown, or does not match the length
        of the text, the span is empty and marks the start. Where the offsets count from
        a parent (`is_of_a_parent`), or the text is a window around its sentence,
        they are not `scoped`.

    Raises:
        MissingPositionError: A chunk has no usable position.
        PositionError: The offsets restart in every section or parent.
    """
    groups: dict[str, list[int]] = {}
    for rank, (key, _) in enumerate(documents):
        groups.setdefault(key, []).append(rank)
    places = [_NOWHERE] * len(hits)
    for key, ranks in groups.items():
        members = [hits[rank] for rank in ranks]
        read = _places(key, members, ranks, position_keys, problems)
        for rank, place in zip(ranks, read, strict=True):
            places[rank] = place
    chunks = []
    for rank, (hit, (key, name)) in enumerate(zip(hits, documents, strict=True)):
        metadata = hit.metadata
        # Hundreds per query: positional arguments are faster.
        chunk = Chunk(
            hit.text, key, rank, *places[rank], hit.score, name, metadata, hit.source
        )
        if (is_of_a_parent(hit) and metadata["doc_id"] != name) or _is_window(hit):
            chunk = chunk._replace(scoped=False)
        if HASH in metadata and metadata.get(EXACT, True) not in IS_EXACT:
            chunk = chunk._replace(verbatim=False)
        chunks.append(chunk)
    return chunks


def read_by_others(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return the chunks of each known key that only some chunks have.

    A search that returns only these may be put in order by this key, and the whole
    document by another.
    """
    subsets = []
    for scheme in SCHEMES:
        pairs = zip(hits, _starts(hits, scheme), strict=True)
        usable = [hit for hit, number in pairs if number is not None]
        if 0 < len(usable) < len(hits):
            subsets.append(usable)
    return subsets


def _is_window(hit: Hit) -> bool:
    """Whether a text was put in the place of the sentence that its offsets name."""
    sentence = hit.metadata.get("original_text")
    is_other = isinstance(sentence, str) and sentence not in {"", hit.text}
    return is_other and not is_unchanged(hit.metadata, hit.text)


def _places(
    document: str,
    hits: Sequence[Hit],
    ranks: Sequence[int],
    position_keys: PositionKeys | None,
    problems: dict[str, OpragError] | None,
) -> list[_Place]:
    """Places of one document's chunks; an error is raised or collected."""
    read = partial(_read, document, position_keys=position_keys)
    marked = [*map(_is_marked, hits)]
    if all(hit.text == hits[0].text for hit in hits):  # it needs no place
        return [
            _NOWHERE if skip else read([hit], partly=True)[0]
            for hit, skip in zip(hits, marked, strict=True)
        ]
    try:
        found = iter(
            read([h for h, skip in zip(hits, marked, strict=True) if not skip])
        )
        places = [_NOWHERE if skip else next(found) for skip in marked]
    except PositionError as error:
        problem, places = error, [_NOWHERE] * len(hits)
    else:
        if _NOWHERE not in places:
            return places
        rows = zip(hits, ranks, places, strict=True)
        lacking = [(hit, rank) for hit, rank, place in rows if place == _NOWHERE]
        problem = no_position(lacking, document, position_keys)
    _tell(problem, document, problems)
    return places


def _tell(
    problem: PositionError, document: str, problems: dict[str, OpragError] | None
) -> None:
    if problems is None:
        raise problem
    problems.setdefault(document, problem)


def _read(
    document: str,
    hits: Sequence[Hit],
    position_keys: PositionKeys | None,
    *,
    partly: bool = False,
) -> list[_Place]:
    """Places by one scheme; else by pages if each hit has another; else by both."""
    if (places := _by_scheme(document, hits, _WRITTEN, partly=False)) is not None:
        return places
    if position_keys is not None:
        return [_named_place(hit, as_list(position_keys)) for hit in hits]
    for scheme in (*SCHEMES, _WRITTEN) if partly else SCHEMES:
        try:
            places = _by_scheme(document, hits, scheme, partly=partly)
        except PositionError:
            if not partly:
                raise
            continue
        if places is not None:
            return places
    parts = _parts(hits, PART_KEYS) or [None] * len(hits)
    pages = [_NOWHERE if part is None else ((part,), None, part) for part in parts]
    some = pages if partly else _read(document, hits, None, partly=True)
    return pages if _NOWHERE in some and len({*parts}) == len(hits) else some


def _by_scheme(
    document: str, hits: Sequence[Hit], scheme: Scheme, *, partly: bool
) -> list[_Place] | None:
    """Places by one scheme; None unless all chunks (`partly`: any) follow it."""
    if scheme == _WRITTEN and all(map(_is_placed, hits)):
        return [placed(hit.metadata, hit.text) for hit in hits]
    if not partly and _starts(hits[:1], scheme) == [None]:
        return None
    numbers = _starts(hits, scheme)
    starts = [number for number in numbers if number is not None]
    if len(starts) < len(hits):
        return _some_by_scheme(document, hits, numbers, scheme) if partly else None
    parts = _parts(hits, scheme.parts)
    if parts is None:
        if scheme.start or any(hit.document != document for hit in hits):
            return None
        parts = [None] * len(hits)  # offsets in the one text that all are of
    rows = [*zip(hits, starts, parts, strict=True)]
    retrieved = [row for row in rows if not _is_placed(row[0])]
    if scheme.start == "start_index":
        _refuse_sections(document, retrieved)
    if not scheme.start:
        _refuse_frames(document, retrieved)
    return [_place(hit, scheme, start, part) for hit, start, part in rows]


def _some_by_scheme(
    document: str, hits: Sequence[Hit], starts: Sequence[int | None], scheme: Scheme
) -> list[_Place] | None:
    """Places of the chunks that follow the scheme; of others, their pages.

    A table without offsets is at the beginning of its page, if no other chunk without
    them is there, nor one with them that was cut out of the same text.
    """
    there = [hit for hit, start in zip(hits, starts, strict=True) if start is not None]
    if scheme != _WRITTEN and all(map(_is_placed, there)):
        return None
    read = _by_scheme(document, there, scheme, partly=False)
    if not read:
        return None
    parts = _parts(hits, scheme.parts) or [None] * len(hits)
    rows = [*zip(parts, hits, starts, strict=True)]
    cut_up = {(part, hit.document) for part, hit, start in rows if start is not None}
    same_key = {part for part, _ in cut_up} == {part for _, _, part in read}
    others = {(part, hit.text) for part, hit, start in rows if start is None}
    number = Counter(part for part, _ in others)
    places, following = list[_Place](), iter(read)
    for part, hit, start in rows:
        alone = number[part] == 1 and (part, hit.document) not in cut_up
        if start is not None:
            places.append(next(following))
        elif part is not None and same_key and alone:
            places.append(((part,), None, part))
        else:
            places.append(_NOWHERE)
    return places


def _place(hit: Hit, scheme: Scheme, start: int, part: int | None) -> _Place:
    """The place of a text; no end where the recorded one disagrees with its length."""
    if scheme.characters and _is_placed(hit):
        return placed(hit.metadata, hit.text)
    if not scheme.characters:
        return (part or 0, start), None, part
    end = start + len(hit.text)
    written: Any = None
    if scheme.end is not None:
        written = hit.metadata.get(scheme.end)
    elif not scheme.start and hit.offsets is not None:
        written = hit.offsets[1]
    if written is not None and written != end and as_number(written) != end:
        end = start
    return (part or 0, start, end), Span(start, end), part


def _column(hits: Sequence[Hit], key: str) -> list[Any]:
    """Each hit's value for a key; key "" is the framework's own start."""
    if not key:
        return [hit.offsets and hit.offsets[0] for hit in hits]
    if key in ATTRIBUTES or "." in key:
        return [look_up(hit.metadata, hit.subject, key) for hit in hits]
    return [hit.metadata.get(key) for hit in hits]


def _present(hits: Sequence[Hit], keys: Sequence[str]) -> list[str]:
    """The keys that may be on any of the hits."""
    there = set().union(*[hit.metadata for hit in hits])
    return [key for key in keys if key in there or key.partition(".")[0] in there]


def _starts(hits: Sequence[Hit], scheme: Scheme) -> list[int | None]:
    """Each hit's number by a scheme.

    A result of oprag has the characters that oprag wrote, whatever the key; and none
    by any key where oprag wrote none: it saw more of the document then.
    """
    numbers = [*map(as_number, _column(hits, scheme.start))]
    if scheme.characters:
        for i, hit in enumerate(hits):
            if HASH in hit.metadata:
                numbers[i] = as_number(hit.metadata.get(START))
    return numbers


def _is_placed(hit: Hit) -> bool:
    """Whether it is a result, and oprag wrote at which character it begins."""
    return HASH in hit.metadata and as_number(hit.metadata.get(START)) is not None


def _is_marked(hit: Hit) -> bool:
    """Whether it is a result that oprag said has no place."""
    return HASH in hit.metadata and PROBLEM in hit.metadata and not _is_placed(hit)


def _parts(hits: Sequence[Hit], keys: Sequence[str]) -> Sequence[int | None] | None:
    """Part of every chunk by the first key that all of them have.

    A list of None when no chunk names a part; None when some do and none of the
    keys has a number on every chunk, so that the offsets' scope is unknown.
    """
    named = False
    for key in _present(hits, keys):
        values = [
            hit.metadata.get(PART) if _is_placed(hit) else value
            for hit, value in zip(hits, _column(hits, key), strict=True)
        ]
        named = named or any(value is not None for value in values)
        numbers = [*map(as_number, values)]
        if None not in numbers:
            return numbers
    return None if named else [None] * len(hits)


def _refuse_sections(document: str, rows: Sequence[_Row]) -> None:
    """Refuse `start_index` when the chunks come from several sections.

    LangChain copies the metadata of the text that was split into every chunk, so
    chunks whose section differs were split from different texts, and their
    offsets count from the start of each. The same holds for chunks of several
    parents (`doc_id`) of the document, or of one page.
    """
    hits, parts = [hit for hit, *_ in rows], [part for *_, part in rows]
    differing = [
        key
        for key in _present(hits, SECTION_KEYS)
        if len({*map(_comparable, _column(hits, key))}) > 1
    ]
    ids = map(_comparable, _column(hits, "doc_id"))
    parents = {*zip(parts, ids, strict=True)}
    if len(parents) > len({*parts}):
        differing.append("doc_id")
    if differing:
        origin = "a parent" if differing == ["doc_id"] else "a section"
        origin += f" (the chunks differ in {', '.join(differing)})"
        raise unscoped(document, "start_index", origin, tuple(differing))


def _comparable(value: Any) -> int | str:
    """Return the same for values that some stores make of one another: 2 and 2.0."""
    number = as_number(value)
    return repr(value) if number is None else number


def _refuse_frames(document: str, rows: Sequence[_Row]) -> None:
    """Refuse framework offsets that do not count from the document or its part.

    Each part is a text of its own, with its own last chunk.
    """
    groups: dict[int | None, list[tuple[Hit, int]]] = {}
    for hit, start, part in rows:
        groups.setdefault(part, []).append((hit, start))
    for part, members in groups.items():
        if part is None and len({hit.document for hit, _ in members}) > 1:
            origin = "one of several framework documents that have no number"
        elif _has_wrong_frame(members):
            origin = "a parent or an intermediate text"
        else:
            continue
        raise unscoped(document, "start_char_idx", origin, ("start_char_idx",))


def _has_wrong_frame(members: Sequence[tuple[Hit, int]]) -> bool:
    """Whether the chunks cannot all come from one split of one text.

    One split leaves one "last" chunk, the furthest, and no "only" chunk beside it.
    Chained parsers leave one "only" chunk and many "last" ones.
    """
    frames = [hit.frame for hit, _ in members]
    if "parent" in frames or "last" not in frames:
        return "parent" in frames
    last = {start for hit, start in members if hit.frame == "last"}
    furthest = max(start for _, start in members)
    return "only" in frames or last != {furthest}


def _named_place(hit: Hit, keys: Sequence[Any]) -> _Place:
    """Place by the user's keys; a number before the offset is the offset's part.

    With several such numbers, or a fraction, there is no single part number.
    """
    if keys[-1] in _CHARACTERS and _is_placed(hit):
        return placed(hit.metadata, hit.text)
    values = [look_up(hit.metadata, hit.subject, key) for key in keys]
    numbers = [number for value in values for number in _user_numbers(value)]
    position = tuple(number for number in numbers if number is not None)
    if len(position) < len(numbers):
        return _NOWHERE
    *scope, start = position
    fraction = any(number % 1 for number in position)
    if keys[-1] not in _CHARACTERS or len(scope) > 1 or fraction:
        return position, None, None
    span = Span(int(start), int(start))
    return (*position, start), span, int(scope[0]) if scope else None


def _user_numbers(value: Any) -> list[float | None]:
    """Numbers of a user's value: fractions (seconds of a video) are fine here."""
    if isinstance(value, (tuple, list)):
        return [number for item in value for number in _user_numbers(item)] or [None]
    number = as_number(value)
    real = isinstance(value, (Real, Decimal)) and not isinstance(value, Integral)
    if number is None and real and 0 <= float(value) < math.inf:  # NumPy's, too
        return [float(value)]
    return [number]
