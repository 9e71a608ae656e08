"""Candidates cut where one of them begins or ends, so that no text is chosen twice.

Several retrievers, overlapping windows and chunks of two sizes bring the same text
more than once. Cut at every boundary, the text that was retrieved falls into pieces;
each is either covered by a candidate or not at all ::

    candidates   [------ 5 ------][------ 0 ------]
                         [-- 2 --]
    pieces       [--a---][-- b --][------ c ------]
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from oprag.chunk import Chunk, Span
from oprag.context.merging import SourceText, proved_source
from oprag.metadata import OF_ONE_TEXT, PROBLEM, RESULT_KEYS

_OF_ITS_TEXT = frozenset((*OF_ONE_TEXT, *RESULT_KEYS)) - {PROBLEM}
_PARTS = 3
"""A long candidate falls into more pieces than this."""
_SENTENCE_END = re.compile(r"""[.!?]["')\]”’]*\s+|[。！？]|\n\s*""")


class Piece(NamedTuple):
    """A candidate, a slice of one, or text of the full document beside one."""

    start: float
    """Where it begins: a character, or the ordinal where there is only this."""
    end: float
    """Where it ends, exclusive."""
    of: Chunk
    """The candidate that it is; else the best that it is in; else the nearest one."""
    beside: str | None = None
    """Its text, where it is in no candidate."""

    def chunk(self) -> Chunk:
        """Return it as a chunk."""
        candidate, span = self.of, self.of.span
        start, end = int(self.start), int(self.end)
        if self.beside is not None:
            return slice_of(candidate, self.beside, start, end)
        if span is None or not candidate.exact or span == (start, end):
            return candidate
        text = candidate.text[start - span.start : end - span.start]
        return slice_of(candidate, text, start, end)


@dataclass(slots=True)
class Line:
    """One document or part, cut into pieces."""

    pieces: Sequence[Piece]
    """In reading order."""
    covered: Sequence[tuple[int, int, int]]
    """Of each candidate, best first: its rank, its first piece, one past its last."""


