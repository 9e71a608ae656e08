"""Full documents: whole, or the largest selection of them that fits the window."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from oprag.calls import PromptSize, largest_fitting
from oprag.chunk import Chunk, Span
from oprag.errors import ContextWindowError
from oprag.locating import locate
from oprag.splitting import split_tokens
from oprag.tokens import Kept, NamedTokenCounter

_LARGEST_PIECE = 128
_SMALLEST_PIECE = 8
_PIECES_PER_ROOM = 64
_WORD_END = re.compile(r"\s+")
_LONGEST_WORD = 40
_cuts: Kept[list[tuple[int, int, int]]] = Kept()
"""The pieces of documents, which are the same for every question."""


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
    """The documents, and what is written between the slices of them."""

    documents: Sequence[FullDocument]
    """In reading order."""
    separator: str
    """Between two documents, and where something of a document was left out."""
    named: bool = True
    """Whether the name of each document is written before what is read of it."""


class FullContext(NamedTuple):
    """What is sent of the documents."""

    text: str
    """As it is sent."""
    excerpts: tuple[Excerpt, ...]
    """What it is made of, in reading order."""
    whole: bool
    """Whether it is the whole documents."""


class _Piece(NamedTuple):
    place: int
    """Index of its document."""
    start: int
    end: int
    tokens: int
    """Counted alone."""


def full_context(
    layout: Layout,
    chunks: Sequence[Chunk],
    size: PromptSize,
    counter: NamedTokenCounter,
) -> FullContext:
    """Return the documents whole, or as much of them as the window takes.

    What does not fit is cut to the retrieved chunks and what is nearest to them, in
    document order: see `largest_selection`.

    Args:
        layout: The documents, none of them blank.
        chunks: What was retrieved of them, best first.
        size: Of the prompt. Nothing is counted when its window is not known.
        counter: Counts tokens.

    Returns:
        The context. With a known window the whole prompt takes at most
        `window - reserved` tokens.

    Raises:
        ContextWindowError: Nothing of the documents fits beside the prompt.
    """
    every = tuple(Excerpt(each, Span(0, len(each.text))) for each in layout.documents)
    whole = joined(every, layout)
    room = size.room()
    if room is None or not size.excess(whole):
        return FullContext(whole, every, whole=True)
    while room > 0 and (kept := largest_selection(layout, chunks, room, counter)):
        text = joined(kept, layout)
        excess = size.excess(text)
        if not excess:
            return FullContext(text, tuple(kept), whole=False)
        room -= excess  # where text and prompt meet, it may take a few tokens more
    message = (
        f"Nothing of the documents fits a window of {size.window} tokens, of which "
        f"{size.reserved} are kept for the answer. Give a larger max_context_tokens."
    )
    raise ContextWindowError(message, window=size.window, needed=None)


def joined(excerpts: Sequence[Excerpt], layout: Layout) -> str:
    """Write excerpts one behind another, as they are sent.

    Args:
        excerpts: In reading order.
        layout: What is written between them.
    """
    texts: list[str] = []
    before: FullDocument | None = None
    for excerpt in excerpts:
        if before is not None:
            texts.append(layout.separator)
        if before is not excerpt.document and layout.named:
            name = " ".join(excerpt.document.name.split())
            texts.append(f"Document: {name}{layout.separator}")
        texts.append(excerpt.text)
        before = excerpt.document
    return "".join(texts)


def largest_selection(
    layout: Layout, chunks: Sequence[Chunk], room: int, counter: NamedTokenCounter
) -> list[Excerpt]:
    """Select as much of the documents as fits: first the retrieved chunks.

    The documents are cut into pieces of 1/64 of the room, but at least 8 and at most
    128 tokens, and where a chunk begins or ends. The pieces of the best chunk come
    first, then those of the second, and so on; then the pieces nearest to any chunk,
    equally near ones from the first document on.

    Args:
        layout: The documents.
        chunks: What was retrieved of them, best first.
        room: Tokens that the excerpts may take joined (`joined`).
        counter: Counts tokens.

    Returns:
        Excerpts in document order that neither touch nor overlap; none where not
        even a piece fits.
    """
    documents = layout.documents
    size = min(max(room // _PIECES_PER_ROOM, _SMALLEST_PIECE), _LARGEST_PIECE)
    cut = partial(_pieces, size=size, counter=counter)
    found = _found(documents, chunks)
    pieces = [
        piece
        for place, document in enumerate(documents)
        for each in _cuts.get(document.text, (size, counter), cut)
        for piece in _cut_at(found, _Piece(place, *each), document.text, counter)
    ]

    def key(piece: _Piece) -> tuple[float, float, int, int]:
        apart = [_apart(piece, *each) for each in found]
        rank = next((n for n, far in enumerate(apart) if far < 0), math.inf)
        return rank, min(apart, default=math.inf), piece.place, piece.start

    pieces.sort(key=key)
    single = list(itertools.accumulate((p.tokens for p in pieces), initial=0))

    def count(number: int) -> int:
        return counter(joined(_in_order(pieces[:number], documents), layout))

    def near(number: int, tokens: int) -> int:
        return bisect.bisect_right(single, single[number] + room - tokens) - 1

    fitting = largest_fitting(count, len(pieces), room, near)
    return _in_order(pieces[:fitting], documents)


def _cut_at(
    found: Sequence[tuple[int, Span]],
    piece: _Piece,
    text: str,
    counter: NamedTokenCounter,
) -> Iterator[_Piece]:
    """Cut a piece where a chunk begins or ends."""
    place, first, last, _ = piece
    edges = {edge for at, span in found if at == place for edge in span}
    inside = sorted(edge for edge in edges if first < edge < last)
    if not inside:
        yield piece
        return
    for start, end in itertools.pairwise([first, *inside, last]):
        yield _Piece(place, start, end, counter(text[start:end]))


def _found(
    documents: Sequence[FullDocument], chunks: Sequence[Chunk]
) -> list[tuple[int, Span]]:
    """Find the chunks in the full texts, best first.

    One that was altered, or may be in several places, is passed over.
    """
    places = {document.name: place for place, document in enumerate(documents)}
    found = []
    for chunk in chunks:
        place = places.get(chunk.name or chunk.document)
        span = None if place is None else _span_in(documents[place].text, chunk)
        if place is not None and span is not None:
            found.append((place, span))
    return found


def _span_in(text: str, chunk: Chunk) -> Span | None:
    # Offsets of a part (a page) do not hold in the full text.
    span = chunk.span if chunk.exact and chunk.part is None else None
    if span is not None and text.startswith(chunk.text, span.start):
        return Span(*span)
    return locate(text, [chunk.text], complete=False)[0].span


def _apart(piece: _Piece, place: int, span: Span) -> float:
    """Characters between a piece and a span; below 0 where they overlap."""
    if piece.place != place:
        return math.inf
    return max(-1, span.start - piece.end, piece.start - span.end)


def _pieces(
    text: str, size: int, counter: NamedTokenCounter
) -> list[tuple[int, int, int]]:
    """Cut a text; return start, end and tokens of each piece. They end at words."""
    pieces = []
    start = 0
    for window in split_tokens(text, chunk_size=size, tokenizer=counter):
        end = window.end
        if end < len(text) and not text[end - 1].isspace():
            space = _WORD_END.search(text, end, end + _LONGEST_WORD)
            end = space.end() if space else end
        if start < end:
            pieces.append((start, end, window.token_count))
            start = end
    return pieces


def _in_order(
    pieces: Iterable[_Piece], documents: Sequence[FullDocument]
) -> list[Excerpt]:
    """Return the pieces in document order, those that touch made one."""
    spans: list[tuple[int, Span]] = []
    for place, start, end, _ in sorted(pieces):
        touches = spans and spans[-1][0] == place and spans[-1][1].end == start
        first = spans.pop()[1].start if touches else start
        spans.append((place, Span(first, end)))
    return [Excerpt(documents[place], span) for place, span in spans]
