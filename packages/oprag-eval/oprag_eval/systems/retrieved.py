"""Systems that read the best chunks: vanilla RAG, OP-RAG, DOS RAG, what is default.

They are one pipeline. Vanilla RAG and DOS RAG differ in the order alone, as in the
DOS RAG paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oprag.context import ContextOptions, FetchPlan, Order, Selection, arrange
from oprag.errors import invalid_option
from oprag_eval.bench import Bench, Search
from oprag_eval.data import Question
from oprag_eval.official.dos_rag import (
    OfficialSplitting,
    fill_officially,
    join_officially,
    pieces_of,
)
from oprag_eval.single_call import Reader
from oprag_eval.splittings import Splitting, SplitUnit
from oprag_eval.system import Context, Count, Piece

Compat: TypeAlias = Literal["fixed", "official"]
"""`"official"`: as the authors' code does it, losses included."""


_SENTENCES = Splitting("sentences", 100)


@dataclass(frozen=True, kw_only=True)
class Retrieved(Reader):
    """Reads the best chunks that fit the budget, in some order.

    Each budget is filled best first, up to the first chunk that does not fit; the
    separators count. With `top_n` it reads so many chunks, as OP-RAG's paper does, and
    takes no budget.
    """

    name: str
    splittings: tuple[Splitting, ...]
    """Chunks of all of them are in one index."""
    order: Order
    search: Search = "vectors"
    top_n: int | None = None
    selection: Selection = "budget"
    compat: Compat = "fixed"

    @property
    def budgeted(self) -> bool:
        """Whether a budget bounds what is read, and not a number of chunks."""
        return self.top_n is None

    def context(self, question: Question, budget: int | None, bench: Bench) -> Context:
        """Choose and order; no model is asked."""
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
            plan = FetchPlan(options.needed_budget() or 1, "recall")
            k = plan.k
        ranked = bench.ranked(question, *self.splittings, search=self.search, k=k)
        passages = arrange(ranked, options).passages
        text = options.separator.join(passage.text for passage in passages)
        pieces = tuple(
            Piece(passage.uri, *span) for passage in passages for span in passage.spans
        )
        return Context(text, pieces, bench.counter(text))

    def _official(
        self, question: Question, budget: int | None, bench: Bench
    ) -> Context:
        """Documents follow one another in the order of the set."""
        ranked = bench.ranked(question, *self.splittings)
        kept = fill_officially(ranked, budget or 0, bench.counter)
        if self.order == "document":
            names = [each.doc_id for each in bench.documents(question)]
            kept.sort(key=lambda hit: hit.metadata["number"])
            kept.sort(key=lambda hit: names.index(hit.metadata["doc_uri"]))
        text = join_officially(kept)
        pieces = tuple(piece for hit in kept for piece in pieces_of(hit))
        return Context(text, pieces, bench.counter(text))


def _best_chunks(
    default: str, order: Order, cut: Splitting = _SENTENCES
) -> Callable[..., Retrieved]:
    """Return the maker of a system that differs from its siblings in order and chunks.

    The maker raises `InvalidOptionError` for `compat="official"` with another unit,
    search or `top_n`.
    """

    def make(
        *,
        name: str = default,
        unit: SplitUnit = cut.unit,
        size: Count = cut.size,
        search: Search = "vectors",
        top_n: Count | None = None,
        compat: Compat = "fixed",
    ) -> Retrieved:
        kind = Splitting
        if compat == "official":
            _check_official(unit, search, top_n)
            kind = OfficialSplitting
        return Retrieved(
            name=name,
            splittings=(kind(unit, size),),
            order=order,
            search=search,
            top_n=top_n,
            compat=compat,
        )

    return make


vanilla_rag = _best_chunks("vanilla-rag", "score")
"""Best first: what most applications do."""
dos_rag = _best_chunks("dos-rag", "document")
"""Whole sentences up to 100 tokens, in document order (arXiv 2506.03989)."""
op_rag = _best_chunks("op-rag", "document", Splitting("tokens", 128))
"""Uniform windows of 128 tokens, in document order (arXiv 2409.01666)."""


def _framework_default(
    default: str, splitting: Splitting, k: int
) -> Callable[..., Retrieved]:
    """Return the maker of a system with a framework's defaults."""

    def make(*, name: str = default, top_n: Count = k) -> Retrieved:
        return Retrieved(name=name, splittings=(splitting,), order="score", top_n=top_n)

    return make


langchain_default = _framework_default(
    "langchain-default", Splitting("langchain", 1000), 4
)
"""LangChain untouched: `RecursiveCharacterTextSplitter` with 1,000 characters, as its
guides have it, and the 4 best chunks of `as_retriever()`."""
llamaindex_default = _framework_default(
    "llamaindex-default", Splitting("llamaindex", 1024), 2
)
"""LlamaIndex untouched: `SentenceSplitter` with 1,024 tokens and the 2 best nodes of
`as_query_engine()`; without metadata, which it would count and send."""


def _check_official(unit: SplitUnit, search: Search, top_n: int | None) -> None:
    if (unit, search, top_n) != ("sentences", "vectors", None):
        takes = (
            "The authors split into sentences, search by vectors, stop at the first "
            "chunk that does not fit, and take one chunk for each 50 tokens of the "
            "budget: leave out unit, search and top_n with it."
        )
        raise invalid_option("compat", "official", takes)


def recommended(
    *, name: str = "recommended", sizes: tuple[Count, ...] = (256, 64)
) -> Retrieved:
    """The system that this project recommends: two sizes in one index, BM25, `recall`.

    As `docs/selection.md` prints it: whole sentences, `bm25=True`,
    `selection="recall"`, and nothing but the store to read from.
    """
    cut = tuple(Splitting("sentences", size) for size in sizes)
    return Retrieved(
        name=name, splittings=cut, order="document", search="hybrid", selection="recall"
    )
