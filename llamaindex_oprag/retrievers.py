"""`OrderPreservingRetriever`: any retriever, its nodes in document order."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Never, Self, Unpack

import llama_index.core.instrumentation as instrument
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.indices.base import BaseIndex
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle

from llamaindex_oprag._convert import (
    Arrange,
    arrange_for_text,
    arrange_nodes,
    arrange_unseen,
    make_hits,
)
from llamaindex_oprag._neighbours import Neighbourhood, load_nodes, store_of
from llamaindex_oprag._options import (
    AssignableOption,
    OwnOption,
    RetrieverKeywords,
    RetrievingWithOptions,
    set_tokenizer,
)
from llamaindex_oprag._searched import (
    OF_SEARCH,
    find_searched_index,
    list_verified_stores,
    require_retriever,
    search_filter,
)
from llamaindex_oprag.documents import source_or_none
from llamaindex_oprag.events import OrderedContextEvent
from oprag.agents import ToolAnswer
from oprag.chaining import Overlaps
from oprag.chunk import Hit
from oprag.context import (
    DEFAULTS,
    NO_NEIGHBOURS,
    CandidateTail,
    CitationNumbers,
    ContextOptions,
    NeighbourSearch,
    OrderedContext,
    Problems,
    Seen,
    Widen,
    check_option,
    check_widening,
)
from oprag.diagnosing import FirstLook, Verifiable, Verification
from oprag.documents import DocumentSource
from oprag.effects import Effect, Effects, arun_effects, run_effects
from oprag.errors import refuse_unknown, refuse_unnamed
from oprag.retrieving import Fetch, FetchPlan, OwnNumber, Retrieval, WordSearch
from oprag.stores import Bm25, SearchedChunks, StoredChunk

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__

_OWN = ("similarity_top_k", "widen", "bm25", "verify_index")
_SHARED = tuple(name for name in DEFAULTS if name != "top_n")


class RetrieverFetch(Fetch):
    """How many nodes the base retriever is asked for, in one retrieval.

    Args:
        base: The retriever underneath. Not written to: copies of it ask for more.
        k: How many nodes to return; None for all.
        plan: How many nodes an index is asked for if nobody chose a number, neither by
            `k` nor by a `similarity_top_k` other than LlamaIndex's default.
        at_least: How many nodes to ask for first, whatever the retriever's own number.
    """

    def __init__(
        self,
        base: BaseRetriever,
        *,
        k: int | None = None,
        plan: FetchPlan | None = None,
        at_least: int = 0,
    ) -> None:
        self.base = base
        own: OwnNumber | None = None
        if isinstance(base, VectorIndexRetriever):
            own_k = base.similarity_top_k
            own = OwnNumber(own_k, is_default=own_k == DEFAULT_SIMILARITY_TOP_K)
        super().__init__(own, k=k, plan=plan, at_least=at_least)

    def retriever(self) -> BaseRetriever:
        """Return the base retriever, or a copy that asks for the wanted number."""
        k = self.k_to_ask
        if k is None or k == self.own_k:
            return self.base
        asking: Any = copy.copy(self.base)
        asking.similarity_top_k = k
        return asking  # type: ignore[no-any-return]  # a copy of the same class


class WrappingRetriever(Verifiable, RetrievingWithOptions, BaseRetriever):
    """A retriever around another one: asked in steps, the same sync and async.

    Args:
        base_retriever: An index, or a retriever that returns nodes best first.
        callback_manager: None for that of `base_retriever`.
        **options: The others of `BaseRetriever`.

    Raises:
        InvalidOptionError: `base_retriever` is neither.
    """

    advice = OF_SEARCH
    _options: ContextOptions

    def __init__(
        self,
        base_retriever: BaseIndex[Any] | BaseRetriever,
        *,
        callback_manager: CallbackManager | None,
        **options: Any,
    ) -> None:
        base = require_retriever("base_retriever", base_retriever)
        self.base_retriever = base
        self._problems = Problems(type(self).__name__)
        manager = callback_manager or getattr(base, "callback_manager", None)
        super().__init__(callback_manager=manager, **options)

    @abstractmethod
    def _steps(self, query: QueryBundle) -> Effects[OrderedContext[NodeWithScore]]:
        """Retrieve."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._report(run_effects(self._steps(query_bundle)))

    @_dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._report(await arun_effects(self._steps(query_bundle)))

    def _report(self, ordered: OrderedContext[NodeWithScore]) -> list[NodeWithScore]:
        _dispatcher.event(OrderedContextEvent(why=dict(ordered.why)))
        return ordered.warn_and_return(self._problems)

    def _ask(self, query: QueryBundle, fetch: RetrieverFetch) -> Effect:
        """Return the next call of the base retriever; index nodes are resolved."""
        base = fetch.retriever()
        resolve = super()._handle_recursive_retrieval
        aresolve = super()._ahandle_recursive_retrieval

        def retrieve() -> list[NodeWithScore]:
            return resolve(query, base.retrieve(query))

        async def aretrieve() -> list[NodeWithScore]:
            return await aresolve(query, await base.aretrieve(query))

        return Effect(retrieve, aretrieve)

    def _handle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        """Leave the nodes unchanged: index nodes were resolved before."""
        return nodes

    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"base_retriever": self.base_retriever}


