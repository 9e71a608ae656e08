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

from oprag.chunk import OTHER_ENDS, Chunk, Span
from oprag.metadata import OF_ONE_TEXT, PAGES, PROBLEM, RESULT_KEYS

_OF_ITS_TEXT = frozenset((*OF_ONE_TEXT, *RESULT_KEYS)) - {PAGES, PROBLEM}
_PARTS = 3
"""A long candidate falls into more pieces than this."""
_SENTENCE_END = re.compile(rf"""[.!?]["')\]”’]*\s+|[{OTHER_ENDS}]\s*|\n\s*""")


class Piece(NamedTuple):
    """A candidate, or a slice of one."""

    start: float
    """Its first character; where there are only ordinals, by the mean length."""
    end: float
    """Its end, exclusive."""
    of: Chunk
    """The candidate that it is; else the best that it is in."""

    def chunk(self) -> Chunk:
        """Return it as a chunk."""
        candidate, span = self.of, self.of.span
        start, end = int(self.start), int(self.end)
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


def cut_into_lines(chunks: Sequence[Chunk], *, long: float = math.inf) -> list[Line]:
    """Cut candidates into pieces.

    Args:
        chunks: Best first, checked, without duplicates. Those whose text does not
            have the length of their span stay whole, by their ordinals where they
            have such; without a position each is a line of its own.
        long: A candidate of more characters is cut at its sentences, into pieces of
            a third of this at least.

    Returns:
        One line per document and part, in the order of their best candidates.
    """
    groups: defaultdict[tuple[Hashable, ...], list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        groups[scope_of(chunk)].append(chunk)
    return [
        _line_of_spans(members, long)
        if is_sliceable(members[0])
        else _line_of_ordinals(members)
        for members in groups.values()
    ]


def is_sliceable(chunk: Chunk) -> bool:
    """Whether parts of a chunk can be named by their characters."""
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
    each = sum(len(chunk.text) for chunk in members) / len(members)
    pieces = [
        Piece(each * places[n], each * (places[n] + 1), members[n]) for n in order
    ]
    at = {number: place for place, number in enumerate(order)}
    covered = [(chunk.rank, at[n], at[n] + 1) for n, chunk in enumerate(members)]
    return Line(pieces, covered)


def _line_of_spans(members: Sequence[Chunk], long: float) -> Line:
    spans = [chunk.span or Span(0, 0) for chunk in members]
    places = {place for span in spans for place in span}
    for chunk, (start, end) in zip(members, spans, strict=True):
        if end - start > long:
            places.update(start + at for at in _within(chunk.text, long / _PARTS))
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
    for number, candidate in enumerate(best):
        at.append(len(pieces))
        if candidate is not None:
            of = whole[number] or candidate
            pieces.append(Piece(cuts[number], cuts[number + 1], of))
    covered = [
        (chunk.rank, at[numbers[start]], at[numbers[end] - 1] + 1)
        for chunk, (start, end) in zip(members, spans, strict=True)
    ]
    return Line(pieces, covered)


def _within(text: str, least: float) -> Iterator[int]:
    """Return ends of sentences, each some way after the one before."""
    at, last = 0, len(text)
    for match in _SENTENCE_END.finditer(text):
        if match.end() - at >= least and last - match.end() >= least:
            at = match.end()
            yield at


def slice_of(chunk: Chunk, text: str, start: int, end: int) -> Chunk:
    """Return a part of a chunk as a chunk.

    Args:
        chunk: It has a span.
        text: The part's text.
        start: Its first character, in the text that the span is relative to.
        end: One past its last.
    """
    position, span = chunk.position, chunk.span or (start, end)
    if position is not None and position[-2:] == span:
        position = (*position[:-2], start, end)
    # Stored counts are of the whole chunk, and a stamp is of what it begins.
    metadata = {
        key: value
        for key, value in chunk.metadata.items()
        if key not in _OF_ITS_TEXT and (key != "start_index" or span[0] == start)
    }
    return chunk._replace(
        text=text,
        position=position,
        span=Span(start, end),
        token_count=None,
        metadata=metadata,
    )


def with_beginnings(chunk: Chunk, kept: Sequence[Chunk]) -> list[Chunk]:
    """Return a chunk and its beginnings that end with a sentence, the shortest first.

    Args:
        chunk: The chunk. One whose place is not known to the character has no others.
        kept: What it is to be read with. Where it ends where one of these begins,
            the parts are its ends.
    """
    span, text = chunk.span, chunk.text
    if span is None or not is_sliceable(chunk):
        return [chunk]
    start, end = span
    cuts = [match.end() for match in _SENTENCE_END.finditer(text)]
    cuts = [cut for cut in cuts if cut < len(text)]
    beside = [c.span for c in kept if scope_of(c) == scope_of(chunk) and c.span]
    is_end = start not in {e for _, e in beside} and end in {s for s, _ in beside}
    if is_end:
        parts = [slice_of(chunk, text[c:], start + c, end) for c in reversed(cuts)]
    else:
        parts = [slice_of(chunk, text[:c], start, start + c) for c in cuts]
    return [*parts, chunk]
