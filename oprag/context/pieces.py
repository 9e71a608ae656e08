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
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, islice, pairwise
from operator import sub

from oprag.chunk import Chunk, Span
from oprag.context.candidates import Candidates, is_sliceable, scope_of
from oprag.context.merging import SourceText, proved_source
from oprag.metadata import OF_ONE_TEXT, PROBLEM, RESULT_KEYS

_OF_ITS_TEXT = frozenset((*OF_ONE_TEXT, *RESULT_KEYS)) - {PROBLEM}
_NONE = -1
"""In the place of a candidate's number: there is none."""
_PARTS = 3
"""A long candidate falls into more pieces than this."""
_SENTENCE_END = re.compile(r"""[.!?]["')\]”’]*\s+|[。！？]|\n\s*""")


@dataclass(slots=True)
class Line:
    """One document or part, cut into pieces: a column for each thing known of them.

    They stand in reading order. Of thousands few are read, and `chunk` makes these.
    """

    starts: Sequence[float]
    """Where each begins: characters, or the ordinal where there are only these."""
    ends: Sequence[float]
    """Where it ends, exclusive."""
    best: Sequence[int]
    """The best candidate it is in; for text of the full document the nearest one."""
    whole: Sequence[int]
    """The candidate that is just this text; -1 for none."""
    members: Sequence[int]
    """The candidates of the line, best first."""
    firsts: Sequence[int]
    """The first piece that each candidate covers."""
    lasts: Sequence[int]
    """One past the last."""
    given: Candidates
    """Those of all lines, by whose numbers a line knows its own."""
    source: str | None = None
    """The full document, if it is known."""
    beside: Collection[int] = ()
    """The numbers of pieces that are in no candidate, but in the full document."""

    def made_of(self) -> list[int]:
        """For each piece, the candidate that it is, or is a part of, or is beside."""
        pairs = zip(self.whole, self.best, strict=True)
        return [best if whole == _NONE else whole for whole, best in pairs]

    def chunk(self, number: int, candidate: Chunk) -> Chunk:
        """A piece as a chunk.

        Args:
            number: The piece's.
            candidate: The one that it is made of.
        """
        if self.whole[number] != _NONE:
            return candidate
        start, end = int(self.starts[number]), int(self.ends[number])
        if self.source is not None and number in self.beside:
            return slice_of(candidate, self.source[start:end], start, end)
        offset = start - (candidate.span or Span(0, 0)).start
        text = candidate.text[offset : offset + end - start]
        return slice_of(candidate, text, start, end)

    def covered(self) -> Iterator[tuple[int, int, int]]:
        """The rank of each candidate, best first, and its pieces: first, last + 1."""
        ranks = map(self.given.ranks.__getitem__, self.members)
        return zip(ranks, self.firsts, self.lasts, strict=True)


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
        InvalidSpanError: A candidate's text does not stand in the full text where
            its span says.
    """
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    given = Candidates.of(chunks)
    for number, scope in enumerate(given.scopes):
        groups[scope].append(number)
    return [
        _line_of_spans(given, members, source_text=source_text, room=room, long=long)
        if given.sliceable[members[0]]
        else _line_of_ordinals(given, members)
        for members in groups.values()
    ]


def _line_of_ordinals(given: Candidates, members: Sequence[int]) -> Line:
    pieces = sorted(members, key=given.starts.__getitem__)
    at = {number: place for place, number in enumerate(pieces)}
    firsts = [at[number] for number in members]
    return Line(
        starts=[given.starts[number] for number in pieces],
        ends=[given.ends[number] for number in pieces],
        best=pieces,
        whole=pieces,
        members=members,
        firsts=firsts,
        lasts=[first + 1 for first in firsts],
        given=given,
    )


def _line_of_spans(
    given: Candidates,
    members: Sequence[int],
    *,
    source_text: SourceText | None,
    room: float,
    long: float,
) -> Line:
    source = None
    if source_text is not None:
        source = proved_source([given.chunks[n] for n in members], source_text)
    starts = [given.starts[number] for number in members]
    ends = [given.ends[number] for number in members]
    longest = int(max(map(sub, ends, starts)))
    places = {*starts, *ends}
    if longest > long:
        places.update(_within(given, members, long))
    cuts = sorted(places)
    numbers = dict(zip(cuts, range(len(cuts)), strict=True))
    firsts = [*map(numbers.__getitem__, starts)]
    lasts = [*map(numbers.__getitem__, ends)]
    best, whole = [_NONE] * len(cuts), [_NONE] * len(cuts)
    for number, first, last in zip(
        reversed(members), reversed(firsts), reversed(lasts), strict=True
    ):
        if last == first + 1:  # the best comes last, over all others
            whole[first] = best[first] = number
        else:
            best[first:last] = [number] * (last - first)
    # Without the gaps, of which the last is behind all.
    kept = [number != _NONE for number in best]
    before = [*accumulate(kept, initial=0)]
    line = Line(
        starts=[*compress(cuts, kept)],
        ends=[*compress(islice(cuts, 1, None), kept)],
        best=[*compress(best, kept)],
        whole=[*compress(whole, kept)],
        members=members,
        firsts=[*map(before.__getitem__, firsts)],
        lasts=[*map(before.__getitem__, lasts)],
        given=given,
    )
    if source is None:
        return line
    return _with_gaps(line, source, longest, room)


def _with_gaps(line: Line, source: str, longest: int, room: float) -> Line:
    """The same with pieces of the full text between candidates and around them."""
    gaps = zip([0, *line.ends], [*line.starts, len(source)], strict=True)
    sides = pairwise([_NONE, *line.best, _NONE])
    found = [
        piece
        for (begin, stop), near in zip(gaps, sides, strict=True)
        if begin < stop
        for piece in _around(source, Span(int(begin), int(stop)), near, longest, room)
    ]
    starts = [*line.starts, *(span.start for span, _ in found)]
    ends = [*line.ends, *(span.end for span, _ in found)]
    best = [*line.best, *(number for _, number in found)]
    whole = [*line.whole, *[_NONE] * len(found)]
    order = sorted(range(len(starts)), key=starts.__getitem__)
    at = {number: place for place, number in enumerate(order)}
    return Line(
        starts=[starts[number] for number in order],
        ends=[ends[number] for number in order],
        best=[best[number] for number in order],
        whole=[whole[number] for number in order],
        members=line.members,
        firsts=[at[first] for first in line.firsts],
        lasts=[at[last - 1] + 1 for last in line.lasts],
        given=line.given,
        source=source,
        beside={at[number] for number in range(len(line.starts), len(starts))},
    )


def _within(given: Candidates, members: Sequence[int], long: float) -> Iterator[int]:
    """Where sentences of long chunks end, each some way behind the one before."""
    least = long / _PARTS
    for number in members:
        if given.ends[number] - given.starts[number] > long:
            chunk = given.chunks[number]
            at, last = 0, len(chunk.text)
            for match in _SENTENCE_END.finditer(chunk.text):
                if match.end() - at >= least and last - match.end() >= least:
                    at = match.end()
                    yield (chunk.span or Span(0, 0)).start + at


def _around(
    source: str, gap: Span, ends: tuple[int, int], length: int, room: float
) -> Iterator[tuple[Span, int]]:
    """Text between two candidates, or before the first or behind the last."""
    before, after = ends
    start, end = gap
    stretches = [gap]
    if end - start > length:
        stop = start if before == _NONE else int(min(start + room, end))
        again = end if after == _NONE else int(max(end - room, start))
        if stop < again:
            stop = source.rfind(" ", start, stop) + 1 or stop
            again = source.find(" ", again, end) + 1 or again
            stretches = [Span(start, stop), Span(again, end)]
    elif not room and _NONE in ends:
        return
    for a, b in (step for each in stretches for step in _steps(source, each, length)):
        if _NONE in ends:  # at most one of the two
            yield Span(a, b), max(ends)
        else:
            yield Span(a, b), before if a - start <= end - b else after


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