class OrderPreservingRetriever(WrappingRetriever):
    """Retrieves with another retriever and returns the nodes in document order.

    Put it around the whole retrieval: components that sort afterwards (fusion,
    rerankers) undo the order.

    Args:
        base_retriever: An index, or a retriever that returns nodes best first.
        similarity_top_k: Nodes to return at most; None for all.
        callback_manager: None for that of `base_retriever`.
        object_map: The objects that index nodes stand for, by their `index_id`; for
            nodes that `base_retriever` does not resolve itself. They are resolved
            before the nodes are put in order.
        objects: The same as a list of index nodes that hold their objects.
        verbose: Print the objects to which index nodes are resolved.
        **options: All of `oprag.context.ContextOptions` but `top_n`: `token_budget`,
            `merge`, `position_keys` and so on; `widen`, `bm25` and `verify_index`.

    All of these options can be assigned later.

    How much is fetched:

    - `similarity_top_k` keeps that many of the best nodes. A vector index retriever
      underneath is asked for as many if it would give fewer.
    - `token_budget` alone, over a vector index retriever that was left at
      LlamaIndex's default of 2 nodes: as many nodes as fit the budget (with
      `selection="recall"` 1,200 at least).
      The number grows until the budget is full or the store is exhausted.
    - `similarity_top_k` does not count the neighbours that `widen` reads. Without it,
      as many nodes are found as fill the budget with their neighbours. `"fill"` starts
      at 20, with `selection="recall"` at one for each 64 tokens, 320 at least.
    - With `bm25` the nodes of the index are read once, at the first question, and again
      when they changed: make the retriever once. Words find as many nodes as the vector
      search is asked for.
    - Any other `similarity_top_k` of the retriever underneath holds. Its filters, query
      mode and other settings always hold; it is not written to.

    Raises:
        InvalidOptionError: On construction, for an option that does not exist or a
            value that it cannot have; then or when retrieving, if `documents` is a
            store that cannot be read through the search's filter.

    Warns:
        UnfilledBudgetWarning: Once, when all nodes found fit the budget, more could
            not be asked for, and no `similarity_top_k` limits them.
    """

    per_call = ("similarity_top_k", "token_budget", "merge")
    token_budget = AssignableOption()
    selection = AssignableOption()
    order = AssignableOption()
    sort_documents = AssignableOption()
    merge = AssignableOption()
    citations = AssignableOption()
    on_problem = AssignableOption()
    position_keys = AssignableOption()
    document_key = AssignableOption()
    token_counter = AssignableOption()
    separator = AssignableOption()
    documents = AssignableOption(source_or_none)
    widen = OwnOption()
    bm25 = OwnOption()
    verify_index = OwnOption()

    def __init__(
        self,
        base_retriever: BaseIndex[Any] | BaseRetriever,
        *unnamed: Never,
        similarity_top_k: int | None = None,
        widen: Widen | None = None,
        bm25: bool = False,
        verify_index: bool = True,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
        **options: Unpack[RetrieverKeywords],
    ) -> None:
        refuse_unnamed(type(self).__name__, unnamed, (*_OWN, *_SHARED))
        refuse_unknown(options, (*_OWN, *_SHARED), self.advice)
        check_option("similarity_top_k", similarity_top_k)
        given: dict[str, Any] = {**options}
        given["documents"] = source_or_none(given.get("documents"))
        self._options = ContextOptions(top_n=similarity_top_k, **given)
        self.widen = widen
        self.bm25 = bm25
        self.verify_index = verify_index
        self._by_words: tuple[Any, Bm25] | None = None
        self._overlaps = Overlaps()
        self._first_look = FirstLook()
        self._arrange: Arrange = arrange_nodes
        super().__init__(
            base_retriever,
            callback_manager=callback_manager,
            object_map=object_map,
            objects=objects,
            verbose=verbose,
        )
        # These raise for options that do not fit.
        self._bound_options()
        self._open_neighbourhood()
        self._open_word_search()

    @property
    def similarity_top_k(self) -> int | None:
        """The nodes to return at most; if not given, the base retriever's own number.

        With a token budget, or with `widen`, more than that number may be returned.
        """
        if self._options.top_n is not None:
            return self._options.top_n
        return getattr(self.base_retriever, "similarity_top_k", None)

    @similarity_top_k.setter
    def similarity_top_k(self, similarity_top_k: int | None) -> None:
        check_option("similarity_top_k", similarity_top_k)
        self._options = replace(self._options, top_n=similarity_top_k)

    def _verification(self) -> Verification:
        inside = (self.base_retriever,)
        stores, options = list_verified_stores(*inside), self._bound_options()
        return Verification(stores, options, overlaps=True, inside=inside)

    @property
    def is_limited(self) -> bool:
        """Whether somebody chose a number of nodes or a token budget here."""
        return self._options.top_n is not None or self._options.token_budget is not None

    def best_first(self, token_budget: int | None) -> Self:
        """Return a best-first copy for Self-Route, which does its own ordering.

        Args:
            token_budget: Tokens that `widen` reads at most, if nobody limited them.
        """
        options = self._options.best_first()
        if self.widen is None or self.is_limited or not token_budget:
            return self._copy_with(_options=options)
        options = replace(options, token_budget=token_budget)
        return self._copy_with(
            _options=options, _problems=self._problems.silence_budget()
        )

    def _copy_with(self, **attributes: Any) -> Self:
        """Return a copy with other values of attributes, which are not checked."""
        copied = copy.copy(self)
        vars(copied).update(attributes)
        return copied

    def _copy_for_text(self) -> Self:
        """Return a copy whose budget counts what `format_nodes` writes."""
        options = replace(self._options, citations=True)
        return self._copy_with(_arrange=arrange_for_text, _options=options)

    async def _aretrieve_unseen(
        self, question: str, seen: Seen, numbers: CitationNumbers
    ) -> ToolAnswer[NodeWithScore]:
        """Retrieve what the reader of a conversation has not read.

        Args:
            question: The question.
            seen: The text that was read. Not changed.
            numbers: Those of the conversation. Not changed.
        """
        answers = []

        def arrange(*found: Any) -> ToolAnswer[NodeWithScore]:
            answer = arrange_unseen(*found, seen=seen, numbers=numbers)
            answers.append(answer)
            return answer

        problems = self._problems.silence_budget()  # too little new text is no mistake
        options = replace(self._options, citations=True)
        asking = self._copy_with(_arrange=arrange, _options=options, _problems=problems)
        nodes = await asking.aretrieve(question)
        return replace(answers[-1], passages=nodes)

    def _steps(self, query: QueryBundle) -> Effects[OrderedContext[NodeWithScore]]:
        options, plan = self._bound_options(), None
        if options.token_budget is not None:
            plan = FetchPlan.to_fill(
                options.token_budget, options.selection, self.widen
            )
        retrieval = _NodeRetrieval(
            question=query.query_str,
            fetch=RetrieverFetch(self.base_retriever, k=options.top_n, plan=plan),
            options=options,
            overlaps=self._overlaps,
            widen=self.widen,
            word_search=self._open_word_search(),
            neighbourhood=self._open_neighbourhood(),
            query=query,
            component=self,
        )
        if self.verify_index:
            self._first_look.begin(retrieval.find_searched_chunks, options)
        ordered = yield from retrieval.run()
        self._first_look.tell(self._problems)
        return ordered

    def _open_word_search(self) -> WordSearch | None:
        """Return the words of the index, read once, and the nodes a search may see."""
        if not self.bm25:
            return None
        index = find_searched_index(self.base_retriever)
        store = store_of(index)
        if store is None:
            raise Bm25.refusal(self.base_retriever)
        if self._by_words is None or self._by_words[0] is not index:
            self._by_words = index, Bm25(store)
        search = search_filter(self.base_retriever)
        return WordSearch(self._by_words[1], SearchedChunks(store, search, "bm25"))

    def _open_neighbourhood(self) -> Neighbourhood | None:
        """Return the source of neighbours; None without `widen`."""
        if self.widen is None:
            return None
        around = Neighbourhood(self.base_retriever)
        check_widening(self.widen, self._options, stored=around.can_read)
        return around

    def _bound_options(self) -> ContextOptions:
        """Return the options, with the full texts that the search's filter admits."""
        options = set_tokenizer(self._options)
        documents = options.documents
        if not isinstance(documents, DocumentSource):
            return options
        return replace(options, documents=documents.within(search_filter(self)))


