"""One question put to an index: the chunks by score, and the passages to read."""

from __future__ import annotations

from typing import NamedTuple

from langchain_core.vectorstores import VectorStore

from langchain_oprag import OrderPreservingRetriever
from oprag.assembly import order_context
from oprag.chunk import Chunk, Passage
from oprag.ordering import rank_order
from oprag.rendering import render
from oprag.tokens import resolve_token_counter

__all__ = ["Retrieved", "retrieve"]


class Retrieved(NamedTuple):
    """What a question brought."""

    question: str
    passages: tuple[Passage, ...]
    """In document order, neighbouring chunks merged."""
    passage_tokens: tuple[int, ...]
    """Tokens of each passage's text."""
    tokens: int
    """Tokens of all passages as they are sent, separators included."""

    @property
    def by_score(self) -> list[Chunk]:
        """The chunks best first, as a retriever returns them."""
        return rank_order(self.in_document_order)

    @property
    def in_document_order(self) -> list[Chunk]:
        """The same chunks as they are read."""
        return [chunk for passage in self.passages for chunk in passage.chunks]


def retrieve(
    vectorstore: VectorStore, question: str, *, token_budget: int, k: int | None = None
) -> Retrieved:
    """Retrieve as many of the best chunks as fit a budget, and put them in order.

    Args:
        vectorstore: Of chunks that oprag's splitters made.
        question: Any text.
        token_budget: Tokens for the passages as they are sent.
        k: Chunks at most; None for as many as fit.

    Raises:
        BudgetTooSmallError: Not even the best chunk fits.
    """
    retriever = OrderPreservingRetriever(
        vectorstore=vectorstore, token_budget=token_budget, order="score"
    )
    best_first = retriever.invoke(question)[:k]
    passages = order_context(
        [document.page_content for document in best_first],
        [document.metadata for document in best_first],
        merge=True,
    )
    counter = resolve_token_counter()
    each = tuple(counter(passage.text) for passage in passages)
    return Retrieved(question, tuple(passages), each, counter(render(passages)))
