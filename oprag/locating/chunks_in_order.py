"""Find the place of each chunk in its source text, or say that it is not certain.

The chunks are all that a splitter made of the text, in order, so each begins
inside the one before it or right after it. That tells repeated text apart, which
searching for a chunk alone would not. A chunk's text may differ from the source in
its white space. Nothing is guessed: a chunk that could be in two places is
reported, and so is one that was altered. The proofs are in `contiguity` and
`anchors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from oprag.chunk import Span
from oprag.locating.anchors import anchor
from oprag.locating.contiguity import Range
from oprag.locating.pieces import gaps_after, pieces_of
from oprag.locating.squeezed_text import SqueezedText, squeeze


class Location(NamedTuple):
    """The place of a chunk in its source."""

    span: Span | None
    """Characters of the source, or None if the place is not proved."""
    status: Literal["exact", "whitespace", "inside", "ambiguous", "not_found", "blank"]
    """The agreement of the chunk's text with the source:

    - `exact`: it equals the source at `span`.
    - `whitespace`: it does but for white space. `span` goes from its first
      character that is not white space to its last.
    - `inside`: the source's text at `span` is a part of it, with something before or
      after it that the source does not have there: a header, or the rest of a character
      that was cut (U+FFFD).
    - `ambiguous`: it occurs, and more than one place is possible.
    - `not_found`: it does not occur where its neighbours leave room for it.
    - `blank`: it is empty or white space alone, so any place fits.
    """


_AMBIGUOUS = Location(None, "ambiguous")
_NOT_FOUND = Location(None, "not_found")
_BLANK = Location(None, "blank")


def locate(
    source: str, chunks: Sequence[str], *, complete: bool = True
) -> list[Location]:
    """Find the true span of each chunk in the text it was split from.

    White space, as `str.isspace` defines it, never counts. A place is proved

    - by contiguity: it is the same in all the ways to lay the chunks over the
      source so that they cover it from its first character to its last, and each
      chunk begins inside the one before it or right after it and ends no earlier.
      How much chunks overlap need not be known. If nothing overlaps, there is only
      one way, however often the text repeats itself;
    - if there is no such way, as chunks were altered or text was dropped: by
      being the only place in the source, or both the earliest and the latest that
      the order of the chunks allows, or by contiguity between two proved chunks.

    An altered chunk is reported, unless the altered text also occurs in the source
    between the chunk's neighbours: then it is placed there. One that was cut inside a
    character at an end (U+FFFD) is looked up without it. Splitters applied one
    after another may step back where the outer chunks overlap; that is allowed for.

    Takes time and memory linear in the length of source and chunks. Deterministic.

    Args:
        source: The text that was split; for a document of several parts, such as
            pages, the one part.
        chunks: The texts of its chunks, in the order the splitter made them.
        complete: `chunks` are all the chunks of the source. False for a sample of
            them, still in order: then contiguity proves nothing, and order proves
            only places that lie more than 1,024 characters apart.

    Returns:
        One location per chunk, in the order of the chunks.
    """
    squeezed = SqueezedText(source)
    pieces = pieces_of(squeezed.flat, chunks)
    solid = [piece for piece in pieces if piece.text]
    texts = [piece.text for piece in solid]
    gaps = gaps_after(solid)
    found = iter(anchor(squeezed.flat, texts, complete=complete, gaps=gaps))
    locations = []
    for chunk, piece in zip(chunks, pieces, strict=True):
        if piece.text:
            locations.append(_location(squeezed, chunk, piece.text, next(found)))
        else:
            locations.append(_NOT_FOUND if chunk.strip() else _BLANK)
    return locations


def _location(
    squeezed: SqueezedText, chunk: str, piece: str, between: Range | None
) -> Location:
    if between is None:
        return _NOT_FOUND
    if between[0] != between[1]:
        return _AMBIGUOUS
    return placed_at(squeezed, chunk, piece, between[0])


def placed_at(squeezed: SqueezedText, chunk: str, piece: str, index: int) -> Location:
    """Locate a chunk in a text."""
    start = squeezed.offset(index)
    # White space around the chunk belongs to the span if the source has it too.
    begin = start - (len(chunk) - len(chunk.lstrip()))
    if begin >= 0 and squeezed.text.startswith(chunk, begin):
        return Location(Span(begin, begin + len(chunk)), "exact")
    end = squeezed.offset(index + len(piece) - 1) + 1
    is_whole = len(piece) == len(squeeze(chunk))
    return Location(Span(start, end), "whitespace" if is_whole else "inside")
