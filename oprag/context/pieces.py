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
from itertools import accumulate, pairwise
from typing import NamedTuple

from oprag.chunk import OTHER_ENDS, Chunk, Span
from oprag.metadata import OF_ONE_TEXT, PAGES, PROBLEM, RESULT_KEYS

_OF_ITS_TEXT = frozenset((*OF_ONE_TEXT, *RESULT_KEYS)) - {PAGES, PROBLEM}
_PARTS = 3
"""A long candidate falls into more pieces than this."""
_SENTENCE_END = re.compile(rf"""[.!?]["')\]”’]*\s+|[{OTHER_ENDS}]\s*|\n\s*""")


class Piece(NamedTuple):
    """A candidate, or a slice of one."""

    start: int
    """Its first character; where there are only ordinals, by the mean length."""
    end: int
    rank: int
    """That of the best candidate that it is in."""
    of: Chunk
    """The candidate that it is; else the best that it is in."""

    def chunk(self) -> Chunk:
        """Return it as a chunk."""
        (start, end, _, candidate), span = self, self.of.span
        if span in (None, (start, end)) or not candidate.exact:
            return candidate
        text = candidate.text[start - span[0] : end - span[0]]
        return slice_of(candidate, text, start, end)


class Line(NamedTuple):
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
    return [_line(members, long) for members in groups.values()]


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


def _line(members: Sequence[Chunk], long: float) -> Line:
    sliceable = is_sliceable(members[0])
    if sliceable:
        spans = [chunk.span or Span(0, 0) for chunk in members]
    else:  # all of the mean length
        mean = max(1, sum(len(chunk.text) for chunk in members) // len(members))
        ordinals = [int(c.position[-1]) if c.position else 0 for c in members]
        spans = [Span(mean * each, mean * (each + 1)) for each in ordinals]
    places = {place for span in spans for place in span}
    for chunk, (start, end) in zip(members, spans, strict=True):
        if end - start > long and sliceable:
            places.update(start + at for at in _within(chunk.text, long / _PARTS))
    cuts = sorted(places)
    numbers = {place: number for number, place in enumerate(cuts)}
    runs = [
        (chunk, numbers[start], numbers[end])
        for chunk, (start, end) in zip(members, spans, strict=True)
    ]
    # Of each stretch between two cuts: the best candidate, and one that is just it.
    best: list[Chunk | None] = [None] * (len(cuts) - 1)
    whole: list[Chunk | None] = [None] * (len(cuts) - 1)
    for chunk, first, last in reversed(runs):
        best[first:last] = [chunk] * (last - first)  # the best comes last, over all
        if last == first + 1:
            whole[first] = chunk
    pieces = [
        Piece(start, end, chunk.rank, is_it or chunk)
        for (start, end), chunk, is_it in zip(pairwise(cuts), best, whole, strict=True)
        if chunk is not None
    ]
    at = [*accumulate((chunk is not None for chunk in best), initial=0)]
    return Line(pieces, [(chunk.rank, at[a], at[b]) for chunk, a, b in runs])


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
