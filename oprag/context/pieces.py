"""Candidates cut where one of them begins or ends, so that no text is chosen twice.

Several retrievers, overlapping windows and chunks of two sizes bring the same text
more than once. Cut at every boundary, the text that was retrieved falls into pieces;
each is either covered by a candidate or not at all ::

    candidates   [------ 5 ------][------ 0 ------]
                         [-- 2 --]
    pieces       [--a---][-- b --][------ c ------]
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

from oprag.chunk import Chunk, Span
from oprag.context.merging import SourceText, proved_source
from oprag.metadata import OF_ONE_TEXT

_RANK = attrgetter("rank")
_SENTENCE_END = re.compile(r"""[.!?]["')\]”’]*\s+|[。！？]|\n\s*""")


@dataclass(slots=True)
class Piece:
    """Text that every candidate covers wholly or not at all."""

    start: float
    """Where it begins: characters, or the ordinal where there are only these."""
    end: float
    """Where it ends, exclusive."""
    chunk: Chunk
    """The text as a chunk: the candidate itself where it is the whole of it."""
    covering: list[Chunk] = field(default_factory=list)
    """The candidates it is in, best first; none for text from the full document."""


@dataclass(slots=True)
class Line:
    """The pieces of one document or part, in reading order."""

    pieces: list[Piece]
    touching: list[bool]
    """For each piece, whether it follows the piece before without a gap."""
    candidates: list[tuple[Chunk, int, int]]
    """Each candidate, best first, with the pieces it covers: first, last + 1."""


def cut_into_lines(
    chunks: Sequence[Chunk],
    *,
    max_gap: int,
    source_text: SourceText | None = None,
    reach: int = 0,
) -> list[Line]:
    """Cut candidates into pieces.

    Args:
        chunks: Best first, checked, without duplicates. Those whose text does not
            have the length of their span stay whole, by their ordinals where they
            have such; without a position each is a line of its own.
        max_gap: Characters between two pieces that still touch.
        source_text: Full texts by document name. Where given, the text between two
            candidates is a piece too, if it is not longer than the longest
            candidate of the document; what is longer was left out for a reason. It
            is made of the better candidate beside it, and has its rank.
        reach: With full texts, what else stands around candidates is cut into pieces
            of their length, too, as far as this many lengths from one.

    Returns:
        One line per document and part, in the order of their best candidates.

    Raises:
        InvalidSpanError: A candidate's text does not stand in the full text where
            its span says.
    """
    groups: dict[tuple[object, ...], list[Chunk]] = {}
    for chunk in chunks:
        groups.setdefault(_scope(chunk), []).append(chunk)
    return [
        _line_of_spans(members, max_gap, source_text, reach)
        if _sliceable(members[0])
        else _line_of_ordinals(members)
        for members in groups.values()
    ]


def _sliceable(chunk: Chunk) -> bool:
    return chunk.exact and chunk.position is not None and len(chunk.text) > 0


def _scope(chunk: Chunk) -> tuple[object, ...]:
    """What candidates have in common that may be neighbours of one another."""
    if _sliceable(chunk):
        return chunk.document, "characters", chunk.part
    if chunk.position is None or chunk.span is not None:
        return chunk.document, "alone", chunk.rank
    return chunk.document, "ordinals", chunk.position[:-1]


def _line_of_ordinals(chunks: Sequence[Chunk]) -> Line:
    def place(chunk: Chunk) -> float:
        return chunk.position[-1] if chunk.position else 0

    order = sorted(range(len(chunks)), key=lambda number: place(chunks[number]))
    pieces = [
        Piece(place(c), place(c) + 1, c, [c]) for c in map(chunks.__getitem__, order)
    ]
    touching = [False] + [
        after.start <= before.end for before, after in pairwise(pieces)
    ]
    where = {number: at for at, number in enumerate(order)}
    candidates = [(c, where[n], where[n] + 1) for n, c in enumerate(chunks)]
    return Line(pieces, touching, candidates)


