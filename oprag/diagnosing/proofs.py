"""Proofs of recorded positions by the full texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oprag.chunk import Chunk, Hit, Span
from oprag.diagnosing.checks import read_places
from oprag.diagnosing.sources import Sources
from oprag.documents import group_by_version
from oprag.locating import (
    Location,
    Order,
    Placement,
    cover_by_place,
    pieces_of,
    place,
    squeeze,
)
from oprag.metadata import CHUNK_INDEX, N_CHUNKS, as_number
from oprag.positions import PositionKeys

_ORDINALS = (CHUNK_INDEX, "split_id")


class ProvedDocument(NamedTuple):
    """One version of a document: its chunks, and their places in the source."""

    members: list[int]
    """Numbers of its chunks among those of the document."""
    placement: Placement
    verdicts: list[str]
    """One per chunk: `proved`, `moved`, `placed`, `ambiguous`, `not_found`, `blank`;
    see `Proofs`."""
    holds: list[bool | None]
    """Whether the recorded span holds the text, one per chunk; None if no span of the
    whole document is recorded."""
    source: str
    """The document's text."""

    @property
    def foreign(self) -> bool:
        """Whether the source holds none of the chunks, so that it proves nothing."""
        kinds = {*self.verdicts}
        return "not_found" in kinds and kinds <= {"not_found", "blank"}


def prove(
    name: str,
    chunks: Sequence[Hit],
    sources: Sources,
    position_keys: PositionKeys | None,
) -> list[ProvedDocument]:
    """Prove the places of the chunks of one document.

    Returns:
        One for each version, since only chunks of one version cover the source.
    """
    found = []
    for members in group_by_version(chunk.metadata for chunk in chunks).values():
        group = [chunks[i] for i in members]
        recorded = read_places(group, name, position_keys, {})
        orders = list(_orders(group))
        read = [
            _prove(members, source, recorded, orders) for source in sources.texts(name)
        ]
        found.append(max(read, key=_rate_fit))  # the first of equals
    return found


def _prove(
    members: list[int], source: str, recorded: Sequence[Chunk], orders: Sequence[Order]
) -> ProvedDocument:
    placement = place(source, [chunk.text for chunk in recorded], orders)
    placement = _keep_undisputed(
        source, recorded, placement, numbered=orders[0].recorded
    )
    shifts = _shifts(recorded, placement.locations)
    verdicts = [
        _verdict(source, chunk, location, shifts)
        for chunk, location in zip(recorded, placement.locations, strict=True)
    ]
    holds = [_is_slice(source, chunk) for chunk in recorded]
    return ProvedDocument(members, placement, verdicts, holds, source)


def _keep_undisputed(
    source: str, recorded: Sequence[Chunk], placement: Placement, *, numbered: bool
) -> Placement:
    """Keep recorded places if each holds its chunk's text and no two are the same.

    The order of a store does not say which of two equal texts is at which place. If
    recorded places leave a gap that others do not, the order of numbers (`numbered`)
    disproves them. The order of a store does not, as a chunk may be lost.
    """
    spans = [
        Span(*chunk.span)
        for chunk in recorded
        if chunk.span is not None
        and chunk.part is None
        and source[slice(*chunk.span)] == chunk.text
    ]
    if len(spans) < len(recorded) or len(set(spans)) < len(spans):
        return placement
    found = [location.span for location in placement.locations]
    if found == spans:
        return placement
    own = [Location(span, "exact") for span in spans]
    order = cover_by_place(source, own)
    if order is not None:
        return Placement(own, order)
    numbers = {as_number(chunk.metadata.get(CHUNK_INDEX)) for chunk in recorded}
    lost = numbers not in ({None}, set(range(len(recorded))))
    if numbered and not lost and placement.order is not None:
        return placement
    locations = [
        Location(None, "ambiguous") if location.span not in (None, span) else location
        for location, span in zip(placement.locations, spans, strict=True)
    ]
    return Placement(locations, None)


def _rate_fit(document: ProvedDocument) -> tuple[bool, int, int]:
    """Return how well a text fits the chunks: whole, at recorded places, how many.

    Words between two tags are both in the raw page and in the displayed one. A cover
    without a gap, or the recorded places, tell which of the two was indexed.
    """
    found = sum(verdict != "not_found" for verdict in document.verdicts)
    return document.placement.order is not None, document.holds.count(True), found


def _orders(group: Sequence[Hit]) -> Iterator[Order]:
    """Yield the orders that the index records, then that of the store."""
    for key in _ORDINALS:
        numbers = [as_number(chunk.metadata.get(key)) for chunk in group]
        known = [number for number in numbers if number is not None]
        if len(set(known)) == len(group):
            totals = {as_number(chunk.metadata.get(N_CHUNKS)) for chunk in group}
            whole = totals == {len(group)} and sorted(known) == list(range(len(group)))
            indexes = sorted(range(len(group)), key=lambda i: known[i])
            yield Order(indexes, recorded=True, whole=whole)
    yield Order(range(len(group)), recorded=False)


def _is_slice(source: str, chunk: Chunk) -> bool | None:
    if chunk.span is None or chunk.part is not None:
        return None
    there = squeeze(source[slice(*chunk.span)])
    (piece,) = pieces_of(there, [chunk.text])
    return there in (squeeze(chunk.text), piece.text)


def _shifts(recorded: Sequence[Chunk], locations: Sequence[Location]) -> dict[int, int]:
    """Return how far each part lies after the start of the source, by most chunks."""
    votes: dict[int, Counter[int]] = {}
    for chunk, location in zip(recorded, locations, strict=True):
        if chunk.part is not None and chunk.span and location.span:
            shift = location.span.start - chunk.span[0]
            votes.setdefault(chunk.part, Counter())[shift] += 1
    return {
        part: min(counts, key=lambda shift: (-counts[shift], shift))
        for part, counts in votes.items()
    }


def _verdict(
    source: str, chunk: Chunk, location: Location, shifts: dict[int, int]
) -> str:
    if location.span is None:
        return location.status
    if chunk.span is None:
        return "placed"
    shift = 0 if chunk.part is None else shifts[chunk.part]
    there = Span(chunk.span[0] + shift, chunk.span[1] + shift)
    same = _tight(source, there) == _tight(source, location.span)
    return "proved" if same else "moved"


def _tight(source: str, span: Span) -> tuple[int, int]:
    """Return a span without the white space at its ends."""
    found = source[slice(*span)]
    left = len(found) - len(found.lstrip())
    return span.start + left, span.start + len(found.rstrip())
