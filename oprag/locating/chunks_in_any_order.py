"""Places of the chunks of one document in its source, as they lie in a store.

A store keeps no order that can be relied upon, and may lack chunks. So a place is
taken for proved only if

- the chunks, in the order that is recorded or in the only one that they fit in, cover
  the whole source without a gap, so that all are there and
  `oprag.locating.chunks_in_order` proves the places by contiguity; or
- the text occurs once in the source, whatever the order; or
- the order is recorded (a chunk number) and leaves one place.

Two things cannot be seen. The first is which of two chunks with equal texts is which,
if the store has lost their order (it makes no difference to the text). The second is
that a chunk is missing, if the others cover the source without it, as overlapping
chunks may in a text that repeats every few words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oprag.chunk import Span
from oprag.locating.chunks_in_order import Location, locate
from oprag.locating.proved_order import given_order
from oprag.locating.seeds import spacing_for
from oprag.locating.squeezed_text import squeeze
from oprag.locating.text_index import TextIndex


class Order(NamedTuple):
    """One order in which the chunks may have been made."""

    indexes: Sequence[int]
    """Numbers of the chunks, a permutation."""
    recorded: bool
    """Whether the index records this order, and it is not just that of the store."""
    whole: bool = False
    """Whether the index also says that these are all."""


class Placement(NamedTuple):
    """The places of the chunks of one document."""

    locations: list[Location]
    """One per chunk."""
    order: list[int] | None
    """Numbers of all chunks in reading order if they cover the source without a gap;
    else None."""


def place(source: str, texts: Sequence[str], orders: Sequence[Order]) -> Placement:
    """Find the true places of the chunks."""
    for order in orders:
        ordered = [texts[i] for i in order.indexes]
        if not order.recorded:  # do they fit in no other, but for white space?
            only, _ = given_order(source, ordered)
            if only != list(range(len(ordered))):
                continue
        found = _in_order(source, texts, order.indexes)
        if _covers(source, [found[i] for i in order.indexes]):
            doubtful = [] if order.recorded else exchangeable(source, texts, found)
            for i in doubtful:
                found[i] = Location(None, "ambiguous")
            return Placement(found, None if doubtful else list(order.indexes))
    # Splitters applied one after another may step back: then places decide.
    best = orders[0]
    if best.recorded:
        found = _in_order(source, texts, best.indexes, complete=best.whole)
    else:
        index = TextIndex(source, spacing_for(texts))  # without regard to any order
        found = [index.only(text) for text in texts]
    return Placement(found, cover_by_place(source, found))


def _in_order(
    source: str, texts: Sequence[str], indexes: Sequence[int], *, complete: bool = True
) -> list[Location]:
    ordered = locate(source, [texts[i] for i in indexes], complete=complete)
    found = dict(zip(indexes, ordered, strict=True))
    return [found[i] for i in range(len(texts))]


def _covers(source: str, locations: Sequence[Location]) -> bool:
    """Tell whether chunks in this order leave out nothing of a text but white space.

    They may also leave out the one character between two chunks that were cut inside
    it. A chunk that lies in another is of another split: their order proves nothing.
    """
    last, was_cut = Span(-1, 0), False
    for span, status in locations:
        if status == "blank":
            continue
        if span is None or span.start <= last.start or span.end <= last.end:
            return False
        is_cut = status == "inside"
        if len(source[last.end : span.start].strip()) > (was_cut or is_cut):
            return False
        last, was_cut = span, is_cut
    return bool(locations) and not source[last.end :].strip()


def cover_by_place(source: str, found: Sequence[Location]) -> list[int] | None:
    """Return the order by place, if chunks have separate ones and leave no gap."""
    spans = [location.span for location in found]
    if None in spans or len(set(spans)) < len(spans):
        return None
    order = sorted(range(len(found)), key=lambda i: spans[i] or Span(0, 0))
    return order if _covers(source, [found[i] for i in order]) else None


def exchangeable(
    source: str, texts: Sequence[str], found: Sequence[Location]
) -> list[int]:
    """Return the numbers of the chunks that may be at the place of another one.

    Places are found without regard to white space. So chunks that differ in nothing
    else are in doubt, unless each of them has the very text of its place. White space
    around a chunk does not count, nor do chunks whose texts are equal: it makes no
    difference which is which.
    """
    alike: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        alike.setdefault(squeeze(text), []).append(i)
    doubtful: list[int] = []
    for numbers in alike.values():
        bodies = {texts[i].strip() for i in numbers}
        places = [source[slice(*(found[i].span or (0, 0)))].strip() for i in numbers]
        if len(bodies) > 1 and places != [texts[i].strip() for i in numbers]:
            doubtful += numbers
    return sorted(doubtful)
