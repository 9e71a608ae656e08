"""Systems that read the best chunks: vanilla RAG, OP-RAG, DOS RAG, the defaults.

They are one pipeline. Vanilla RAG and DOS RAG differ in the order alone, as in the
DOS RAG paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from oprag.context import ContextOptions, Order, Selection, arrange
from oprag.errors import invalid_option
from oprag.retrieving import FetchPlan
from oprag_eval.bench import Bench, Search
from oprag_eval.data import Question
from oprag_eval.official.dos_rag import (
    OfficialSplitting,
    fill_officially,
    join_officially,
    pieces_of,
)
from oprag_eval.requests import read
from oprag_eval.splittings import Splitting, SplitUnit
from oprag_eval.system import Attempt, Context, Count, Piece, System

Compat: TypeAlias = Literal["fixed", "official"]
"""`"official"`: as the authors' code does it, losses included."""


@dataclass(frozen=True, kw_only=True)
class Retrieved(System):
    """Reads the best chunks that fit the budget, in some order.

    Each budget is filled best first, up to the first chunk that does not fit; the
    separators count.

    Raises:
        InvalidOptionError: `compat="official"` with settings that the authors' code
            does not have.
    """

    name: str
    order: Order
    unit: SplitUnit = "sentences"
    """The unit of the chunks' size."""
    size: tuple[Count, ...] = (100,)
    """Sizes of the chunks, in that unit; chunks of several sizes are in one index."""
    search: Search = "vectors"
    top_n: Count | None = None
    """Chunks that are read, in place of a budget, as in OP-RAG's paper."""
    selection: Selection = "budget"
    compat: Compat = "fixed"

    def __post_init__(self) -> None:
        asked = self.unit, len(self.size), self.search, self.top_n, self.selection
        if self.compat == "official" and asked != (
            *("sentences", 1, "vectors", None, "budget"),
        ):
            takes = (
                "The authors split into sentences of one size, search by vectors, stop "
                "at the first chunk that does not fit, and take one chunk for each 50 "
                "tokens of the budget: leave out unit, search, top_n and selection."
            )
            raise invalid_option("compat", "official", takes)

    @property
    def budgeted(self) -> bool:
        """Whether a budget bounds the text that is read, and not a number of chunks."""
        return self.top_n is None

    async def attempt(
        self, question: Question, budget: int | None, bench: Bench
    ) -> Attempt:
        """Read the chosen chunks and answer."""
        return await read(question, self.context(question, budget, bench), bench)

    def context(self, question: Question, budget: int | None, bench: Bench) -> Context:
        """Choose and order the chunks; no model is asked."""
        if self.compat == "official":
            return self._official(question, budget, bench)
        options = ContextOptions(
            token_budget=budget,
            token_counter=bench.counter,
            order=self.order,
            top_n=self.top_n,
            selection=self.selection,
        )
        k = None
        if self.selection == "recall":  # as many as the core asks a store for
            plan = FetchPlan.to_fill(options.require_budget() or 1, "recall")
            k = plan.k
        cuts = [Splitting(self.unit, size) for size in self.size]
        ranked = bench.ranked(question, *cuts, search=self.search, k=k)
        passages = arrange(ranked, options).passages
        text = options.separator.join(passage.text for passage in passages)
        pieces = tuple(
            Piece(passage.text_id, *span)
            for passage in passages
            for span in passage.spans
        )
        return Context(text, pieces)

    def _official(
        self, question: Question, budget: int | None, bench: Bench
    ) -> Context:
        """Choose as the authors do; documents follow in the order of the set."""
        ranked = bench.ranked(question, OfficialSplitting(self.unit, *self.size))
        kept = fill_officially(ranked, budget or 0, bench.counter)
        if self.order == "document":
            names = [each.doc_id for each in bench.dataset.documents_of(question)]
            kept.sort(key=lambda hit: hit.metadata["number"])
            kept.sort(key=lambda hit: names.index(hit.metadata["doc_uri"]))
        text = join_officially(kept)
        return Context(text, tuple(piece for hit in kept for piece in pieces_of(hit)))
