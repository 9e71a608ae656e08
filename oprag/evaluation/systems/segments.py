"""What this project chooses by rank and position: relevant segments, and `recall`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oprag.context import ContextOptions, FetchPlan, Selection, candidates_for
from oprag.evaluation.bench import Bench, Search
from oprag.evaluation.contexts import Context, order_chosen
from oprag.evaluation.data import Question
from oprag.evaluation.official.segments import OfficialSegments
from oprag.evaluation.reading import Reader
from oprag.evaluation.splittings import Splitting, SplitUnit
from oprag.evaluation.system import Count, System
from oprag.evaluation.systems.retrieved import Compat


@dataclass(frozen=True)
class Placed(Reader):
    """Reads what the core's `selection` chooses for the budget, in document order.

    As a retriever would, it chooses from as many of the best chunks as the core asks
    a store for. Text that touches is joined.
    """

    name: str
    splittings: tuple[Splitting, ...]
    """Chunks of all of them are in one index."""
    selection: Selection
    search: Search = "vectors"
    documents: bool = True
    """Whether it has the full texts to fill gaps from."""

    def settings(self) -> dict[str, Any]:
        """Return the splittings, the search and the selection."""
        cut = [splitting.settings() for splitting in self.splittings]
        return {
            "splitting": cut if len(cut) > 1 else cut[0],
            "selection": self.selection,
            **({} if self.search == "vectors" else {"search": self.search}),
            **({} if self.documents else {"documents": False}),
        }

    @property
    def choice(self) -> dict[str, Any]:
        """Return all settings: there is one order."""
        return self.settings()

    def context(self, question: Question, budget: int | None, bench: Bench) -> Context:
        """Choose and order.

        Raises:
            BudgetTooSmallError: Not even the best chunk fits.
            InvalidOptionError: There is no budget.
        """
        options = ContextOptions(
            token_budget=budget,
            token_counter=bench.counter,
            selection=self.selection,
            merge=True,
            documents=self._texts(question, bench),
        )
        plan = FetchPlan(options.needed_budget() or 1, candidates_for(self.selection))
        return order_chosen(
            bench.ranked(question, *self.splittings, search=self.search, k=plan.k),
            order="document",
            options=options,
            counter=bench.counter,
            seed="",
        )

    def _texts(self, question: Question, bench: Bench) -> dict[str, str] | None:
        if not self.documents:
            return None
        return {d.doc_id: d.text for d in bench.documents(question)}


def segments(
    *,
    name: str = "segments",
    unit: SplitUnit = "sentences",
    size: Count = 100,
    compat: Compat = "fixed",
) -> System:
    """Runs of neighbouring text worth most, in tokens (after dsRAG).

    With `compat="official"` by dsRAG's own limits of chunks, which know no budget.
    """
    splitting = Splitting(unit, size)
    if compat == "official":
        return OfficialSegments(name, splitting)
    return Placed(name, (splitting,), "segments")


def recall(
    *,
    name: str = "recall",
    unit: SplitUnit = "sentences",
    size: Count = 100,
    search: Search = "vectors",
) -> Placed:
    """What `selection="recall"` reads: the best chunks, and what stands beside them."""
    return Placed(name, (Splitting(unit, size),), "expand", search)


def recommended(
    *, name: str = "recommended", sizes: tuple[Count, ...] = (256, 64)
) -> Placed:
    """What this project recommends: two sizes in one index, BM25, and `recall`.

    As `docs/selection.md` prints it: whole sentences, `bm25=True`,
    `selection="recall"`, and nothing but the store to read from.
    """
    splittings = tuple(Splitting("sentences", size) for size in sizes)
    return Placed(name, splittings, "expand", "hybrid", documents=False)
