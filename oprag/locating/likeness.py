"""Chunks that are the same but for white space, so that this alone tells them apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oprag.locating.chunks_in_order import Location
from oprag.locating.squeezing import squeeze

_SOLID = re.compile(r"\S")
_LINE_END = re.compile(r"[^\S\n]+\n")


def exchangeable(
    source: str, texts: Sequence[str], found: Sequence[Location]
) -> list[int]:
    """Return the numbers of the chunks that may stand where another one was found.

    Places are found without regard to white space. So chunks that differ in nothing
    else are compared with all places of their kind: a splitter drops white space, or
    makes one space of it, and adds none but at the end of a line. They are in doubt
    where some of them could change places. White space around a chunk does not count,
    nor do chunks whose texts are equal: it makes no difference which is which.
    """
    alike: dict[str, dict[str, list[int]]] = {}
    for i, text in enumerate(texts):
        alike.setdefault(squeeze(text), {}).setdefault(text.strip(), []).append(i)
    doubtful: list[int] = []
    for bodies in alike.values():
        if len(bodies) > 1:
            places = {
                body: {source[slice(*(found[i].span or (0, 0)))] for i in numbers}
                for body, numbers in bodies.items()
            }
            for body in _in_a_ring(places):
                doubtful += bodies[body]
    return sorted(doubtful)


def _in_a_ring(places: dict[str, set[str]]) -> set[str]:
    """The texts of which each fits in a place of another one of them."""
    fitting: dict[str, set[str]] = {}
    for body, own in places.items():
        here = all(_fits(body, place) for place in own)
        fitting[body] = {
            other
            for other, theirs in places.items()
            if other != body
            and (not here or any(_fits(body, place) for place in theirs))
        }
    ring = set(places)
    while fixed := {body for body in ring if not fitting[body] & ring}:
        ring -= fixed
    return ring


def _fits(body: str, place: str) -> bool:
    """Whether a splitter can have made a text of what stands at a place."""
    gaps, there = (
        _SOLID.split(_LINE_END.sub("\n", text)) for text in (body, place.strip())
    )
    return len(gaps) == len(there) and all(map(_is_left_of, gaps, there))


def _is_left_of(gap: str, there: str) -> bool:
    rest = iter(there)
    return (gap == " " and bool(there)) or all(space in rest for space in gap)
