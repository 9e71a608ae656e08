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
from oprag.positions.identity import FRAMEWORK_IDS, NO_NAME
from oprag.positions.keys import SECTION_KEYS

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


def are_comparable(origins: Sequence[Origin]) -> bool:
    """Return whether positions that count from these texts may be compared.

    They may if all count from one text; or if each text has a number, and each number
    one text. A single position needs no comparison.
    """
    distinct = {*origins}
    if len(origins) < 2:  # noqa: PLR2004 -- nothing to compare with
        return True
    if not all(origin.is_known for origin in distinct):
        return False
    numbers = {origin.number for origin in distinct}
    return len(numbers) == len(distinct) and (len(distinct) == 1 or None not in numbers)


def find_sections(
    hits: Sequence[Hit], starts: Sequence[int], parts: Sequence[int | None]
) -> list[Origin]:
    """Return the origins of offsets that a splitter counted in the text it was given.

    It copies the metadata of that text to each chunk. So chunks of another section or
    another framework document were cut out of another text.

    Args:
        hits: Chunks of one document.
        starts: The start of each; as many.
        parts: Page, row or part of each; as many.
    """
    present = set().union(*(hit.metadata for hit in hits))
    keys = [key for key in SECTION_KEYS if key in present]
    sections = [
        tuple(_comparable(hit.metadata.get(key)) for key in keys) for hit in hits
    ]
    texts = find_texts(hits, starts, parts)
    rows = zip(parts, sections, texts, strict=True)
    return [Origin(part, (section, text)) for part, section, text in rows]


def find_texts(
    hits: Sequence[Hit],
    starts: Sequence[int],
    parts: Sequence[int | None],
    *,
    characters: bool = True,
) -> list[Hashable]:
    """Return keys that tell apart the framework documents that chunks were cut out of.

    Framework documents that have the same characters at one place are one text that was
    indexed twice, or in two sizes.

    Args:
        hits: Chunks of one document.
        starts: The start of each; as many.
        parts: Page, row or part of each; as many.
        characters: Whether the starts count characters, so that chunks may overlap.
    """
    ids = [_read_ids(hit) for hit in hits]
    if len({*ids}) < 2:  # noqa: PLR2004 -- one text
        return [() for _ in hits]
    same: dict[Hashable, Hashable] = {}
    furthest: dict[int | None, int] = {}
    for i in sorted(range(len(hits)), key=starts.__getitem__):
        before = furthest.setdefault(parts[i], i)
        offset = starts[i] - starts[before]
        if before != i and (characters or offset == 0):
            one, two = hits[before].text[offset:], hits[i].text
            shared = min(len(one), len(two))
            if shared >= _SAME_TEXT and one[:shared] == two[:shared]:
                _join(same, ids[before], ids[i])
        if starts[i] + len(hits[i].text) > starts[before] + len(hits[before].text):
            furthest[parts[i]] = i
    return [_find_root(same, own) for own in ids]


def _join(same: dict[Hashable, Hashable], one: Hashable, other: Hashable) -> None:
    """Note that two framework documents are one text."""
    first, second = _find_root(same, one), _find_root(same, other)
    if first != second:
        same[second] = first


def find_differing_keys(hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the keys of sections and framework documents in which chunks differ."""
    differing = []
    for key in (*SECTION_KEYS, *FRAMEWORK_IDS):
        values = {_comparable(hit.metadata.get(key)) for hit in hits}
        if len(values) > 1:
            differing.append(key)
    return tuple(differing)


def has_wrong_frame(frames: Iterable[tuple[str, int]]) -> bool:
    """Return whether chunks cannot all come from one split of one text.

    One split leaves one "last" chunk, the furthest, and no "only" chunk beside it.
    Chained parsers leave one "only" chunk and many "last" ones.

    Args:
        frames: The frame (`Hit.frame`) and the start of each chunk.
    """
    starts: dict[str, set[int]] = {}
    for frame, start in frames:
        starts.setdefault(frame, set()).add(start)
    if "parent" in starts or "last" not in starts:
        return "parent" in starts
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
