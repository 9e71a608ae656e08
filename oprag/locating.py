"""Finds where each chunk stands in its source text, or says that it cannot be known.

The chunks are all that a splitter made of the text, in order, so each begins
inside the one before it or right after it. That tells repeated text apart where
searching for a chunk alone would not. A chunk's text may differ from the source in
its white space. Nothing is guessed: a chunk that could stand in two places is
reported, and so is one that was altered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from oprag.anchoring import anchor
from oprag.chaining import chain
from oprag.chunk import Span
from oprag.contiguity import Range, cover
from oprag.squeezing import SqueezedText, squeeze

__all__ = ["Location", "locate"]


class Location(NamedTuple):
    """Where a chunk stands in its source."""

    span: Span | None
    """Characters of the source, or None where the place is not proved."""
    status: Literal["exact", "whitespace", "ambiguous", "not_found", "blank"]
    """How the chunk's text agrees with the source:

    - `exact`: it equals the source at `span`.
    - `whitespace`: it does but for white space. `span` goes from its first to its
      last other character.
    - `ambiguous`: it occurs, and more than one place is possible.
    - `not_found`: it does not occur where its neighbours leave room for it.
    - `blank`: it is empty or white space alone, and stands anywhere.
    """


_AMBIGUOUS = Location(None, "ambiguous")
_NOT_FOUND = Location(None, "not_found")
_BLANK = Location(None, "blank")


def locate(
    source: str, chunks: Sequence[str], *, complete: bool = True
) -> list[Location]:
    """Find the true span of each chunk in the text it was split from.

    Takes time linear in the length of the text.

    Args:
        source: The text that was split.
        chunks: The texts of its chunks, in the order the splitter made them, with
            or without overlap. Duplicates are welcome next to each other.
        complete: `chunks` are all the chunks of the text. Then chunks that can
            cover it, or what lies between two proved neighbours, without a gap
            are taken to do so. False for a sample: only uniqueness and order
            count.

    Returns:
        One location per chunk, in the order of the chunks.
    """
    bodies = [chunk.strip() for chunk in chunks]
    places = _places(source, [body for body in bodies if body], complete=complete)
    return [
        _location(source, chunk, body, next(places)) if body else _BLANK
        for chunk, body in zip(chunks, bodies, strict=True)
    ]


def _places(
    source: str, bodies: Sequence[str], *, complete: bool
) -> Iterator[tuple[int, int] | Location]:
    """Find where each body starts and ends in the source, or what is to be reported."""
    starts = chain(source, bodies) if complete else None
    if starts is not None:
        for start, body in zip(starts, bodies, strict=True):
            yield start, start + len(body)
        return
    squeezed = SqueezedText(source)
    pieces = [squeeze(body) for body in bodies]
    ranges: Sequence[Range | None] | None = None
    if complete:
        last = len(squeezed.flat) - len(pieces[-1])
        ranges = cover(squeezed.flat, pieces, 0, last)
    if ranges is None:
        ranges = anchor(squeezed.flat, pieces, complete=complete)
    for between, body, piece in zip(ranges, bodies, pieces, strict=True):
        if between is None:
            yield _NOT_FOUND
        elif between[0] != between[1]:
            yield _AMBIGUOUS
        else:
            start = squeezed.offset(between[0])
            if source.startswith(body, start):
                yield start, start + len(body)
            else:
                yield start, squeezed.offset(between[0] + len(piece) - 1) + 1


def _location(
    source: str, chunk: str, body: str, place: tuple[int, int] | Location
) -> Location:
    """Locate a chunk whose body, the chunk without outer white space, is placed."""
    if isinstance(place, Location):
        return place
    start, end = place
    # White space around the body belongs to the span where the source has it too.
    begin = start if chunk is body else start - chunk.index(body[0])
    if begin >= 0 and source.startswith(chunk, begin):
        return Location(Span(begin, begin + len(chunk)), "exact")
    return Location(Span(start, end), "whitespace")
