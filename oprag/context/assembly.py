"""The steps composed: retrieved hits in, ordered passages within a budget out.

    hits -> chunks -> without duplicates -> selected -> in order -> passages

What fits a token budget is decided in `budgeting.py`.

Both adapters and `order_context` call `assemble`: it alone says what is right. For the
usual case the adapters ask `plain_case.py` first, a short way to the same result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from oprag.chunk import Chunk, Hit, Passage
from oprag.context.budgeting import Filler, finish
from oprag.context.counting import SentText
from oprag.context.docstrings import list_options
from oprag.context.options import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
)
from oprag.context.rendering import without_mark
from oprag.errors import InputMismatchError, InvalidOptionError
from oprag.positions import (
    check_positions,
    read_chunks,
    read_documents,
    without_duplicates,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Assembled(NamedTuple):
    """What `assemble` made of the hits."""

    passages: list[Passage]
    """In reading order, or best first with `order="score"`."""
    used_all: bool
    """Whether every chunk was used, so that more could have been: False as soon
    as `top_n` or the budget left one out."""


@list_options({name: DESCRIPTIONS[name] for name in DEFAULTS})
def order_context(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]] | None = None,
    scores: Sequence[float | None] | None = None,
    *,
    top_n: int | None = None,
    **options: Unpack[ContextKeywords],
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
        top_n: Texts to keep, of the best; None for all.
        **options: The others of `ContextOptions`: `token_budget=`, `merge=`,
            `order=` and so on.

    Returns:
        Passages in reading order; `passage.text` to send, `passage.citation` to
        cite. `oprag.render` joins them. Unmerged, there is one per chunk.

    Raises:
        InputMismatchError: The lists differ in length.
        InvalidOptionError: An option is unknown or its value is not possible; or
            `texts` is a single text, or an entry is no text or no mapping.
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
    checked = ContextOptions.from_options({"top_n": top_n, **options})
    if isinstance(texts, str):
        message = "texts is a single text, and its letters are none. Give a list."
        raise InvalidOptionError(message, option="texts", value=texts)
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
    _check_entries("texts", texts, str, "a text")
    _check_entries("metadatas", metadatas, Mapping, "a mapping; {} for none")
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
    chunks = prepared_chunks(hits, options)
    best = chunks if options.top_n is None else chunks[: options.top_n]
    budget = options.needed_budget()
    if budget is None:
        return Assembled(finish(best, options), len(best) == len(chunks))
    filler = Filler(options, sent_text)
    listed = filler.listed(best, budget)
    taken = filler.taken(listed, budget)
    # Segments leave out what is worth nothing; more of the same would not be used.
    used_all = len(taken) == len(listed) and options.selection != "segments"
    return Assembled(filler.finished(taken), used_all and len(best) == len(chunks))


def prepared_chunks(hits: Sequence[Hit], options: ContextOptions) -> list[Chunk]:
    """Read where hits stand and check it; drop what came twice.

    Args:
        hits: Best first.
        options: Where documents and positions are, and what to do without.

    Returns:
        Chunks best first, ready to be selected.

    Raises:
        MissingDocumentError: See `read_documents`.
        PositionError: See `read_chunks` and `check_positions`.
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
    return check_positions(
        without_duplicates(chunks), missing_position=options.missing_position
    )


def falling_scores(count: int) -> list[float]:
    """Scores from 1 downwards in equal steps, so that sorting by them keeps order.

    For applications that sort by a score afterwards (`rescore=`).
    """
    return [(count - index) / count for index in range(count)]


def _check_entries(name: str, entries: Sequence[Any], kind: type, wanted: str) -> None:
    """Reject an entry of another type, and say which it is."""
    for index, entry in enumerate(entries):
        if not isinstance(entry, kind):
            place = f"{name}[{index}]"
            message = f"{place} is {entry!r:.60}. It has to be {wanted}."
            raise InvalidOptionError(message, option=place, value=entry)


def _unmarked(hit: Hit, options: ContextOptions) -> Hit:
    text = without_mark(
        hit.text, gap_mark=options.gap_mark, separator=options.separator
    )
    return hit if text is hit.text else hit._replace(text=text)
