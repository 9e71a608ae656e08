"""One question put to an index: the chunks by score, and the passages to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from langchain_oprag import OrderPreservingRetriever
from oprag.chunk import Chunk, Passage
from oprag.context import Order, Selection, Widen, order_context, render
from oprag.tokens import resolve_token_counter


class Retrieved(NamedTuple):
    """What a question brought."""

    question: str
    passages: tuple[Passage, ...]
    """As they are to be read."""
    passage_tokens: tuple[int, ...]
    """Tokens of each passage's text."""
    tokens: int
    """Tokens of `context`, separators and citations included."""
    context: str
    """The passages as they are sent."""

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks as they are to be read."""
        return [chunk for passage in self.passages for chunk in passage.chunks]

    @property
    def by_score(self) -> list[Chunk]:
        """The chunks best first, as a retriever returns them."""
        return sorted(self.chunks, key=lambda chunk: chunk.rank)


def retrieve(
    vectorstore: VectorStore,
    question: str,
    *,
    token_budget: int,
    k: int | None = None,
    widen: Widen | None = None,
    selection: Selection = "budget",
    order: Order = "document",
    merge: bool = True,
    citations: bool = False,
) -> Retrieved:
    """Retrieve as many of the best chunks as fit a budget, and put them in order.

    Args:
        vectorstore: Where they are.
        question: What is asked.
        token_budget: Tokens of all passages.
        k: Chunks at most; None for as many as fit.
        widen: See `OrderPreservingRetriever`; `k` does not count what it adds to a
            selection by budget.
        selection: See `oprag.context.Selection`.
        order: See `oprag.order_context`.
        merge: As above.
        citations: As above.

    Raises:
        BudgetTooSmallError: Not even the best chunk fits.
    """
    retriever = OrderPreservingRetriever(
        vectorstore=vectorstore,
        token_budget=token_budget,
        selection=selection,
        order="score",
        merge=False,
        widen=widen,
    )
    if k is not None and widen is not None and selection == "budget":
        retriever.k, k = k, None
    best_first = retriever.invoke(question)[:k]
    passages = ordered_passages(
        best_first,
        order=order,
        merge=merge,
        token_budget=token_budget,
        citations=citations,
    )
    counter = resolve_token_counter()
    context = render(passages, citations=citations)
    each = tuple(counter(passage.text) for passage in passages)
    return Retrieved(question, tuple(passages), each, counter(context), context)


def ordered_passages(
    documents: Sequence[Document],
    *,
    order: Order,
    merge: bool,
    token_budget: int | None = None,
    citations: bool = False,
) -> list[Passage]:
    """Put retrieved documents, best first, in the order they are to be read in."""
    return order_context(
        [document.page_content for document in documents],
        [document.metadata for document in documents],
        order=order,
        merge=merge,
        token_budget=token_budget,
        citations=citations,
    )


def retrieved_values(retrieved: Retrieved) -> dict[str, Any]:
    """A question, its chunks by score, and its passages in reading order.

    Returns:
        Strings, integers, None, and lists and mappings of them. Spans are
        `[start, end]` in characters of the document or, where there are pages, of
        the page, end exclusive; ranks count from 0, the best.
    """
    return {
        "question": retrieved.question,
        "tokens": retrieved.tokens,
        "by_score": [_chunk_values(chunk) for chunk in retrieved.by_score],
        "passages": [
            {
                "text": passage.text,
                "document": passage.name,
                "page": passage.chunks[0].metadata.get("page_label"),
                "spans": [list(span) for span in passage.spans],
                "citation": passage.citation,
                "tokens": tokens,
                "ranks": [chunk.rank for chunk in passage.chunks],
            }
            for passage, tokens in zip(
                retrieved.passages, retrieved.passage_tokens, strict=True
            )
        ],
    }


def _chunk_values(chunk: Chunk) -> dict[str, Any]:
    return {
        "rank": chunk.rank,
        "document": chunk.name,
        "page": chunk.metadata.get("page_label"),
        "span": list(chunk.span or ()),
        "text": chunk.text,
    }
