"""What a step of Self-Route gives the model to read, fitted to its window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oprag.calls import WINDOW_UNKNOWN, PromptSize
from oprag.chunk import Chunk, Hit, Passage, named_characters
from oprag.context import (
    ALONE,
    ContextOptions,
    Neighbours,
    SentText,
    arrange,
    numbering,
    place_metadata,
    too_small,
)
from oprag.errors import BudgetTooSmallError, OpragError
from oprag.metadata import document_key
from oprag.ordering import document_order
from oprag.positions import UNNAMED, document_metadata, read_documents
from oprag.routing.full_documents import Excerpt, FullDocument, Layout
from oprag.routing.options import RouteOptions
from oprag.tokens import resolve_token_counter


@dataclass(frozen=True, slots=True)
class RungContext:
    """What one step gives the model to read."""

    text: str
    """The context as it stands in the prompt; empty for nothing."""
    chunks: tuple[Chunk, ...] = ()
    """The retrieved chunks that it holds, or of whose documents it is, in reading
    order (best first with `order="score"`)."""
    excerpts: tuple[Excerpt, ...] = ()
    """What it holds of full documents, in reading order."""
    note: str | None = None
    """What was left out, that the window is unknown, or which text is not exact."""
    whole: bool = False
    """Whether it is the whole documents."""
    problems: tuple[OpragError, ...] = ()
    """What is wrong with documents, so that chunks of them stand by their ranks."""

    @property
    def exact(self) -> bool:
        """Whether all that it holds of full documents is their exact text."""
        return all(excerpt.document.exact for excerpt in self.excerpts)

    def described(self) -> Iterator[tuple[Excerpt, list[Chunk], dict[str, Any]]]:
        """Yield each excerpt with what is known of it.

        Yields:
            The excerpt, the retrieved chunks of its document, and its metadata: the
            document's name as `doc_uri`, what these chunks agree on, and its place, as
            every result has it. Its rank is that of the best of these chunks, or its
            place among the excerpts; `oprag_exact` is False also where the text of the
            document is not proved to be its exact text.
        """
        chunks: dict[str, list[Chunk]] = {}
        for chunk in self.chunks:
            chunks.setdefault(chunk.name or chunk.document, []).append(chunk)
        best = {name: min(c.rank for c in of_one) for name, of_one in chunks.items()}
        known = {
            name: document_metadata(name, [chunk.metadata for chunk in of_one])
            for name, of_one in chunks.items()
        }
        for place, excerpt in enumerate(self.excerpts):
            name, spans = excerpt.document.name, (excerpt.span,)
            read = chunks.get(name, [])
            written = place_metadata(
                excerpt.text,
                rank=best.get(name, place),
                citation=f"{name}, {named_characters(spans)}",
                document=name,
                key=read[0].document if read else document_key(name),
                spans=spans,
                exact=excerpt.document.exact,
            )
            metadata = known.get(name) or document_metadata(name, ())
            yield excerpt, read, {**metadata, **written}


def context_of_chunks(
    hits: Sequence[Hit],
    options: ContextOptions,
    size: PromptSize,
    *,
    sent_text: SentText | None = None,
    neighbours: Neighbours = ALONE,
) -> RungContext:
    """Make a context of the best retrieved chunks.

    In document order, chunks that touch or overlap are joined, so that the text
    reads as its author wrote it. With `order="score"` they stay apart, best first,
    each behind its number (`oprag.context.rendering`), as in the paper.

    Args:
        hits: Best first.
        options: `token_budget` is the rung's; `merge` does not matter.
        size: Of the prompt. As many of the best chunks as fit its window are kept.
        sent_text: What the framework sends for a chunk, if not just its text.
        neighbours: See `arrange`.

    Returns:
        The context; empty for no hits, and for blank ones whatever metadata the
        framework would send with them.

    Raises:
        BudgetTooSmallError: Not even the best chunk fits.
        ContextWindowError: The prompt alone fills the window.
        OpragError: As `arrange` does.
    """
    room = size.room()
    limits = [limit for limit in (options.token_budget, room) if limit is not None]
    budget = min(limits, default=None)
    if options.order == "score":
        sent_text = _numbered(hits, options, sent_text)
    while True:
        fitted = replace(
            options, token_budget=budget, merge=options.order == "document"
        )
        arranged = arrange(hits, fitted, sent_text=sent_text, neighbours=neighbours)
        passages = arranged.passages()
        if not any(passage.text.strip() for passage in passages):
            return RungContext("")
        text = _joined(passages, options, sent_text)
        excess = size.excess(text)
        if budget is None or not excess:
            break
        # Where the context meets the prompt, it may take a few tokens more.
        if budget <= excess:
            raise too_small(budget, budget + excess)
        budget -= excess
    cut = not arranged.used_all and budget != options.token_budget
    return RungContext(
        text,
        tuple(chunk for passage in passages for chunk in passage.chunks),
        note="cut to the window" if cut else None,
        problems=arranged.problems,
    )


def is_enough(hits: Sequence[Hit], options: ContextOptions, tokens: int) -> bool:
    """Return whether as many chunks were retrieved as fill a number of tokens.

    Args:
        hits: Best first.
        options: As `context_of_chunks` takes them; their own budget does not matter.
        tokens: To fill.

    Raises:
        OpragError: As `arrange` does, but for a budget that is too small.
    """
    try:
        return not arrange(hits, replace(options, token_budget=tokens)).used_all
    except BudgetTooSmallError:
        return True


def _joined(
    passages: Sequence[Passage], options: ContextOptions, sent_text: SentText | None
) -> str:
    texts = [passage.text for passage in passages]
    if sent_text is not None:
        pairs = zip(passages, texts, strict=True)
        texts = [sent_text(passage.chunks[0], text) for passage, text in pairs]
    return options.separator.join(texts)


def _numbered(
    hits: Sequence[Hit], options: ContextOptions, sent_text: SentText | None
) -> SentText:
    chunks = chunks_of_documents(hits, options)
    number = numbering(chunk.document for chunk in chunks)

    def numbered(chunk: Chunk, text: str) -> str:
        return number(chunk, text if sent_text is None else sent_text(chunk, text))

    return numbered


def chunks_of_documents(hits: Sequence[Hit], options: ContextOptions) -> list[Chunk]:
    """Find the documents that were retrieved, each by its chunks.

    Args:
        hits: Best first.
        options: Where identity and position are. Positions that are missing or
            doubtful are no fault here.

    Returns:
        The chunks of those documents in reading order.

    Raises:
        MissingDocumentError: A hit does not say which document it is from.
    """
    lenient = replace(
        options,
        token_budget=None,
        top_n=None,
        merge=False,
        order="score",
        on_problem="warn",
        documents=None,
    )
    read_documents(  # what cannot be named cannot be read
        hits, document_key=options.document_key, position_keys=options.position_keys
    )
    passages = arrange(hits, lenient).passages()
    chunks = [passage.chunks[0] for passage in passages]
    named = [chunk for chunk in chunks if not chunk.document.startswith(UNNAMED)]
    return document_order(named, document_order=options.document_order)


def context_of_documents(
    documents: Sequence[FullDocument],
    chunks: Sequence[Chunk],
    options: RouteOptions,
    size: PromptSize,
) -> RungContext:
    """Make a context of whole documents, or of as much of them as fits.

    Args:
        documents: In reading order.
        chunks: What was retrieved of them, in reading order.
        options: Separator, token counter, and how it is cut.
        size: Of the prompt, and the window that it has to fit.

    Returns:
        The context; empty for no documents.

    Raises:
        ContextWindowError: See `full_context`.
    """
    counter = resolve_token_counter(options.context.token_counter)
    written = [document for document in documents if document.text.strip()]
    layout = Layout(written, options.context.separator, options.named)
    best_first = sorted(chunks, key=lambda chunk: chunk.rank)
    sent = options.full_context(layout, best_first, size, counter)
    notes = [WINDOW_UNKNOWN] if size.window is None and sent.text else []
    if not sent.whole:
        total = sum(counter(document.text) for document in documents)
        kept = sum(counter(excerpt.text) for excerpt in sent.excerpts)
        notes = [f"cut to the window: {kept} of {total} tokens"]
    inexact = [repr(document.name) for document in documents if not document.exact]
    if inexact:
        notes.append(f"not the exact text: {', '.join(inexact)}")
    note = "; ".join(notes) or None
    return RungContext(sent.text, tuple(chunks), sent.excerpts, note, sent.whole)
