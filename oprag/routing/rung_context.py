"""The context of a step of Self-Route: chunks, or documents, that fit the window."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from oprag.calls import PromptSize
from oprag.chunk import Chunk, Hit, Passage, Span
from oprag.context import (
    ContextOptions,
    arrange,
    numbered_text,
    place_metadata,
    too_small,
)
from oprag.errors import ContextWindowError, OpragError
from oprag.locating import locate
from oprag.metadata import document_key
from oprag.ordering import document_order
from oprag.positions import UNNAMED, document_metadata, read_documents
from oprag.routing.options import RouteOptions
from oprag.tokens import resolve_token_counter

_PIECES = 64
"""Into how many pieces of a selection documents are cut, at least."""
_SMALLEST, _LARGEST = 32, 512
"""Characters of a piece."""
_CHARACTERS = 4
"""Characters of a token, in English prose."""


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


def joined(excerpts: Sequence[Excerpt], options: RouteOptions) -> str:
    """Write excerpts, in reading order, one after another as they are sent."""
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

    Returns:
        Excerpts in document order that neither touch nor overlap; none where not
        even a piece fits.
    """
    counter = resolve_token_counter(options.context.token_counter)
    found = _found(documents, chunks)
    size = min(max(_CHARACTERS * room // _PIECES, _SMALLEST), _LARGEST)
    part = re.compile(
        rf".{{1,{size}}}(?:(?<=\s)(?=\S)|\Z)|.{{1,{size}}}", flags=re.DOTALL
    )
    pieces = []
    for place, text in enumerate(document.text for document in documents):
        near = [(rank, span) for rank, (at, span) in enumerate(found) if at == place]
        edges = sorted({0, len(text)}.union(*(span for _, span in near)))
        cuts = itertools.pairwise(edges)
        for piece in itertools.chain(*(part.finditer(text, *cut) for cut in cuts)):
            start, end = piece.span()
            apart = [max(-1, s.start - end, start - s.end) for _, s in near]
            over = [rank for rank, s in near if s.start < end and start < s.end]
            first = min(over, default=math.inf), min(apart, default=math.inf)
            pieces.append((*first, place, start, end))
    pieces.sort()

    def excerpts(number: int) -> list[Excerpt]:
        """Return the best pieces in document order, those that touch made one."""
        spans: list[tuple[int, Span]] = []
        for place, start, end in sorted(piece[2:] for piece in pieces[:number]):
            touches = spans and spans[-1][0] == place and spans[-1][1].end == start
            first = spans.pop()[1].start if touches else start
            spans.append((place, Span(first, end)))
        return [Excerpt(documents[place], span) for place, span in spans]

    def tokens(number: int) -> int:
        return counter(joined(excerpts(number), options))

    more = bisect.bisect_right(range(len(pieces) + 1), room, key=tokens)
    return excerpts(more - 1)


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


@dataclass(frozen=True, slots=True)
class RungContext:
    """The context of one step."""

    text: str
    """The context as it is in the prompt; empty for nothing."""
    chunks: tuple[Chunk, ...] = ()
    """The retrieved chunks that it holds, or of whose documents it is, in reading
    order (best first with `order="score"`)."""
    excerpts: tuple[Excerpt, ...] = ()
    """Its excerpts of full documents, in reading order."""
    note: str | None = None
    """Text that was left out or is not exact, or an unknown window."""
    whole: bool = False
    """Whether it is the whole documents."""
    problems: tuple[OpragError, ...] = ()
    """Problems of documents whose chunks are therefore in rank order."""

    @property
    def exact(self) -> bool:
        """Whether all that it holds of full documents is their exact text."""
        return all(excerpt.document.exact for excerpt in self.excerpts)

    def described(self) -> Iterator[tuple[Excerpt, list[Chunk], dict[str, Any]]]:
        """Yield each excerpt with what is known of it.

        Yields:
            The excerpt, the retrieved chunks of its document, and its metadata: the
            document's name as `doc_uri`, what these chunks agree on, and its place. Its
            rank is that of the best of these chunks, or its place among the excerpts.
        """
        chunks: dict[str, list[Chunk]] = {}
        for chunk in self.chunks:
            chunks.setdefault(chunk.uri, []).append(chunk)
        for place, excerpt in enumerate(self.excerpts):
            name = excerpt.document.name
            read = chunks.get(name, [])
            key = read[0].document if read else document_key(name)
            rank = min((chunk.rank for chunk in read), default=place)
            title = excerpt.document.title or name
            chunk = Chunk(excerpt.text, key, rank, name=title)
            spans, exact = (excerpt.span,), excerpt.document.exact
            passage = Passage(excerpt.text, key, (chunk,), spans, exact)
            written = place_metadata(passage)
            known = document_metadata(name, [chunk.metadata for chunk in read])
            yield excerpt, read, {**known, **written}


def context_of_chunks(
    hits: Sequence[Hit], options: RouteOptions, size: PromptSize, tokens: int | None
) -> RungContext:
    """Make a context of the best retrieved chunks.

    In document order, chunks that touch or overlap are joined, so that the text
    reads as its author wrote it. With `order="score"` they stay apart, best first,
    each after its number, as in the paper.

    Returns:
        The context; empty for no hits, and for blank ones.
    """
    by_score = options.context.order == "score"
    sent_text = options.sent_text
    if by_score:
        sent = sent_text or (lambda _, text: text)
        sent_text = lambda chunk, text: numbered_text(chunk, sent(chunk, text))  # noqa: E731 -- as short as that
    limits = [limit for limit in (tokens, size.room()) if limit is not None]
    budget = min(limits, default=None)
    while True:
        fitted = replace(options.context, token_budget=budget, merge=not by_score)
        arranged = arrange(hits, fitted, sent_text=sent_text)
        passages = arranged.passages
        texts = [passage.text for passage in passages]
        if not any(map(str.strip, texts)):
            return RungContext("")
        if sent_text is not None:
            texts = [sent_text(p.chunks[0], p.text) for p in passages]
        text = fitted.separator.join(texts)
        excess = size.excess(text)
        if budget is None or not excess:
            break
        # Where the context meets the prompt, it may take a few tokens more.
        if budget <= excess:
            raise too_small(budget, budget + excess)
        budget -= excess
    cut = not arranged.used_all and budget != tokens
    return RungContext(
        text,
        tuple(chunk for passage in passages for chunk in passage.chunks),
        note="cut to the window" if cut else None,
        problems=arranged.problems,
    )


def chunks_of_documents(hits: Sequence[Hit], options: ContextOptions) -> list[Chunk]:
    """Find the documents that were retrieved, each by its chunks.

    Returns:
        The chunks of those documents in reading order.

    Raises:
        MissingDocumentError: A hit does not say which document it is from.
    """
    keys: Any = {
        "document_key": options.document_key,
        "position_keys": options.position_keys,
    }
    read_documents(hits, **keys)  # what cannot be named cannot be read
    lenient = ContextOptions(order="score", on_problem="warn", **keys)
    passages = arrange(hits, lenient).passages
    chunks = [passage.chunks[0] for passage in passages]
    named = [chunk for chunk in chunks if not chunk.document.startswith(UNNAMED)]
    return document_order(named)


def context_of_documents(
    documents: Sequence[FullDocument],
    chunks: Sequence[Chunk],
    options: RouteOptions,
    size: PromptSize,
) -> RungContext:
    """Make a context of whole documents, or of as much of them as fits.

    Returns:
        The context; empty for no documents.
    """
    counter = resolve_token_counter(options.context.token_counter)
    written = [document for document in documents if document.text.strip()]
    best_first = sorted(chunks, key=lambda chunk: chunk.rank)
    excerpts = _that_fit(written, best_first, options, size)
    whole = [excerpt.text for excerpt in excerpts] == [each.text for each in written]
    notes = [size.note] if size.note and written else []
    if not whole:
        total = sum(counter(document.text) for document in written)
        kept = sum(counter(excerpt.text) for excerpt in excerpts)
        notes = [f"cut to the window: {kept} of {total} tokens"]
    inexact = [repr(document.name) for document in documents if not document.exact]
    if inexact:
        notes.append(f"not the exact text: {', '.join(inexact)}")
    note = "; ".join(notes) or None
    text = joined(excerpts, options)
    return RungContext(text, tuple(chunks), tuple(excerpts), note, whole)


def _that_fit(
    documents: Sequence[FullDocument],
    chunks: Sequence[Chunk],
    options: RouteOptions,
    size: PromptSize,
) -> list[Excerpt]:
    """Return the documents whole, or what is selected of them for the window."""
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
