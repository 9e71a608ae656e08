"""Full documents: whole, or the largest selection of them that fits the window."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from oprag.calls import PromptSize
from oprag.chunk import Chunk, Span
from oprag.errors import ContextWindowError
from oprag.locating import locate
from oprag.routing.options import RouteOptions
from oprag.tokens import resolve_token_counter

_PIECES = 64
"""Into how many pieces of a selection documents are cut, at least."""
_SMALLEST, _LARGEST = 32, 512
"""Characters of a piece."""
_CHARACTERS = 4
"""Of a token, in English prose."""


class FullDocument(NamedTuple):
    """A document and its full text."""

    name: str
    """The name that it is looked up by."""
    text: str
    """All of it."""
    exact: bool = True
    """See `oprag.chunk.FullText`."""
    title: str = ""
    """Its name for people; empty where that is the same."""


class Excerpt(NamedTuple):
    """A slice of a document: `document.text[start:end]`, `span` being both."""

    document: FullDocument
    span: Span

    @property
    def text(self) -> str:
        """The characters of the slice."""
        return self.document.text[self.span.start : self.span.end]


_Piece: TypeAlias = tuple[int, int, int]
"""Index of the document, start and end."""


def excerpts_that_fit(
    documents: Sequence[FullDocument],
    chunks: Sequence[Chunk],
    options: RouteOptions,
    size: PromptSize,
) -> list[Excerpt]:
    """Return the documents whole, or what is selected of them for the window.

    Nothing is counted when the window is not known.

    Raises:
        ContextWindowError: Nothing of the documents fits beside the prompt.
    """
    kept = [Excerpt(each, Span(0, len(each.text))) for each in documents]
    room = size.room()
    if room is None:
        return kept
    excess = size.excess(joined(kept, options))
    cut = options.cut or largest_selection
    while excess:
        kept = cut(documents, chunks, room, options) if room > 0 else []
        if not kept:
            message = (
                f"Nothing of the documents fits a window of {size.window} tokens, of "
                f"which {size.reserved} are kept for the answer. Give a larger "
                "max_context_tokens."
            )
            raise ContextWindowError(message, window=size.window, needed=None)
        excess = size.excess(joined(kept, options))
        room -= excess  # where text and prompt meet, it may take a few tokens more
    return kept


def joined(excerpts: Sequence[Excerpt], options: RouteOptions) -> str:
    """Write excerpts, in reading order, one behind another as they are sent."""
    separator = options.context.separator
    texts: list[str] = []
    before: FullDocument | None = None
    for excerpt in excerpts:
        if before is not None:
            texts.append(separator)
        if before is not excerpt.document and options.named:
            name = " ".join((excerpt.document.title or excerpt.document.name).split())
            texts.append(f"Document: {name}{separator}")
        texts.append(excerpt.text)
        before = excerpt.document
    return "".join(texts)


def largest_selection(
    documents: Sequence[FullDocument],
    chunks: Sequence[Chunk],
    room: int,
    options: RouteOptions,
) -> list[Excerpt]:
    """Select as much of the documents as fits: first the retrieved chunks.

    The documents are cut where white space ends, about every 64th of the room, and
    where a chunk begins or ends. The pieces of the best chunk come first, then those
    of the second, and so on; then the pieces nearest to any chunk, equally near ones
    from the first document on.

    Args:
        documents: In reading order.
        chunks: What was retrieved of them, best first.
        room: Tokens that the excerpts may take joined (`joined`).
        options: What is written between excerpts, and how tokens are counted.

    Returns:
        Excerpts in document order that neither touch nor overlap; none where not
        even a piece fits.
    """
    counter = resolve_token_counter(options.context.token_counter)
    found = _found(documents, chunks)

    def key(piece: _Piece) -> tuple[float, float, _Piece]:
        place, start, end = piece
        apart = [
            max(-1, span.start - end, start - span.end) if at == place else math.inf
            for at, span in found
        ]
        rank = next((n for n, far in enumerate(apart) if far < 0), math.inf)
        return rank, min(apart, default=math.inf), piece

    size = min(max(_CHARACTERS * room // _PIECES, _SMALLEST), _LARGEST)
    pieces = sorted(_pieces(documents, found, size), key=key)

    def tokens(number: int) -> int:
        return counter(joined(_in_order(pieces[:number], documents), options))

    more = bisect.bisect_right(range(len(pieces) + 1), room, key=tokens)
    return _in_order(pieces[: more - 1], documents)


def _found(
    documents: Sequence[FullDocument], chunks: Sequence[Chunk]
) -> list[tuple[int, Span]]:
    """Find the chunks in the full texts: index of the document, and span; best first.

    One that was altered, or may be in several places, is passed over.
    """
    places = {document.name: place for place, document in enumerate(documents)}
    found = []
    for chunk in chunks:
        place = places.get(chunk.uri)
        if place is None:
            continue
        text = documents[place].text
        # Offsets of a part (a page) do not hold in the full text.
        span = chunk.span if chunk.exact and chunk.part is None else None
        if span is None or not text.startswith(chunk.text, span.start):
            span = locate(text, [chunk.text], complete=False)[0].span
        if span is not None:
            found.append((place, Span(*span)))
    return found


def _pieces(
    documents: Sequence[FullDocument], found: Sequence[tuple[int, Span]], size: int
) -> Iterator[_Piece]:
    """Cut the documents behind white space, and where a chunk begins or ends."""
    part = re.compile(
        rf".{{1,{size}}}(?:(?<=\s)(?=\S)|\Z)|.{{1,{size}}}", flags=re.DOTALL
    )
    for place, text in enumerate(document.text for document in documents):
        edges = {0, len(text)}.union(*(span for at, span in found if at == place))
        for first, last in itertools.pairwise(sorted(edges)):
            for match in part.finditer(text, first, last):
                yield place, *match.span()


def _in_order(
    pieces: Iterable[_Piece], documents: Sequence[FullDocument]
) -> list[Excerpt]:
    """Return the pieces in document order, those that touch made one."""
    spans: list[tuple[int, Span]] = []
    for place, start, end in sorted(pieces):
        touches = spans and spans[-1][0] == place and spans[-1][1].end == start
        first = spans.pop()[1].start if touches else start
        spans.append((place, Span(first, end)))
    return [Excerpt(documents[place], span) for place, span in spans]
