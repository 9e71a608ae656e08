"""The context of a step of Self-Route: chunks, or documents, that fit the window."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from oprag.calls import PromptSize
from oprag.chunk import Chunk, FullText, Hit, Passage, Span
from oprag.citations import as_line
from oprag.context import (
    CandidateTail,
    ContextOptions,
    arrange,
    count_unnumbered,
    number_text,
    too_small,
    write_place,
)
from oprag.errors import BudgetTooSmallError, ContextWindowError, OpragError
from oprag.metadata import UNNAMED, document_key
from oprag.ordering import document_order
from oprag.positions import document_metadata, identify_documents
from oprag.routing.options import RouteOptions

_CUT = "cut to the window"


class Excerpt(NamedTuple):
    """A slice of a document, or all of it if nothing was cut."""

    name: str
    """The name that the document is looked up by."""
    text: str
    span: Span
    """The characters of the document that it is."""
    exact: bool = True
    """See `oprag.chunk.FullText`."""
    title: str = ""
    """The document's name for people; empty if that is the same."""

    @classmethod
    def whole(cls, name: str, text: FullText, title: str = "") -> Self:
        """Return a document as an excerpt that is all of it."""
        return cls(name, text.text, Span(0, len(text.text)), text.exact, title)

    def cut(self, start: int, end: int) -> Self:
        """Return a slice of a whole document."""
        return self._replace(text=self.text[start:end], span=Span(start, end))


def join_excerpts(excerpts: Sequence[Excerpt], options: RouteOptions) -> str:
    """Write excerpts in reading order, one after another, as sent."""
    texts: list[str] = []
    before = None
    for excerpt in excerpts:
        if options.named and excerpt.name != before:
            before = excerpt.name
            texts.append(f"Document: {as_line(excerpt.title or excerpt.name)}")
        texts.append(excerpt.text)
    return options.context.separator.join(texts)


def largest_selection(
    documents: Sequence[Excerpt], hits: Sequence[Hit], room: int, options: RouteOptions
) -> list[Excerpt]:
    """Select as much of the documents as fits: the hits, then the text beside them.

    Returns:
        Excerpts in reading order that neither touch nor overlap; none if not even the
        best hit fits, or no hit is in its document.
    """
    whole = {document.name: document for document in documents}
    filled = replace(
        options.context,
        documents={name: document.text for name, document in whole.items()},
        token_budget=room,
        merge=True,
        order="document",
        on_problem="warn",
    )
    beside = CandidateTail(widen="fill", beside=frozenset(range(len(hits))))
    try:
        passages = arrange(hits, filled, neighbours=beside).passages
    except BudgetTooSmallError:
        return []
    return [
        whole[passage.text_id].cut(*span)
        for passage in passages
        for span in passage.spans
        if passage.text_id in whole
    ]


@dataclass(frozen=True, slots=True)
class StepContext:
    """The context of one step."""

    text: str
    """The context as the prompt has it; empty for none."""
    chunks: tuple[Chunk, ...] = ()
    """The retrieved chunks that it holds, or of whose documents it is, in reading
    order (best first with `order="rank"`)."""
    excerpts: tuple[Excerpt, ...] = ()
    """Its excerpts of full documents, in reading order."""
    note: str | None = None
    """Text that was left out, or an unknown window."""
    whole: bool = False
    """Whether it is the whole documents."""
    problems: tuple[OpragError, ...] = ()
    """Problems of documents whose chunks are therefore in rank order."""

    def described(self) -> Iterator[tuple[Excerpt, list[Chunk], dict[str, Any]]]:
        """Yield each excerpt with its chunks and its metadata.

        Yields:
            The excerpt, the retrieved chunks of its document, and its metadata: the
            document's name as `doc_uri`, the values that these chunks agree on, and its
            place. Its rank is that of the best of these chunks, or its place among the
            excerpts.
        """
        chunks: dict[str, list[Chunk]] = {}
        for chunk in self.chunks:
            chunks.setdefault(chunk.text_id, []).append(chunk)
        for place, excerpt in enumerate(self.excerpts):
            name, text, span, exact, title = excerpt
            read = chunks.get(name, [])
            key = read[0].document_key if read else document_key(name)
            rank = min((chunk.rank for chunk in read), default=place)
            chunk = Chunk(
                *(text, key, rank),
                span=span,
                document_name=title or name,
                proof="compared" if exact else "recorded",
            )
            known = document_metadata(name, [chunk.metadata for chunk in read])
            passage = Passage(text, key, (chunk,), (span,))
            yield excerpt, read, write_place(passage, known)


