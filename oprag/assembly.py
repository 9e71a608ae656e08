"""The steps composed: retrieved hits in, ordered passages within a budget out.

    hits -> chunks -> without duplicates -> selected -> in order -> passages

Both adapters and `order_context` call `assemble`; nothing else decides order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from oprag.checking import check_positions, without_duplicates
from oprag.chunk import Chunk, Passage
from oprag.counting import SentText, context_counter, joint_counter
from oprag.errors import InputMismatchError
from oprag.hit import Hit
from oprag.identity import read_documents
from oprag.merging import merge_neighbours, single_passage
from oprag.metadata import TOKEN_COUNT, TOKEN_COUNTER
from oprag.options import ContextOptions
from oprag.ordering import document_order, rank_order
from oprag.positions import read_chunks
from oprag.rendering import without_mark
from oprag.schemes import as_number
from oprag.selection import fill_budget, too_small
from oprag.tokens import NamedTokenCounter, resolve_token_counter

__all__ = ["Assembled", "SentText", "assemble", "falling_scores", "order_context"]


class Assembled(NamedTuple):
    """What `assemble` made of the hits."""

    passages: list[Passage]
    """In reading order, or best first with `order="score"`."""
    used_all: bool
    """Whether every chunk was used, so that more could have been: False as soon
    as `top_n` or the budget left one out."""


def order_context(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]] | None = None,
    scores: Sequence[float | None] | None = None,
    **options: Any,
) -> list[Passage]:
    """Put retrieved texts into the order of their documents, within a budget.

    For applications without LangChain or LlamaIndex; the adapters do the same.

    Args:
        texts: Best first, as retrieval returned them. May be empty.
        metadatas: One mapping per text, with the document's identity and the
            position under any of the known keys, or under your own with
            `document_key=` and `position_keys=`.
        scores: One per text, as reported; carried along and used only by
            `document_order="score_sum"`. The order of `texts` is the relevance.
        **options: The fields of `ContextOptions`: `token_budget=`, `top_n=`,
            `merge=`, `order=` and so on.

    Returns:
        Passages in reading order; `passage.text` to send, `passage.citation` to
        cite. `oprag.render` joins them. Unmerged, there is one per chunk.

    Raises:
        InputMismatchError: The lists differ in length.
        InvalidOptionError: An option is unknown or its value is not possible.
        MissingDocumentError: A text does not say which document it is from.
        PositionError: Positions are missing or contradict each other.
        BudgetTooSmallError: Not even the best chunk fits.

    Example:
        >>> passages = order_context(
        ...     ["the end", "the beginning"],
        ...     [{"source": "a", "start_index": 90}, {"source": "a", "start_index": 0}],
        ... )
        >>> [passage.text for passage in passages]
        ['the beginning', 'the end']
    """
    checked = ContextOptions.from_options(options)
    metadatas = [{} for _ in texts] if metadatas is None else metadatas
    scores = [None] * len(texts) if scores is None else scores
    lengths = {
        "texts": len(texts),
        "metadatas": len(metadatas),
        "scores": len(scores),
    }
    if len(set(lengths.values())) > 1:
        message = (
            "texts, metadatas and scores belong together and differ in length: "
            f"{lengths}. Give one metadata mapping and one score per text."
        )
        raise InputMismatchError(message, lengths=lengths)
    hits = [
        Hit(text, metadata, score=score)
        for text, metadata, score in zip(texts, metadatas, scores, strict=True)
    ]
    return assemble(hits, checked).passages


def assemble(
    hits: Sequence[Hit],
    options: ContextOptions,
    *,
    sent_text: SentText | None = None,
) -> Assembled:
    """Select the best hits, put them in order, and join them into passages.

    Args:
        hits: Best first. Not changed.
        options: See `ContextOptions`.
        sent_text: What the framework sends for a chunk, if not just its text;
            the budget counts this.

    Returns:
        The passages. Together, as they are sent and joined by
        `options.separator`, they take at most `options.token_budget` tokens. None
        for no hits.

    Raises:
        MissingDocumentError: See `read_documents`.
        PositionError: See `read_chunks`, `check_positions`, `merge_neighbours`.
        BudgetTooSmallError: See `fill_budget`.
    """
    if options.gap_mark is not None:
        hits = [_unmarked(hit, options) for hit in hits]
    documents = read_documents(
        hits,
        document_key=options.document_key,
        missing_document=options.missing_document,
    )
    chunks = read_chunks(
        hits,
        documents,
        position_keys=options.position_keys,
        missing_position=options.missing_position,
    )
    chunks = check_positions(
        without_duplicates(chunks), missing_position=options.missing_position
    )
    best = chunks if options.top_n is None else chunks[: options.top_n]
    if options.token_budget is None:
        return Assembled(_finish(best, options), len(best) == len(chunks))
    passages = _within_budget(best, options.token_budget, options, sent_text)
    used = sum(len(passage.chunks) for passage in passages)
    return Assembled(passages, used == len(chunks))


def falling_scores(count: int) -> list[float]:
    """Scores from 1 downwards in equal steps, so that sorting by them keeps order.

    For applications that sort by a score afterwards (`rescore=`).
    """
    return [(count - index) / count for index in range(count)]


def _unmarked(hit: Hit, options: ContextOptions) -> Hit:
    text = without_mark(
        hit.text, gap_mark=options.gap_mark, separator=options.separator
    )
    return hit if text is hit.text else hit._replace(text=text)


def _finish(chunks: Sequence[Chunk], options: ContextOptions) -> list[Passage]:
    ordered = document_order(chunks, document_order=options.document_order)
    if options.merge:
        passages = merge_neighbours(
            ordered, max_gap=options.max_gap, source_text=options.source_text()
        )
        if options.order == "score":
            passages.sort(key=lambda passage: passage.rank)
        return passages
    if options.order == "score":
        ordered = rank_order(chunks)
    return [single_passage(chunk) for chunk in ordered]


def _within_budget(
    chunks: Sequence[Chunk],
    budget: int,
    options: ContextOptions,
    sent_text: SentText | None,
) -> list[Passage]:
    counter = resolve_token_counter(options.token_counter)
    joint = options.separator
    if options.gap_mark is not None:
        joint += options.gap_mark + options.separator
    kept = fill_budget(
        chunks,
        budget,
        cost=_cost_function(counter, sent_text),
        join_cost=counter(joint),
        overflow=options.overflow,
    )
    # Joined, the parts may take a few tokens more than apart: so the finished
    # context is what has to fit.
    count = context_counter(
        counter,
        separator=options.separator,
        gap_mark=options.gap_mark,
        sent_text=sent_text,
    )
    passages = _finish(kept, options)
    while (needed := count(passages)) > budget:
        if len(kept) == 1:
            raise too_small(budget, needed)
        worst = max(kept, key=lambda chunk: chunk.rank)
        kept = [chunk for chunk in kept if chunk is not worst]
        passages = _finish(kept, options)
    return passages


def _cost_function(
    counter: NamedTokenCounter, sent_text: SentText | None
) -> Callable[[Chunk], int]:
    """Tokens of a chunk as it is sent, from its stored count where it can be."""
    headers: dict[str, int] = {}
    joined = joint_counter(counter, "")

    def cost(chunk: Chunk) -> int:
        sent = chunk.text if sent_text is None else sent_text(chunk, chunk.text)
        stored = None
        if counter.name and chunk.metadata.get(TOKEN_COUNTER) == counter.name:
            stored = as_number(chunk.metadata.get(TOKEN_COUNT))
        # LlamaIndex strips the text that it puts behind a header.
        if stored is None or not chunk.exact or not sent.endswith(chunk.text):
            return counter(sent)
        if sent == chunk.text:
            return stored
        header = sent.removesuffix(chunk.text)
        known = counter.additive_at_spaces or counter.subadditive
        if not known or not header[-1].isspace():
            return counter(sent)
        if header not in headers:
            headers[header] = counter(header)
        return headers[header] + stored + joined(header, chunk.text)

    return cost