@dataclass(kw_only=True)
class _NodeRetrieval(Retrieval[NodeWithScore]):
    """One question to a retriever of LlamaIndex."""

    fetch: RetrieverFetch
    query: QueryBundle
    component: OrderPreservingRetriever
    neighbourhood: Neighbourhood | None
    """The source of neighbours; None without `widen`."""

    def ask(self) -> Effect:
        return self.component._ask(self.query, self.fetch)  # noqa: SLF001 -- of this module

    def make_hits(self, found: Sequence[NodeWithScore]) -> list[Hit]:
        return make_hits(found)

    def load_stored(self, chunks: Sequence[StoredChunk]) -> list[NodeWithScore | None]:
        index = find_searched_index(self.fetch.base)
        loaded = load_nodes(index, [chunk.id for chunk in chunks])
        nodes = {node.node_id: NodeWithScore(node=node) for node in loaded}
        return [nodes.get(chunk.id) for chunk in chunks]

    def find_neighbours(
        self, found: Sequence[NodeWithScore], search: NeighbourSearch
    ) -> Effects[tuple[list[NodeWithScore], CandidateTail]]:
        if self.neighbourhood is None:
            return [*found], NO_NEIGHBOURS
        return (yield from self.neighbourhood.widen_hits(found, search))

    def open_store(self) -> SearchedChunks | None:
        store = store_of(find_searched_index(self.fetch.base))
        if store is None:
            return None
        return SearchedChunks(store, search_filter(self.fetch.base))

    def arrange(
        self, hits: Sequence[Hit], options: ContextOptions, neighbours: CandidateTail
    ) -> OrderedContext[NodeWithScore]:
        arrange = self.component._arrange  # noqa: SLF001 -- as above
        return arrange(hits, options, neighbours)