def context_of_chunks(
    hits: Sequence[Hit], options: RouteOptions, size: PromptSize, tokens: int | None
) -> StepContext:
    """Make a context of the best retrieved chunks.

    In document order, chunks that touch or overlap are joined, so that the text
    reads as its author wrote it. With `order="rank"` they stay apart, best first,
    each after its number, as in the paper.

    Returns:
        The context; empty for no hits, and for blank ones.
    """
    by_rank = options.context.order == "rank"
    sent_text = options.sent_text
    if by_rank:
        sent_text = _number_chunks(hits, options)
    limits = tokens, size.room()
    budget = min((limit for limit in limits if limit is not None), default=None)
    while True:
        fitted = replace(options.context, token_budget=budget, merge=not by_rank)
        arranged = arrange(hits, fitted, sent_text=sent_text)
        passages = arranged.passages
        texts = [
            sent_text(passage.chunks[0], passage.text) if sent_text else passage.text
            for passage in passages
        ]
        text = fitted.separator.join(texts)
        excess = size.excess(text)
        if budget is None or not excess:
            break
        # Joined to the prompt, the context may take a few tokens more.
        if budget <= excess:
            raise too_small(budget, budget + excess)
        budget -= excess
    cut = not arranged.used_all and budget != tokens
    return StepContext(
        text,
        tuple(chunk for passage in passages for chunk in passage.chunks),
        note=_CUT if cut else None,
        problems=arranged.problems,
    )


def _number_chunks(
    hits: Sequence[Hit], options: RouteOptions
) -> Callable[[Chunk, str], str]:
    """Return the function that writes each chunk as sent, after its number."""
    sent_text, numbers = options.sent_text, dict[Hashable, int]()
    if options.context.position_keys is not None:  # others are whole numbers
        every = replace(
            options.context, token_budget=None, selection="budget", merge=False
        )
        passages = arrange(hits, every).passages
        numbers = count_unnumbered([passage.chunks[0] for passage in passages])

    def write_numbered(chunk: Chunk, text: str) -> str:
        sent = text if sent_text is None else sent_text(chunk, text)
        number = numbers.get((chunk.document_key, chunk.position))
        return number_text(chunk, sent, number)

    return write_numbered


def chunks_of_documents(hits: Sequence[Hit], options: ContextOptions) -> list[Chunk]:
    """Find the documents that were retrieved, each by its chunks.

    Returns:
        The chunks of those documents in reading order.

    Raises:
        MissingDocumentError: A hit does not say which document it is from.
    """
    key, places = options.document_key, options.position_keys
    identify_documents(hits, document_key=key, position_keys=places)  # or refuses them
    lenient = replace(options, order="rank", on_problem="warn")
    passages = arrange(hits, lenient).passages
    chunks = [passage.chunks[0] for passage in passages]
    named = [chunk for chunk in chunks if not chunk.document_key.startswith(UNNAMED)]
    return document_order(named)


def context_of_documents(
    documents: Sequence[Excerpt],
    hits: Sequence[Hit],
    options: RouteOptions,
    size: PromptSize,
    chunks: Sequence[Chunk] = (),
) -> StepContext:
    """Make a context of whole documents, or of as much of them as fits.

    Args:
        documents: All of each.
        hits: Best first.
        options: Those of the route.
        size: Of the prompt.
        chunks: The retrieved chunks of these documents, in reading order.

    Returns:
        The context; empty for no documents.
    """
    whole = [document for document in documents if document.text.strip()]
    kept, room = whole, size.room() or 0
    while excess := size.excess(join_excerpts(kept, options)):
        if kept is not whole:  # joined to the prompt, it may take a few more
            room -= excess
        cut = options.cut or largest_selection
        kept = cut(whole, hits, room, options) if room > 0 else []
        if not kept:
            message = (
                f"Nothing of the documents fits a window of {size.window} tokens, of "
                f"which {size.reserved} are kept for the answer. Give a larger "
                "window, max_context_tokens=."
            )
            raise ContextWindowError(message, window=size.window, needed=None)
    text, is_whole = join_excerpts(kept, options), kept is whole
    note = _CUT if not is_whole else size.note if whole else None
    return StepContext(text, tuple(chunks), tuple(kept), note, is_whole)