def _line_of_spans(
    chunks: Sequence[Chunk], max_gap: int, source_text: SourceText | None, reach: int
) -> Line:
    spans = [chunk.span or Span(0, 0) for chunk in chunks]
    source = None if source_text is None else proved_source(chunks, source_text)
    ends = {place for span in spans for place in span}
    cuts = sorted(ends if source is None else ends | {0, len(source)})
    covering: list[list[Chunk]] = [[] for _ in cuts]
    reached = []
    for chunk, (start, end) in zip(chunks, spans, strict=True):
        first, last = bisect_left(cuts, start), bisect_left(cuts, end)
        reached.append((first, last))
        for number in range(first, last):
            covering[number].append(chunk)
    longest = max(end - start for start, end in spans)
    pieces: list[Piece] = []
    touching: list[bool] = []
    at: list[int] = []
    for number, (start, end) in enumerate(pairwise(cuts)):
        at.append(len(pieces))
        inside = covering[number]
        found = []
        if inside:
            found = [Piece(start, end, _slice(inside, start, end), inside)]
        elif source is not None and (reach or 0 < number < len(cuts) - 2):
            around = [c[0] for c in (covering[number - 1], covering[number + 1]) if c]
            beside = min(around, key=_RANK)
            found = [
                Piece(a, b, slice_of(beside, source[a:b], a, b))
                for a, b in _steps(source, start, end, longest, reach)
            ]
        for piece in found:
            touching.append(bool(pieces) and piece.start <= pieces[-1].end + max_gap)
            pieces.append(piece)
    at.append(len(pieces))
    candidates = [
        (chunk, at[first], at[last])
        for chunk, (first, last) in zip(chunks, reached, strict=True)
    ]
    return Line(pieces, touching, candidates)


def _slice(covering: Sequence[Chunk], start: int, end: int) -> Chunk:
    """The text between two cuts: of the best candidate, or the one that is just it."""
    for chunk in covering:
        if chunk.span == (start, end):
            return chunk
    best = covering[0]
    offset = start - (best.span or Span(0, 0)).start
    return slice_of(best, best.text[offset : offset + end - start], start, end)


def _steps(
    source: str, start: int, end: int, longest: int, reach: int
) -> list[tuple[int, int]]:
    """What stands around candidates, in steps of their length that end at a blank."""
    if end - start <= longest:
        return [(start, end)]
    far = reach * longest
    stop = start + far if start else start
    word = end - far if end < len(source) else end
    stretches = [(start, end)]
    if stop < word:
        stop = source.rfind(" ", start, stop) + 1 or stop
        word = source.find(" ", word, end) + 1 or word
        stretches = [(start, stop), (word, end)]
    steps = []
    for begin, stop in stretches:
        place = begin
        while place < stop:
            after = min(place + longest, stop)
            if after < stop:
                after = source.rfind(" ", place, after) + 1 or after
            steps.append((place, after))
            place = after
    return steps


def slice_of(chunk: Chunk, text: str, start: int, end: int) -> Chunk:
    """Return a part of a chunk as a chunk.

    Args:
        chunk: It has a span.
        text: The part's text.
        start: Its first character, in the text that the span is relative to.
        end: One past its last.
    """
    position = chunk.position
    if position is not None and position[-2:] == chunk.span:
        position = (*position[:-2], start, end)
    # Stored counts are of the whole chunk, and a stamp is of what it begins.
    metadata = {
        key: value for key, value in chunk.metadata.items() if key not in OF_ONE_TEXT
    }
    return chunk._replace(
        text=text,
        position=position,
        span=Span(start, end),
        token_count=None,
        metadata=metadata,
    )


class Parts:
    """A chunk and its beginnings that end with a sentence, the shortest first.

    Args:
        chunk: The chunk. One whose place is not known to the character has no others.
        kept: What it is to be read with. Where it ends where one of these begins,
            the parts are its ends.
    """

    def __init__(self, chunk: Chunk, kept: Sequence[Chunk]) -> None:
        self._chunk = chunk
        span = chunk.span if _sliceable(chunk) else None
        self._span = span or Span(0, 0)
        beside = [c.span for c in kept if _scope(c) == _scope(chunk) and c.span]
        self._is_end = self._span.start not in {end for _, end in beside} and (
            self._span.end in {start for start, _ in beside}
        )
        ends = [match.end() for match in _SENTENCE_END.finditer(chunk.text)]
        self._cuts = [end for end in ends if span and end < len(chunk.text)]
        if self._is_end:
            self._cuts.reverse()
        self._cuts.append(0 if self._is_end else len(chunk.text))

    def __len__(self) -> int:
        return len(self._cuts)

    def __getitem__(self, number: int) -> Chunk:
        start, end = self._span
        cut = self._cuts[number]
        text = self._chunk.text
        if cut in (0, len(text)):
            return self._chunk
        if self._is_end:
            return slice_of(self._chunk, text[cut:], start + cut, end)
        return slice_of(self._chunk, text[:cut], start, start + cut)
