"""Text chosen by rank and position: `selection="recall"`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oprag.context import ContextOptions, FetchPlan, candidates_for
from oprag_eval.bench import Bench, Search
from oprag_eval.contexts import Context, context_of
from oprag_eval.data import Question
from oprag_eval.reading import Reader
from oprag_eval.splittings import Splitting, SplitUnit
from oprag_eval.system import Count


@dataclass(frozen=True)
class Placed(Reader):
    """Reads what `selection="recall"` chooses for the budget, in document order.

    As a retriever would, it chooses from as many of the best chunks as the core asks
    a store for.
    """

    name: str
    splittings: tuple[Splitting, ...]
    """Chunks of all of them are in one index."""
    search: Search = "vectors"
    documents: bool = True
    """Whether it has the full texts to fill gaps from."""

    def settings(self) -> dict[str, Any]:
        """Return the splittings and the search."""
        cut = [splitting.settings() for splitting in self.splittings]
        return {
            "splitting": cut if len(cut) > 1 else cut[0],
            "selection": "recall",
            "search": self.search,
            "documents": self.documents,
        }

    def context(self, question: Question, budget: int | None, bench: Bench) -> Context:
        """Choose and order.

        Raises:
            BudgetTooSmallError: Not even the best chunk fits.
            InvalidOptionError: There is no budget.
        """
        options = ContextOptions(
            token_budget=budget,
            token_counter=bench.counter,
            selection="recall",
            documents=self._texts(question, bench),
        )
        plan = FetchPlan(options.needed_budget() or 1, candidates_for("recall"))
        splittings, search = self.splittings, self.search
        ranked = bench.ranked(question, *splittings, search=search, k=plan.k)
        return context_of(ranked, options, bench.counter)

    def _texts(self, question: Question, bench: Bench) -> dict[str, str] | None:
        if not self.documents:
            return None
        return {d.doc_id: d.text for d in bench.documents(question)}


def recall(
    *,
    name: str = "recall",
    unit: SplitUnit = "sentences",
    size: Count = 100,
    search: Search = "vectors",
) -> Placed:
    """What `selection="recall"` reads: the best chunks, and what stands beside them."""
    return Placed(name, (Splitting(unit, size),), search)


def recommended(
    *, name: str = "recommended", sizes: tuple[Count, ...] = (256, 64)
) -> Placed:
    """What this project recommends: two sizes in one index, BM25, and `recall`.

    As `docs/selection.md` prints it: whole sentences, `bm25=True`,
    `selection="recall"`, and nothing but the store to read from.
    """
    splittings = tuple(Splitting("sentences", size) for size in sizes)
    return Placed(name, splittings, "hybrid", documents=False)
