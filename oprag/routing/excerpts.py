"""The largest selection of some documents that fits, always in document order."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from oprag.calls import largest_fitting
from oprag.chunk import Chunk, Span
from oprag.locating import locate
from oprag.splitting import split_tokens
from oprag.tokens import Kept, NamedTokenCounter

_LARGEST_PIECE = 128
_SMALLEST_PIECE = 8
_PIECES_PER_ROOM = 64
"""Less than one piece of the room is left empty: a sixty-fourth of it or less."""
_WORD_END = re.compile(r"\s+")
_LONGEST_WORD = 40
_cuts: Kept[list[tuple[int, int, int]]] = Kept()
"""The small pieces of documents, which are the same for every question."""


class FullDocument(NamedTuple):
    """A document and its full text."""

    name: str
    """The name that chunks carry."""
    text: str
    """All of it."""
    exact: bool = True
    """See `oprag.chunk.FullText`."""


class Excerpt(NamedTuple):
    """A slice of a document: `document.text[start:end]`, `span` being both."""

    document: FullDocument
    span: Span

    @property
    def text(self) -> str:
        """The characters of the slice."""
        return self.document.text[self.span.start : self.span.end]


class Layout(NamedTuple):
    """The documents, and what stands between the slices of them."""

    documents: Sequence[FullDocument]
    """In reading order."""
    separator: str
    """Between two documents, and where something of a document was left out."""
    named: bool = True
    """Whether the name of each document stands before what is read of it."""

    def heading(self, document: FullDocument) -> str:
        """Return what stands before a document."""
        name = " ".join(document.name.split())
        return f"Document: {name}{self.separator}" if self.named else ""


class _Piece(NamedTuple):
    place: int
    """Index of its document."""
    start: int
    end: int
    tokens: int
    """Counted alone."""


def joined(
    excerpts: Sequence[Excerpt], layout: Layout, *, cut: int | None = None
) -> str:
    """Write excerpts one behind another, as they are sent.

    Args:
        excerpts: In reading order.
        layout: What stands between them.
        cut: Index of one before which something was left out, even where it is of
            another document than the one before it; None for no such place.
    """
    texts: list[str] = []
    before: FullDocument | None = None
    for place, excerpt in enumerate(excerpts):
        same = before is excerpt.document
        if before is not None or place == cut:
            texts.append(layout.separator)
        if not same:
            texts.append(layout.heading(excerpt.document))
        texts.append(excerpt.text)
        before = excerpt.document
    return "".join(texts)


def largest_selection(
    layout: Layout, chunks: Sequence[Chunk], room: int, counter: NamedTokenCounter
) -> list[Excerpt]:
    """Select as much of the documents as fits, the retrieved chunks first.

    Then comes, in small pieces, what is left of a chunk that was too long, and what
    stands nearest to a chunk, equally near from the first document on.

    Args:
        layout: The documents.
        chunks: What was retrieved of them, best first.
        room: Tokens that the excerpts may take joined (`joined`).
        counter: Counts tokens.

    Returns:
        Excerpts in document order that neither touch nor overlap. What they leave
        of the room is less than a piece (1/64 of the room, but at least 8 and at
        most 128 tokens), and the name of its document. None at all where not even a
        piece fits.
    """
    found = _retrieved(layout.documents, chunks, counter)
    kept = _as_many_as_fit([], found, layout, room, counter)
    rest = _rest(layout.documents, found, kept, room, counter)
    kept += _as_many_as_fit(kept, rest, layout, room, counter)
    return _in_order(kept, layout.documents)


def _retrieved(
    documents: Sequence[FullDocument],
    chunks: Sequence[Chunk],
    counter: NamedTokenCounter,
) -> list[_Piece]:
    """Where the chunks stand in the full texts, best first.

    One that was altered, or may stand in several places, is passed over: what it
    holds counts as any other part of its document.
    """
    places = {document.name: place for place, document in enumerate(documents)}
    pieces = []
    for chunk in chunks:
        place = places.get(chunk.name or chunk.document)
        span = None if place is None else _span_in(documents[place].text, chunk)
        if place is not None and span is not None and span.start < span.end:
            text = documents[place].text[span.start : span.end]
            pieces.append(_Piece(place, *span, counter(text)))
    return pieces


def _span_in(text: str, chunk: Chunk) -> Span | None:
    span = chunk.span
    # Offsets of a part (a page) do not hold in the full text.
    if span is not None and chunk.exact and chunk.part is None:
        start, end = span
        if text.startswith(chunk.text, start):
            return Span(start, end)
    return locate(text, [chunk.text], complete=False)[0].span


def _rest(
    documents: Sequence[FullDocument],
    found: Sequence[_Piece],
    kept: Sequence[_Piece],
    room: int,
    counter: NamedTokenCounter,
) -> list[_Piece]:
    """The documents in small pieces: chunks that were too long, then by nearness."""
    size = min(max(room // _PIECES_PER_ROOM, _SMALLEST_PIECE), _LARGEST_PIECE)
    pieces = [
        _Piece(place, *piece)
        for place, document in enumerate(documents)
        for piece in _cuts.get(
            document.text,
            (size, counter),
            partial(_small_pieces, size=size, counter=counter),
        )
    ]
    too_long = found[len(kept) :]

    def key(piece: _Piece) -> tuple[float, float, int, int]:
        ranks = (rank for rank, f in enumerate(too_long) if not _apart(piece, f))
        apart = (_apart(piece, f) for f in found)
        return next(ranks, math.inf), min(apart, default=math.inf), *piece[:2]

    return sorted(pieces, key=key)


def _apart(piece: _Piece, other: _Piece) -> float:
    """Characters between two pieces; 0 where they overlap or touch."""
    if piece.place != other.place:
        return math.inf
    return max(0, other.start - piece.end, piece.start - other.end)


def _small_pieces(
    text: str, size: int, counter: NamedTokenCounter
) -> list[tuple[int, int, int]]:
    """Start, end and tokens of each."""
    pieces = []
    start = 0
    for window in split_tokens(text, chunk_size=size, tokenizer=counter):
        end = _end_of_word(text, window.end)
        if start < end:
            pieces.append((start, end, window.token_count))
            start = end
    return pieces


def _end_of_word(text: str, place: int) -> int:
    """The end of the white space behind a word that a cut would fall into."""
    if place == 0 or place == len(text) or text[place - 1].isspace():
        return place
    space = _WORD_END.search(text, place, place + _LONGEST_WORD)
    return space.end() if space else place


def _as_many_as_fit(
    kept: Sequence[_Piece],
    pieces: Sequence[_Piece],
    layout: Layout,
    room: int,
    counter: NamedTokenCounter,
) -> list[_Piece]:
    """The longest beginning of `pieces` that fits beside those that are kept.

    How many that are is guessed from their single counts; what is kept has been
    counted joined.
    """
    single = list(itertools.accumulate((p.tokens for p in pieces), initial=0))

    def count(number: int) -> int:
        taken = _in_order([*kept, *pieces[:number]], layout.documents)
        return counter(joined(taken, layout))

    base = count(0)

    def near(number: int, tokens: int) -> int:
        left = room - (tokens or base)
        return bisect.bisect_right(single, single[number] + left) - 1

    return list(pieces[: largest_fitting(count, len(pieces), room, near)])


def _in_order(
    pieces: Iterable[_Piece], documents: Sequence[FullDocument]
) -> list[Excerpt]:
    """The pieces in document order, those that touch or overlap made one."""
    spans: list[tuple[int, Span]] = []
    for piece in sorted(pieces):
        if spans and spans[-1][0] == piece.place and piece.start <= spans[-1][1].end:
            start, end = spans.pop()[1]
            spans.append((piece.place, Span(start, max(end, piece.end))))
        else:
            spans.append((piece.place, Span(piece.start, piece.end)))
    return [Excerpt(documents[place], span) for place, span in spans]
