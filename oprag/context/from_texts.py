"""Turn texts and their metadata into ordered passages, without a framework."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Unpack

from oprag.chunk import Hit, Passage, interleave
from oprag.context.assembly import arrange
from oprag.context.options import ContextKeywords, ContextOptions
from oprag.context.problems import Problems
from oprag.context.ranks import sort_by_rank
from oprag.context.seen import Seen, SeenLike
from oprag.documents import SourceLike, check_entries
from oprag.errors import InvalidOptionError, describe_type
from oprag.result_key import drop_rank


class OrderContextKeywords(ContextKeywords, total=False):
    """The options of `order_context`, for type checkers."""

    documents: SourceLike | None


class OrderedPassages(list[Passage]):
    """A list of passages that says why they were chosen."""

    def __init__(self, passages: Iterable[Passage], why: Mapping[str, Any]) -> None:
        super().__init__(passages)
        self.why = why
        """The ranks that were `kept`, and those `dropped` for each reason (`duplicate`,
        `version`, `blank`, `seen`, `top_n`, `token_budget`); `doubts`, by document the
        keys that may show several files under its name, and `page` if it may count
        from 1, and its number in citations be one too high; `ids`, by the rank of a
        merged passage the ids of its chunks; the `tokens` that were used and those
        `left`."""


def _lengths(values: Any) -> Any:
    """Return the length of a list, or of each of its lists if it is of searches."""
    if interleave(values) is not values:
        return [len(each) for each in values]
    return len(values) if hasattr(values, "__len__") else describe_type(values)


def _hits(texts: Any, metadatas: Any, scores: Any) -> list[Hit]:
    metadatas = [{} for _ in texts] if metadatas is None else metadatas
    scores = [None for _ in texts] if scores is None else scores
    rows = zip(texts, metadatas, scores, strict=True)
    return [Hit(text, metadata, score=score) for text, metadata, score in rows]


def order_context(
    texts: Sequence[str] | Sequence[Sequence[str]],
    metadatas: Sequence[Mapping[str, Any]]
    | Sequence[Sequence[Mapping[str, Any]]]
    | None = None,
    scores: Sequence[float | None] | Sequence[Sequence[float | None]] | None = None,
    *,
    top_n: int | None = None,
    seen: SeenLike | None = None,
    **options: Unpack[OrderContextKeywords],
) -> OrderedPassages:
    """Put retrieved texts into the order of their documents, within a budget.

    For applications without LangChain or LlamaIndex; the adapters do the same.

    Args:
        texts: Best first, as retrieval returned them. May be empty. For several
            searches a list of lists, here and below: the best of each come first.
        metadatas: One mapping per text, with the document's identity and the
            position under any of the known keys, or under your own with
            `document_key=` and `position_keys=`.
        scores: One per text, as reported; carried along for your own use, such as a
            function as `sort_documents=`. The order of `texts` is the relevance.
        top_n: The number of best texts to keep; None for all.
        seen: Text that the reader has read already: passages of an earlier call, or
            `[document, part, start, end]` for each span (the document by its name or
            key, `part` None for a document of one text). These characters are cut
            out before anything is selected, so that a budget is filled with others.
            Those of passages are cut out only if the text is the same. If `seen` is
            given, even empty, no character comes twice, merged or not; `top_n`
            counts the texts that have something left.
        **options: The others of `ContextOptions`: `token_budget=`, `merge=`,
            `order=` and so on.

    Returns:
        Passages in reading order; `passage.text` to send, `passage.citation` to
        cite. `oprag.render` joins them. Unmerged, there is one per chunk. With
        `on_problem="warn"` chunks that could not be put in order say why, as their
        `problem`. The list's `why` says which texts were kept and left out, and how
        much of the budget is left.

    Raises:
        InvalidOptionError: An option is unknown or its value is not possible; the
            lists differ in length; `texts` is a single text; or an entry is no text
            or no mapping.
        MissingDocumentError: A text does not say which document it is from.
        PositionError: Positions are missing or contradict each other.
        BudgetTooSmallError: Not even the best chunk fits.

    Warns:
        PositionWarning: Instead of a `MissingDocumentError` or `PositionError`, with
            `on_problem="warn"`.

    Example:
        >>> passages = order_context(
        ...     ["the end", "the beginning"],
        ...     [{"source": "a", "start_index": 90}, {"source": "a", "start_index": 0}],
        ... )
        >>> [passage.text for passage in passages]
        ['the beginning', 'the end']
    """
    checked = ContextOptions.from_options({"top_n": top_n, **options})
    check_entries("texts", interleave(texts), str)
    given = {"texts": texts, "metadatas": metadatas, "scores": scores}
    lengths = {name: _lengths(each) for name, each in given.items() if each is not None}
    if any(length != lengths["texts"] for length in lengths.values()):
        message = f"The lists differ in length: {lengths}. Give one of each per text."
        raise InvalidOptionError(message, option="metadatas", value=lengths)
    if metadatas is not None:
        check_entries("metadatas", interleave(metadatas), Mapping)
    if interleave(texts) is texts:
        hits = _hits(texts, metadatas, scores)
    else:
        of_texts = repeat(None) if metadatas is None else metadatas
        scored = repeat(None) if scores is None else scores
        rows = zip(texts, of_texts, scored)  # noqa: B905 -- checked above
        searches = [_hits(*row) for row in rows]
        listed = interleave([sort_by_rank(each, each, checked) for each in searches])
        # The ranks of each search are not those of this list.
        hits = [hit._replace(metadata=drop_rank(hit.metadata)) for hit in listed]
    read = None if seen is None else Seen(seen)
    arranged = arrange(hits, checked, seen=read)
    Problems("order_context").warn(arranged.problems)
    return OrderedPassages(arranged.passages, arranged.why)