def cut_into_lines(
    chunks: Sequence[Chunk],
    *,
    source_text: SourceText | None = None,
    room: float = 0,
    long: float = math.inf,
) -> list[Line]:
    """Cut candidates into pieces.

    Args:
        chunks: Best first, checked, without duplicates. Those whose text does not
            have the length of their span stay whole, by their ordinals where they
            have such; without a position each is a line of its own.
        source_text: Full texts by document name. Where given, the text between two
            candidates is a piece too, if it is not longer than the longest
            candidate of the document; what is longer was left out for a reason. It
            has the rank of the nearer candidate.
        room: With full texts, so many characters on each side of candidates are cut
            into pieces of their length, too.
        long: A candidate of more characters is cut at its sentences, into pieces of
            a third of this at least.

    Returns:
        One line per document and part, in the order of their best candidates.

    Raises:
        PositionError: A candidate's text does not stand in the full text where
            its span says.
    """
    groups: defaultdict[tuple[Hashable, ...], list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        groups[scope_of(chunk)].append(chunk)
    return [
        _line_of_spans(members, source_text, room, long)
        if is_sliceable(members[0])
        else _line_of_ordinals(members)
        for members in groups.values()
    ]


def is_sliceable(chunk: Chunk) -> bool:
    """Whether parts of a chunk can be told by their characters."""
    return chunk.exact and chunk.position is not None and len(chunk.text) > 0


def scope_of(chunk: Chunk) -> tuple[Hashable, ...]:
    """Return what chunks have in common that may be neighbours of one another."""
    if is_sliceable(chunk):
        return chunk.document, "characters", chunk.part
    if chunk.position is None or chunk.span is not None:
        return chunk.document, "alone", chunk.rank
    return chunk.document, "ordinals", chunk.position[:-1]


def _line_of_ordinals(members: Sequence[Chunk]) -> Line:
    places = [chunk.position[-1] if chunk.position else 0 for chunk in members]
    order = sorted(range(len(members)), key=places.__getitem__)
    pieces = [Piece(places[n], places[n] + 1, members[n]) for n in order]
    at = {number: place for place, number in enumerate(order)}
    covered = [(chunk.rank, at[n], at[n] + 1) for n, chunk in enumerate(members)]
    return Line(pieces, covered)


def _line_of_spans(
    members: Sequence[Chunk], source_text: SourceText | None, room: float, long: float
) -> Line:
    source = None if source_text is None else proved_source(members, source_text)
    spans = [chunk.span or Span(0, 0) for chunk in members]
    longest = max(span[1] - span[0] for span in spans)
    places = {place for span in spans for place in span}
    if longest > long:
        places.update(_within(members, long))
    cuts = sorted(places)
    numbers = {place: number for number, place in enumerate(cuts)}
    # Of each stretch between two cuts: the best candidate, and one that is just it.
    best: list[Chunk | None] = [None] * len(cuts)
    whole: list[Chunk | None] = [None] * len(cuts)
    for chunk, (start, end) in zip(reversed(members), reversed(spans), strict=True):
        first, last = numbers[start], numbers[end]
        best[first:last] = [chunk] * (last - first)  # the best comes last, over all
        if last == first + 1:
            whole[first] = chunk
    pieces: list[Piece] = []
    at: list[int] = []
    begin, before = 0, None
    for number, place in enumerate(cuts):
        near = best[number - 1] if number else None
        if near is None and source is not None and begin < place:
            gap = Span(begin, place)
            pieces += _around(source, gap, (before, best[number]), longest, room)
        at.append(len(pieces))
        if (candidate := best[number]) is not None:
            begin, before = cuts[number + 1], candidate
            pieces.append(Piece(place, begin, whole[number] or candidate))
    if source is not None and begin < len(source):
        gap = Span(begin, len(source))
        pieces += _around(source, gap, (before, None), longest, room)
    covered = [
        (chunk.rank, at[numbers[start]], at[numbers[end] - 1] + 1)
        for chunk, (start, end) in zip(members, spans, strict=True)
    ]
    return Line(pieces, covered)


def _within(members: Sequence[Chunk], long: float) -> Iterator[int]:
    """Where sentences of long chunks end, each some way behind the one before."""
    least = long / _PARTS
    for chunk in members:
        if len(chunk.text) > long:
            at, last = 0, len(chunk.text)
            for match in _SENTENCE_END.finditer(chunk.text):
                if match.end() - at >= least and last - match.end() >= least:
                    at = match.end()
                    yield (chunk.span or Span(0, 0)).start + at


def _around(
    source: str,
    gap: Span,
    sides: tuple[Chunk | None, Chunk | None],
    length: int,
    room: float,
) -> Iterator[Piece]:
    """Text between two candidates, or before the first or behind the last."""
    (start, end), (before, after) = gap, sides
    stretches = [gap]
    if end - start > length:
        stop = start if before is None else int(min(start + room, end))
        again = end if after is None else int(max(end - room, start))
        if stop < again:
            stop = source.rfind(" ", start, stop) + 1 or stop
            again = source.find(" ", again, end) + 1 or again
            stretches = [Span(start, stop), Span(again, end)]
    elif not room and (before is None or after is None):
        return
    for a, b in (step for each in stretches for step in _steps(source, each, length)):
        near = before if after is None or a - start <= end - b else after
        candidate = near or after
        if candidate is not None:
            yield Piece(a, b, candidate, source[a:b])


def _steps(source: str, stretch: Span, length: int) -> Iterator[Span]:
    """Text in steps of a length that end at a blank."""
    begin, stop = stretch
    while begin < stop:
        after = min(begin + length, stop)
        if after < stop:
            after = source.rfind(" ", begin, after) + 1 or after
        yield Span(begin, after)
        begin = after


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
        key: value for key, value in chunk.metadata.items() if key not in _OF_ITS_TEXT
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
        span = chunk.span if is_sliceable(chunk) else None
        self._span = span or Span(0, 0)
        beside = [c.span for c in kept if scope_of(c) == scope_of(chunk) and c.span]
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
