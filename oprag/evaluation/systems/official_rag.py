"""Vanilla RAG and DOS RAG as the code of the DOS RAG paper runs them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from oprag.errors import BudgetTooSmallError
from oprag.evaluation.bench import Bench, query_text
from oprag.evaluation.contexts import Context, chunk_set
from oprag.evaluation.data import Document, Question
from oprag.evaluation.official.dos_filling import (
    TOKENS_PER_CHUNK,
    fill_officially,
    join_officially,
)
from oprag.evaluation.official.dos_splitting import OfficialChunk, split_officially
from oprag.evaluation.systems.reading import read
from oprag.evaluation.systems.system import Attempt, Piece, System
from oprag.evaluation.vectors import Matrix, best_first


@dataclass(frozen=True)
class OfficialRag(System):
    """Splits, fills the budget and joins by the authors' rules (`evaluation.official`).

    The prompts are this project's, and the query the question with its options below
    it. Several documents follow one another in the order of the set.
    """

    name: str
    size: int
    order: Literal["document", "score"]

    def settings(self) -> dict[str, Any]:
        """Return the size of chunks and the order."""
        return {"compat": "official", "size": self.size, "order": self.order}

    async def attempt(
        self, question: Question, budget: int | None, bench: Bench
    ) -> Attempt:
        """Read the chosen chunks and answer.

        Raises:
            BudgetTooSmallError: The authors' rules choose nothing.
        """
        return await read(
            question,
            self.context(question, budget, bench),
            bench,
            choice=json.dumps({"compat": "official", "size": self.size}),
        )

    def context(self, question: Question, budget: int | None, bench: Bench) -> Context:
        """Choose and order; no model is asked.

        Raises:
            BudgetTooSmallError: See `attempt`.
        """
        chunks: list[tuple[str, OfficialChunk]] = []
        scores: list[float] = []
        query = bench.vectors.of_query(query_text(question))
        for document in bench.documents(question):
            if found := self._chunks(document, bench):
                chunks += [(document.doc_id, chunk) for chunk in found]
                scores += (self._vectors(document, bench) @ query).tolist()
        ranked = [(place, chunks[place][1].text) for place in best_first(scores)]
        kept = [place for place, _ in ranked]
        if budget is not None:
            kept = fill_officially(ranked, budget, bench.counter)
            if ranked and not kept:
                raise _nothing_fits(budget, bench.counter(ranked[0][1]))
        if self.order == "document":
            kept = sorted(kept)
        text = join_officially([chunks[place][1].text for place in kept])
        pieces = tuple(
            Piece(chunks[place][0], *span)
            for place in kept
            for span in chunks[place][1].spans
        )
        return Context(text, pieces, bench.counter(text), chunk_set(pieces))

    def _chunks(self, document: Document, bench: Bench) -> list[OfficialChunk]:
        return bench.kept(
            ("official chunks", document.doc_id, self.size),
            lambda: split_officially(document.text, self.size, bench.counter),
        )

    def _vectors(self, document: Document, bench: Bench) -> Matrix:
        return bench.kept(
            ("official vectors", document.doc_id, self.size),
            lambda: bench.vectors.of_texts(
                [chunk.text for chunk in self._chunks(document, bench)]
            ),
        )


def _nothing_fits(budget: int, tokens: int) -> BudgetTooSmallError:
    needed = max(TOKENS_PER_CHUNK, tokens)
    message = (
        f"token_budget={budget} holds no chunk by the authors' rules, which take one "
        f"for each {TOKENS_PER_CHUNK} tokens of the budget: the best has {tokens}. "
        f"Give a budget of at least {needed}."
    )
    return BudgetTooSmallError(message, token_budget=budget, needed=needed)
