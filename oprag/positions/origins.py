"""The texts that positions count from. Positions are compared only within one of them.

A splitter counts characters in the text that it was handed: a whole document, one of
its pages, a section, a parent. Pages have numbers, which give their order. Sections and
parents have none.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from oprag.chunk import Hit
from oprag.metadata import as_number
from oprag.positions.errors import report_unscoped
from oprag.positions.identity import FRAMEWORK_IDS, NO_NAME
from oprag.positions.keys import SECTION_KEYS
from oprag.positions.schemes import Reading, Scheme
from oprag.result_key import read_written

_SAME_TEXT = 40
"""So many equal characters at one place are not by chance: it is one text."""


class Origin(NamedTuple):
    """The text that the position of a chunk counts from."""

    number: int | None
    """Its page, row or part: a number that orders it. None for none."""
    text: Hashable = ()
    """Tells apart texts that have no number, or the same number."""
    is_known: bool = True
    """False if it is another text than the document: a parent of the node."""


def check_origins(
    origins: Sequence[Origin], hits: Sequence[Hit], start_key: str, document_key: str
) -> None:
    """Make sure that positions that count from these texts may be compared.

    Args:
        origins: The text that the position of each hit counts from.
        hits: As many; all of one document.
        start_key: The metadata key of the positions.
        document_key: The key of the document.

    Raises:
        PositionError: They may not be compared.
    """
    if _are_comparable(origins):
        return
    keys = _find_differing_keys(hits)
    if not all(origin.is_known for origin in origins):
        text = "a parent or an intermediate text"
    elif {origin.number is None for origin in origins} == {True, False}:
        text = "the document on some chunks, and of its pages on others"
    else:
        differing = ", ".join(keys) or "their framework documents"
        text = f"one of several texts (the chunks differ in {differing})"
    raise report_unscoped(document_key, start_key, text, keys or (start_key,))


def _are_comparable(origins: Sequence[Origin]) -> bool:
    """Return whether all are one text, or each has a number that no other text has."""
    if len(origins) <= 1:  # a single position needs no comparison
        return True
    distinct = {*origins}
    if not all(origin.is_known for origin in distinct):
        return False
    numbers = {origin.number for origin in distinct}
    is_each_numbered = None not in numbers and len(numbers) == len(distinct)
    return len(distinct) == 1 or is_each_numbered


def find_origins(
    readings: Sequence[Reading], scheme: Scheme, document_key: str
) -> list[Origin]:
    """Return the text that the place of each hit counts from.

    Args:
        readings: Of hits of one document, by `read_scheme`.
        scheme: The one that they were read by.
        document_key: The key of the document.
    """
    if scheme.start == "start_index":
        return _find_sections(readings)
    if scheme.is_framework_offsets:
        return _find_sources(readings)
    # Numbers of chunks whose framework document is this one count in it.
    if scheme.characters or any(r.hit.document == document_key for r in readings):
        of_part = {part: Origin(part) for part in {each.part for each in readings}}
        return [of_part[each.part] for each in readings]
    # Others of one name may be of several texts, each counted from 0.
    rows = zip(readings, _find_texts(readings), strict=True)
    return [Origin(reading.part, text) for reading, text in rows]


def _find_sections(readings: Sequence[Reading]) -> list[Origin]:
    """Return the origins of `start_index`.

    LangChain's splitters count it in the text that they were given: if a document was
    cut into sections first, from 0 in each of them. They copy the metadata of that text
    to each chunk. So chunks of another section or another framework document were cut
    out of another text.
    """
    present = set().union(*(each.hit.metadata for each in readings))
    keys = [key for key in SECTION_KEYS if key in present]
    origins = []
    for reading, text in zip(readings, _find_texts(readings), strict=True):
        metadata = reading.hit.metadata
        section = tuple(_comparable(metadata.get(key)) for key in keys)
        origins.append(Origin(reading.part, (section, text)))
    return origins


def _find_sources(readings: Sequence[Reading]) -> list[Origin]:
    """Return the origins of LlamaIndex's offsets, which count from the node's source.

    That may be a parent (`_count_from_parents`). A result whose characters are not the
    node's offsets was placed in its part.
    """
    of_part: dict[int | None, list[Reading]] = {}
    for reading in readings:
        written = read_written(reading.hit.metadata)
        if written is None or not written.has_characters:
            of_part.setdefault(reading.part, []).append(reading)
    unknown = {part for part, each in of_part.items() if _count_from_parents(each)}
    origins = []
    for reading, text in zip(readings, _find_texts(readings), strict=True):
        is_known = reading.part not in unknown or _has_other_characters(reading)
        origins.append(Origin(reading.part, text, is_known))
    return origins


def _has_other_characters(reading: Reading) -> bool:
    """Return whether a hit is a result with other characters than its node's."""
    written = read_written(reading.hit.metadata)
    if written is None or not written.has_characters:
        return False
    offsets = reading.hit.offsets
    return offsets is None or as_number(offsets[0]) != reading.start


