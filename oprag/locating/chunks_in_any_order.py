"""Where the chunks of one document stand in its source, as they lie in a store.

A store keeps no order that can be relied upon, and may lack chunks. So a place is
taken for proved only

- where the chunks, in the order that is recorded or in the only one that they fit in,
  cover the whole source without a gap: then all are there, and
  `oprag.locating.chunks_in_order` proves the places by contiguity;
- where a text occurs once in the source, whatever the order;
- where the order is recorded (a chunk number, LlamaIndex's NEXT) and leaves one
  place;
- where the chunks between two that occur once cover what lies between them, would
  leave a gap without it, and the store has kept the order: all that occur once follow
  one another as in the source.

Two things cannot be seen: which of two chunks with equal texts is which, where the
store has lost their order (it makes no difference to what is read); and that a chunk
is missing where the others cover the source without it, as overlapping chunks may in
a text that repeats every few words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from oprag.chunk import Span
from oprag.locating.chunks_in_order import Location, locate
from oprag.locating.likeness import exchangeable
from oprag.locating.proved_order import WITNESSES, given_order
from oprag.locating.squeezing import squeeze
from oprag.locating.text_index import TextIndex


class Order(NamedTuple):
    """One order in which the chunks may have been made."""

    indexes: Sequence[int]
    """Numbers of the chunks, a permutation."""
    recorded: bool
    """Whether the index says so, and it is not just how the store gives them."""
    whole: bool = False
    """Whether the index also says that these are all."""


class Placement(NamedTuple):
    """Where the chunks of one document stand."""

    locations: list[Location]
    """One per chunk."""
    order: list[int] | None
    """Numbers of all chunks in reading order where they cover the source without a
    gap; else None."""


def place(source: str, texts: Sequence[str], orders: Sequence[Order]) -> Placement:
    """Find the true places of the chunks."""
    for order in orders:
        ordered = [texts[i] for i in order.indexes]
        if not order.recorded and not _is_only(source, ordered):
            continue
        found = _in_order(source, texts, order.indexes)
        if _covers(source, [found[i] for i in order.indexes]):
            doubtful = [] if order.recorded else exchangeable(source, texts, found)
            for i in doubtful:
                found[i] = Location(None, "ambiguous")
            return Placement(found, None if doubtful else list(order.indexes))
        # Splitters applied one after another may step back: then places decide.
        by_place = cover_by_place(source, found) if order.recorded else None
        if by_place is not None:
            return Placement(found, by_place)
    best = orders[0]
    if best.recorded:
        found = _in_order(source, texts, best.indexes, complete=best.whole)
    else:
        found = _alone(source, texts)
        _between(source, texts, found, best.indexes)
    return Placement(found, cover_by_place(source, found))


def _is_only(source: str, texts: Sequence[str]) -> bool:
    """Whether the chunks fit in no other order than this one, but for white space."""
    order, _ = given_order(squeeze(source), [squeeze(text) for text in texts])
    return order == list(range(len(texts)))


def _in_order(
    source: str, texts: Sequence[str], indexes: Sequence[int], *, complete: bool = True
) -> list[Location]:
    ordered = locate(source, [texts[i] for i in indexes], complete=complete)
    found = dict(zip(indexes, ordered, strict=True))
    return [found[i] for i in range(len(texts))]


def _alone(source: str, texts: Sequence[str]) -> list[Location]:
    """Place the texts that occur once, without regard to any order."""
    index = TextIndex(source, texts)
    return [index.only(text) for text in texts]


def _between(
    source: str, texts: Sequence[str], found: list[Location], indexes: Sequence[int]
) -> None:
    """Place runs of doubtful chunks that cover what lies between two sure ones."""
    sure = [span for i in indexes if (span := found[i].span) is not None]
    if len(sure) < WITNESSES or any(a > b for a, b in pairwise(sure)):
        return
    for run, low, high in _runs(found, indexes, len(source)):
        slice_ = source[low:high]
        within = [texts[i] for i in run]
        located = locate(slice_, within)
        if not _covers(slice_, located) or not _is_only(slice_, within):
            continue
        doubtful = {run[at] for at in exchangeable(slice_, within, located)}
        for i, location in zip(run, _needed(slice_, located), strict=True):
            if location is not None and found[i].span is None and i not in doubtful:
                start, end = location.span or Span(0, 0)
                found[i] = Location(Span(low + start, low + end), location.status)


def _needed(source: str, located: Sequence[Location]) -> Iterator[Location | None]:
    """Those of a cover without which there would be a gap; None for the others.

    A chunk that fills no gap may be from elsewhere: one that was indexed again stands
    behind its neighbours.
    """
    reach = 0
    for at, location in enumerate(located):
        if location.span is None:
            yield None
            continue
        after = next((o.span.start for o in located[at + 1 :] if o.span), len(source))
        yield location if source[reach:after].strip() else None
        reach = max(reach, location.span.end)


def _runs(
    found: Sequence[Location], indexes: Sequence[int], length: int
) -> Iterator[tuple[list[int], int, int]]:
    """Runs in store order that begin and end with a sure chunk, or at the text's ends.

    Yields:
        The numbers of the chunks, and the characters that they lie between.
    """
    sure = [at for at, i in enumerate(indexes) if found[i].span is not None]
    for before, after in pairwise([-1, *sure, len(indexes)]):
        if after - before < 2:  # noqa: PLR2004 -- neighbours: nothing between them
            continue
        run = list(indexes[max(before, 0) : after + 1])
        first = found[indexes[before]].span if before >= 0 else Span(0, 0)
        last = found[indexes[after]].span if after < len(indexes) else None
        low = 0 if first is None else first.start
        high = length if last is None else last.end
        if low < high:
            yield run, low, high


def _covers(source: str, locations: Sequence[Location]) -> bool:
    """Whether chunks in this order leave out nothing of a text but white space."""
    end = start = 0
    for location in locations:
        if location.status == "blank":
            continue
        if location.span is None or location.span.start < start:
            return False
        start = location.span.start
        if start > end and source[end:start].strip():
            return False
        end = max(end, location.span.end)
    return bool(locations) and not source[end:].strip()


def cover_by_place(source: str, found: Sequence[Location]) -> list[int] | None:
    """The order by place, if every chunk has one of its own and they leave no gap."""
    spans = [location.span for location in found]
    if None in spans or len(set(spans)) < len(spans):
        return None
    order = sorted(range(len(found)), key=lambda i: spans[i] or Span(0, 0))
    return order if _covers(source, [found[i] for i in order]) else None
