"""Numbers of chunks by their links, if nothing else gives their places.

A parser that cuts texts without offsets (HTML, JSON) may link each chunk to the chunks
before and after it. That is an order only as long as no link is missing. Chunks are
counted from the one that has none before it, up to the first two whose links disagree.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from oprag.chunk import Hit
from oprag.positions.keys import PART_KEYS
from oprag.positions.position import NO_PLACE, Position, place_by_link
from oprag.positions.schemes import read_parts, read_written_numbers


def number_by_links(hits: Sequence[Hit]) -> list[int | None]:
    """Number chunks of one text, from 0, by their links to one another.

    Args:
        hits: All known chunks of the text, in any order. Results of oprag have the
            number that was written on them.

    Returns:
        One number per hit; None for a hit that no unbroken links lead to. None for all
        if several chunks have none before them.
    """
    written = read_written_numbers(hits)
    if written is not None:
        return [*written]
    numbers = _follow([hit for hit in hits if hit.links is not None])
    return [None if hit.links is None else numbers.get(hit.id) for hit in hits]


def read_links(hits: Sequence[Hit]) -> list[Position] | None:
    """Read the positions of chunks of a document by links, page by page.

    Returns:
        None unless links give each of them a number.
    """
    parts = read_parts(hits, PART_KEYS)
    if parts is None or not any(hit.links for hit in hits):
        return None
    pages: dict[int | None, list[int]] = {}
    for i, part in enumerate(parts):
        pages.setdefault(part, []).append(i)
    positions = [NO_PLACE] * len(hits)
    for part, members in pages.items():
        numbers = number_by_links([hits[i] for i in members])
        for i, number in zip(members, numbers, strict=True):
            if number is None:
                return None
            positions[i] = place_by_link(number, part)
    return positions


def _follow(hits: Sequence[Hit]) -> dict[Hashable, int]:
    """Return the numbers of the chunks that unbroken links lead to, by their ids."""
    by_id = {hit.id: hit for hit in hits}
    firsts = [each for each, hit in by_id.items() if hit.links and not hit.links[0]]
    numbers: dict[Hashable, int] = {}
    if len(firsts) != 1:
        return numbers
    at = firsts[0]
    while at is not None and at not in numbers:
        numbers[at] = len(numbers)
        following = by_id[at].links[1]  # type: ignore[index]  # each has links
        beside = by_id.get(following)
        if beside is None or beside.links is None or beside.links[0] != at:
            break
        at = following
    return numbers