def _find_texts(readings: Sequence[Reading]) -> list[Hashable]:
    """Return keys that tell apart the framework documents that hits were cut out of.

    Framework documents that have the same characters at one place are one text that was
    indexed twice, or in two sizes.
    """
    ids = [_read_ids(each.hit) for each in readings]
    if len({*ids}) < 2:  # noqa: PLR2004 -- one text
        return [() for _ in readings]
    same: dict[Hashable, Hashable] = {}
    furthest: dict[int | None, int] = {}
    for i in sorted(range(len(readings)), key=lambda i: readings[i].start):
        reading = readings[i]
        before = furthest.setdefault(reading.part, i)
        if before != i and _share_text(readings[before], reading):
            _join(same, ids[before], ids[i])
        if _end_of(reading) > _end_of(readings[before]):
            furthest[reading.part] = i
    return [_find_root(same, own) for own in ids]


def _share_text(first: Reading, second: Reading) -> bool:
    """Return whether two hits have the same characters where both are.

    Args:
        first: One that does not begin behind the other.
        second: Of the same part.
    """
    if second.start != first.start and not first.scheme.characters:
        return False  # counted chunks do not overlap
    offset = int(second.start - first.start)
    one, two = first.hit.text[offset:], second.hit.text
    shared = min(len(one), len(two))
    return shared >= _SAME_TEXT and one[:shared] == two[:shared]


def _end_of(reading: Reading) -> float:
    return reading.start + len(reading.hit.text)


def _join(same: dict[Hashable, Hashable], one: Hashable, other: Hashable) -> None:
    """Note that two framework documents are one text."""
    first, second = _find_root(same, one), _find_root(same, other)
    if first != second:
        same[second] = first


def _find_differing_keys(hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the keys of sections and framework documents in which chunks differ."""
    differing = []
    for key in (*SECTION_KEYS, *FRAMEWORK_IDS):
        values = {_comparable(hit.metadata.get(key)) for hit in hits}
        if len(values) > 1:
            differing.append(key)
    return tuple(differing)


def _count_from_parents(readings: Iterable[Reading]) -> bool:
    """Return whether offsets cannot all come from one split of one text.

    The frame of a node (`Hit.frame`) is the text that its offsets count from: the
    document, a parent, or unknown. One split leaves one "last" chunk, the furthest, and
    no "only" chunk beside it. Chained parsers leave one "only" chunk and many "last"
    ones.
    """
    starts: dict[str, set[float]] = {}
    for reading in readings:
        starts.setdefault(reading.hit.frame, set()).add(reading.start)
    if "parent" in starts:
        return True
    if "last" not in starts:
        return False
    furthest = max(max(each) for each in starts.values())
    return "only" in starts or starts["last"] != {furthest}


def _read_ids(hit: Hit) -> Hashable:
    """Return the ids of the framework document that a chunk was cut out of."""
    ids = [hit.document, *(hit.metadata.get(key) for key in FRAMEWORK_IDS)]
    names = [str(each) for each in ids if isinstance(each, (str, int))]
    return tuple(name for name in names if name not in NO_NAME)


def _find_root(same: Mapping[Hashable, Hashable], own: Hashable) -> Hashable:
    while own in same:
        own = same[own]
    return own


def _comparable(value: Any) -> int | str:
    """Return one value for values that some stores turn into each other: 2 and 2.0."""
    number = as_number(value)
    return repr(value) if number is None else number
