"""`OrderPreservingRetriever`: any retriever, its nodes in document order."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, Unpack

import llama_index.core.instrumentation as instrument
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle

from llamaindex_oprag._convert import Ordered, arrange, hit_of
from llamaindex_oprag._options import warn_unfilled
from llamaindex_oprag._widening import Neighbourhood, Words
from llamaindex_oprag._wrapping import Fetch, WrappingRetriever, search_filter
from llamaindex_oprag.documents import SourceLike, source_or_none
from oprag.context import (
    ALONE,
    DEFAULTS,
    ContextKeywords,
    ContextOptions,
    Evidence,
    Neighbours,
    Problems,
    Seen,
    Widen,
    Widening,
    check_option,
    check_widening,
    with_texts,
)
from oprag.diagnosing import Verifiable
from oprag.documents import DocumentSource
from oprag.errors import refuse_unknown
from oprag.tokens import in_thread

if TYPE_CHECKING:
    from oprag.diagnosing import Verification

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


_OWN = ("similarity_top_k", "widen", "bm25")
_SHARED = tuple(name for name in DEFAULTS if name != "top_n")


class RetrieverKeywords(ContextKeywords, total=False):
    """What `OrderPreservingRetriever` takes beside its own, for type checkers."""

    documents: SourceLike | None


class OrderPreservingRetriever(Verifiable, WrappingRetriever):
    """Retrieves with another retriever and returns the nodes in document order.

    Put it around the whole retrieval: what sorts afterwards (fusion, rerankers)
    undoes the order. Its public attributes are those of the retriever it wraps, where
    it has none of that name itself.

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
        self._documents = given.get("documents")
        given["documents"] = source_or_none(self._documents)
        self._options = ContextOptions(top_n=similarity_top_k, **given)
        self._widen = widen
        self._problems = Problems(type(self).__name__)
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
        # Here, so that importing the package does not take longer.
        from llamaindex_oprag._verifying import searched_stores
        from oprag.diagnosing import Verification

        name = type(self).__name__
        stores = searched_stores(name, self.base_retriever)
        return Verification(name, stores, self._bound_options())

    def _reading_on(self, seen: Seen) -> Self:
        """A copy for one retrieval: its `_evidence` is then what is not in `seen`."""
        copied = copy.copy(self)
        # That there is not enough new text is no mistake to warn of.
        vars(copied).update(_seen=seen)
        self._problems.is_new("unfilled")
        return copied

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        options, around = self._bound_options(), self._neighbourhood()
        fetch = Fetch(self.base_retriever, self._options, widen=self._widen)
        if around is None:
            receive = partial(self._receive, options)
            return self._finish(fetch, self._fetched(query_bundle, fetch, receive))
        widen = partial(self._widening, fetch.fills)
        nodes, widening = self._fetched(query_bundle, fetch, widen)
        widened, told = around.widened(nodes, widening)
        self._problems.tell_unwidened(told.lacking)
        return self._finish(fetch, self._receive(options, widened, told)[0])

    @_dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        options, around = self._bound_options(), self._neighbourhood()
        fetch = Fetch(self.base_retriever, self._options, widen=self._widen)
        if around is None:
            receive = partial(self._areceive, options)
            received = await self._afetched(query_bundle, fetch, receive)
            return self._finish(fetch, received)
        widen = partial(self._awidening, fetch.fills)
        nodes, widening = await self._afetched(query_bundle, fetch, widen)
        widened, told = await around.awidened(nodes, widening)
        self._problems.tell_unwidened(told.lacking)
        received, _ = await self._areceive(options, widened, told)
        return self._finish(fetch, received)

    def _beside(
        self, query: QueryBundle, fetch: Fetch, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        if self._words is None:
            return nodes
        words = self._words = self._words.of(self.base_retriever)
        return words.fused(self.base_retriever, query.query_str, nodes, fetch.asked)

    async def _abeside(
        self, query: QueryBundle, fetch: Fetch, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        if self._words is None:
            return nodes
        return await in_thread(partial(self._beside, query, fetch, nodes))

    def _neighbourhood(self) -> Neighbourhood | None:
        """Return the source of neighbours; None without `widen`."""
        if self._widen is None:
            return None
        around = Neighbourhood(self.base_retriever)
        check_widening(self._widen, self._options, stored=around.known)
        return around

    def _widening(
        self, fills: bool, nodes: list[NodeWithScore]
    ) -> tuple[tuple[list[NodeWithScore], Widening], bool]:
        """The neighbours to ask for, and whether there is room for more nodes."""
        hits = [hit_of(node) for node in nodes]
        widen: Any = self._widen
        ids = [node.node.node_id for node in nodes]
        widening = Widening(hits, widen, self._options, fills=fills, ids=ids)
        return (nodes, widening), widening.fits

    async def _awidening(
        self, fills: bool, nodes: list[NodeWithScore]
    ) -> tuple[tuple[list[NodeWithScore], Widening], bool]:
        """Async version of `_widening`."""
        return await in_thread(partial(self._widening, fills, nodes))

    def _bound_options(self) -> ContextOptions:
        """The options, with full texts only as far as the search's filter admits."""
        documents = self._options.documents
        if not isinstance(documents, DocumentSource):
            return self._options
        documents = documents.within(search_filter(self))
        return replace(self._options, documents=documents)

    def _receive(
        self,
        options: ContextOptions,
        nodes: list[NodeWithScore],
        neighbours: Neighbours = ALONE,
    ) -> tuple[tuple[int, Ordered], bool]:
        ordered = arrange(nodes, options, seen=self._seen, neighbours=neighbours)
        return (len(nodes), ordered), ordered.used_all

    async def _areceive(
        self,
        options: ContextOptions,
        nodes: list[NodeWithScore],
        neighbours: Neighbours = ALONE,
    ) -> tuple[tuple[int, Ordered], bool]:
        work = partial(arrange, nodes, seen=self._seen, neighbours=neighbours)
        ordered = await with_texts(options, work)
        return (len(nodes), ordered), ordered.used_all

    def _finish(
        self, fetch: Fetch, received: tuple[int, Ordered]
    ) -> list[NodeWithScore]:
        found, ordered = received
        self._evidence = ordered.evidence
        if ordered.problems:
            self._problems.tell(ordered.problems)
        limited = self._options.top_n is not None  # by the user
        budget = None if limited else self._options.token_budget
        starved = ordered.used_all and found and not fetch.exhausted
        if budget is not None and starved:
            warn_unfilled(self._problems, self, budget, found)
        return ordered.nodes
