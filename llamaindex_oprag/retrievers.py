"""`OrderPreservingRetriever`: any retriever, its nodes in document order."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self, Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle

from llamaindex_oprag._convert import Ordered, arrange, hit_of
from llamaindex_oprag._widening import Neighbourhood, Words
from llamaindex_oprag._wrapping import (
    Fetch,
    WrappingRetriever,
    search_filter,
    verified_stores,
)
from llamaindex_oprag.documents import SourceLike, source_or_none
from oprag.context import (
    ALONE,
    DEFAULTS,
    ContextKeywords,
    ContextOptions,
    Evidence,
    FetchPlan,
    Neighbours,
    Seen,
    Widen,
    Widening,
    candidates_for,
    check_option,
    check_widening,
    with_texts,
)
from oprag.diagnosing import Verification
from oprag.documents import DocumentSource
from oprag.errors import refuse_unknown
from oprag.tokens import Do, Steps

_OWN = ("similarity_top_k", "widen", "bm25")
_SHARED = tuple(name for name in DEFAULTS if name != "top_n")


class RetrieverKeywords(ContextKeywords, total=False):
    """What `OrderPreservingRetriever` takes beside its own, for type checkers."""

    documents: SourceLike | None


class OrderPreservingRetriever(WrappingRetriever):
    """Retrieves with another retriever and returns the nodes in document order.

    Put it around the whole retrieval: what sorts afterwards (fusion, rerankers)
    undoes the order.

    Args:
        base_retriever: Returns nodes best first.
        similarity_top_k: Nodes to return at most; None for as many as come. Can be
            assigned later.
        callback_manager: None for that of `base_retriever`.
        object_map: What index nodes stand for, by their `index_id`; for those that
            `base_retriever` does not resolve itself. They are resolved before the
            nodes are put in order.
        objects: The same as a list of index nodes that hold their objects.
        verbose: Print what index nodes are resolved to.
        **options: All of `oprag.context.ContextOptions` but `top_n`: `token_budget`,
            `merge`, `position_keys` and so on; `widen` and `bm25`.

    How much is fetched:

    - `similarity_top_k` keeps that many nodes, of the best. A vector index retriever
      underneath is asked for as many, if it would give fewer.
    - `token_budget` alone, over a vector index retriever that was left at
      LlamaIndex's default of 2 nodes: as many nodes as fit the budget (with
      `selection="recall"` 1,200 at least).
      What is asked for grows until the budget is full or the store is exhausted.
    - What `widen` reads beside the nodes is not counted by `similarity_top_k`. Without
      that, nodes are found that fill the budget with their neighbours; 20 for `"fill"`.
    - With `bm25` the nodes of the index are read once, at the first question, and again
      when they changed: make the retriever once. Words find as many nodes as the vector
      search is asked for.
    - Any other `similarity_top_k` of the retriever underneath is kept to. Its
      filters, query mode and other settings always are; it is not written to.

    Raises:
        InvalidOptionError: On construction, for an option that does not exist or a
            value that it cannot have; then or when retrieving, if `documents` is a
            store that cannot be read through the search's filter.

    Warns:
        UnfilledBudgetWarning: Once, when everything that came fits the budget,
            more could not be asked for, and no `similarity_top_k` limits it.
    """

    def __init__(
        self,
        base_retriever: BaseRetriever,
        *,
        similarity_top_k: int | None = None,
        widen: Widen | None = None,
        bm25: bool = False,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
        **options: Unpack[RetrieverKeywords],
    ) -> None:
        refuse_unknown(options, (*_OWN, *_SHARED))
        check_option("widen", widen)
        check_option("bm25", bm25)
        check_option("similarity_top_k", similarity_top_k)
        given: dict[str, Any] = {**options}
        given["documents"] = source_or_none(given.get("documents"))
        self._options = ContextOptions(top_n=similarity_top_k, **given)
        self._widen = widen
        self._seen: Seen | None = None
        self._evidence: Evidence | None = None
        super().__init__(
            base_retriever,
            callback_manager=callback_manager,
            object_map=object_map,
            objects=objects,
            verbose=verbose,
        )
        self._bound_options()
        self._neighbourhood()
        self._words = Words(self.base_retriever) if bm25 else None

    @property
    def similarity_top_k(self) -> int | None:
        """Nodes to return at most; where not given, that of the base retriever."""
        if self._options.top_n is not None:
            return self._options.top_n
        return getattr(self.base_retriever, "similarity_top_k", None)

    @similarity_top_k.setter
    def similarity_top_k(self, similarity_top_k: int | None) -> None:
        check_option("similarity_top_k", similarity_top_k)
        self._options = replace(self._options, top_n=similarity_top_k)

    def _verification(self) -> Verification:
        name = type(self).__name__
        stores = verified_stores(name, self.base_retriever)
        return Verification(name, stores, self._bound_options())

    def _reading_on(self, seen: Seen) -> Self:
        """A copy for one retrieval: its `_evidence` is then what is not in `seen`."""
        copied = copy.copy(self)
        # That there is not enough new text is no mistake to warn of.
        vars(copied).update(_seen=seen)
        self._problems.is_new("unfilled")
        return copied

    def best_first(self, token_budget: int | None) -> tuple[Self, bool]:
        """Return a copy for Self-Route, which puts in order what it reads itself.

        Args:
            token_budget: What is read where nobody limited it.

        Returns:
            The copy, and whether it asks an index for as much.
        """
        options, base, fills = self._options.best_first(), self.base_retriever, False
        if options.top_n is None and options.token_budget is None and token_budget:
            if self._widen is None:
                fetch = Fetch(base, plan=FetchPlan(token_budget))
                base, fills = fetch.retriever(), fetch.fills
            else:
                options = replace(options, token_budget=token_budget)
                # A budget that nobody set is no mistake if it stays unfilled.
                self._problems.is_new("unfilled")
        ranking = copy.copy(self)
        vars(ranking).update(_options=options, base_retriever=base)
        return ranking, fills

    def _steps(self, query: QueryBundle) -> Steps[Ordered]:
        options, around, more = self._bound_options(), self._neighbourhood(), True
        plan = None
        if options.token_budget is not None:
            candidates = candidates_for(options.selection)
            plan = FetchPlan(options.token_budget, candidates, self._widen)
        fetch = Fetch(self.base_retriever, k=options.top_n, plan=plan)
        while more:
            found: list[NodeWithScore] = yield self._asking(query, fetch)
            if self._words is not None:
                words = self._words = self._words.of(self.base_retriever)
                given = self.base_retriever, query.query_str, found, fetch.asked
                found = words.fused(*given)
            if around is None or self._widen is None:
                ordered: Ordered = yield self._arranging(found, options)
                more = fetch.wants_more(found, used_all=ordered.used_all)
            else:
                hits = [hit_of(each) for each in found]
                ids = [each.node.node_id for each in found]
                near = Widening(hits, self._widen, options, fills=fetch.fills, ids=ids)
                more = fetch.wants_more(found, used_all=near.fits)
        if around is not None:
            listed, neighbours = yield from around.widened(found, near)
            ordered = yield self._arranging(listed, options, neighbours)
        starved = ordered.used_all and found and fetch.may_have_more(len(found))
        if starved and options.top_n is None:
            ordered = ordered._replace(unfilled=(options.token_budget, len(found)))
        return ordered

    def _arranging(
        self,
        nodes: list[NodeWithScore],
        options: ContextOptions,
        neighbours: Neighbours = ALONE,
    ) -> Do:
        work = partial(arrange, nodes, seen=self._seen, neighbours=neighbours)
        return Do(partial(work, options), partial(with_texts, options, work))

    def _reported(self, ordered: Ordered) -> list[NodeWithScore]:
        self._evidence = ordered.evidence
        return super()._reported(ordered)

    def _neighbourhood(self) -> Neighbourhood | None:
        """Return the source of neighbours; None without `widen`."""
        if self._widen is None:
            return None
        around = Neighbourhood(self.base_retriever)
        check_widening(self._widen, self._options, stored=around.known)
        return around

    def _bound_options(self) -> ContextOptions:
        """The options, with full texts only as far as the search's filter admits."""
        documents = self._options.documents
        if not isinstance(documents, DocumentSource):
            return self._options
        documents = documents.within(search_filter(self))
        return replace(self._options, documents=documents)
