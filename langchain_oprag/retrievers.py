"""`OrderPreservingRetriever`: any retriever or vector store, in document order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Never, Self, Unpack

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import (
    BaseRetriever,
    LangSmithRetrieverParams,
    RetrieverLike,
)
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, patch_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import PrivateAttr

from langchain_oprag._adding import AddsDocuments
from langchain_oprag._convert import (
    SharedOptions,
    arrange_documents,
    make_hits,
    restore_document,
)
from langchain_oprag._options import (
    OF_SEARCH,
    PER_CALL,
    CheckedOptions,
    OrderedKeywords,
    Retriever,
    option_field,
    refuse_options,
    unwrap,
)
from langchain_oprag._searched import (
    choose_retriever,
    list_verified_stores,
    open_searched_chunks,
    search_filter,
)
from langchain_oprag.stores import chunk_store
from oprag.chaining import Overlaps
from oprag.chunk import Hit
from oprag.context import (
    CandidateTail,
    ContextOptions,
    NeighbourSearch,
    OrderedContext,
    Widen,
    check_option,
    check_widening,
)
from oprag.diagnosing import FirstLook, Verifiable, Verification
from oprag.effects import Effect, Effects, arun_effects, run_effects
from oprag.errors import refuse_unknown, refuse_unnamed
from oprag.metadata import WHY
from oprag.retrieving import Fetch, FetchPlan, OwnNumber, Retrieval, WordSearch
from oprag.stores import Bm25, SearchedChunks, StoredChunk

_MMR_CANDIDATES = 20
"""LangChain's default `fetch_k`: the number of documents that `"mmr"` chooses from."""


class RetrieverFetch(Fetch):
    """The calls that one retrieval makes to the wrapped retriever.

    `k` is passed on only to a vector store's retriever, bare or inside `with_config`,
    `with_retry`, `bind` and `configurable_fields`. Others ignore the argument or fail
    on it.

    Args:
        retriever: The wrapped retriever.
        config: Passed to it; sets its configurable fields.
        call: Further arguments of this call, passed on.
        k: How many documents to return; None for all.
        plan: How many chunks to ask a store for if no `k` is set; None for its own
            default.
        at_least: How many to ask for first at least, if the retriever takes a `k`.
    """

    def __init__(
        self,
        retriever: RetrieverLike,
        config: RunnableConfig,
        call: dict[str, Any],
        *,
        k: int | None = None,
        plan: FetchPlan | None = None,
        at_least: int = 0,
    ) -> None:
        self.search = retriever, config, call
        """Retriever and call arguments."""
        inner: Any = retriever
        bound: dict[str, Any] = {}
        if not isinstance(retriever, VectorStoreRetriever):
            inner, _, bound = unwrap(retriever, config)
        own: OwnNumber | None = None
        self._mmr_candidates: int | None = None
        """How many documents `"mmr"` chooses from; None for other searches."""
        if isinstance(inner, VectorStoreRetriever):
            arguments = {**inner.search_kwargs, **bound, **call}
            own_k = arguments.get("k") or None
            own = OwnNumber(own_k, is_default=own_k is None)
            if inner.search_type == "mmr":
                self._mmr_candidates = arguments.get("fetch_k") or _MMR_CANDIDATES
        super().__init__(own, k=k, plan=plan, at_least=at_least)

    def ask(self, query: str) -> Effect:
        """Return the next call to the wrapped retriever."""
        retriever, config, call = self.search
        k = self.k_to_ask
        if k is not None and k != self.own_k:
            call = {**call, "k": k}
            if self._mmr_candidates is not None and self._mmr_candidates < k:
                call["fetch_k"] = k  # it cannot choose more than it looks at

        def invoke() -> list[Document]:
            return retriever.invoke(query, config, **call)

        async def ainvoke() -> list[Document]:
            return await retriever.ainvoke(query, config, **call)

        return Effect(invoke, ainvoke)


class WrappingRetriever(AddsDocuments, Verifiable, BaseRetriever, CheckedOptions):
    """A retriever around another one: asked in steps, the same sync and async."""

    advice: ClassVar[Mapping[str, str]] = OF_SEARCH
    base_retriever: Retriever

    @abstractmethod
    def _make_fetch(
        self, config: RunnableConfig, call: dict[str, Any], k: int | None
    ) -> RetrieverFetch:
        """Return the calls that ask the wrapped retriever."""

    @abstractmethod
    def _steps(
        self, query: str, fetch: RetrieverFetch
    ) -> Effects[OrderedContext[Document]]:
        """Retrieve."""

    def invoke(
        self,
        input: str,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Retrieve in reading order.

        Args:
            input: The query.
            config: Reaches the wrapped retriever, `configurable` included.
            **kwargs: `k`, `token_budget` and `merge` for this call. All others, such
                as a `filter`, are passed on to the wrapped retriever.

        Raises:
            InvalidOptionError: `k` is not possible, or an option was given that is
                set on construction.
        """
        if changes := self._take_options(kwargs):
            return self._copy_with(**changes).invoke(input, config, **kwargs)
        # The run manager that `_get_relevant_documents` is given does not carry
        # `configurable`.
        config = ensure_config(config)
        return super().invoke(input, config, outer_config=config, **kwargs)

    async def ainvoke(
        self,
        input: str,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Async version of `invoke`."""
        if changes := self._take_options(kwargs):
            return await self._copy_with(**changes).ainvoke(input, config, **kwargs)
        config = ensure_config(config)
        return await super().ainvoke(input, config, outer_config=config, **kwargs)

    def _take_options(self, call: dict[str, Any]) -> dict[str, Any]:
        """Take the options of one call out of its arguments."""
        names = [n for n in PER_CALL if n in call and n in type(self).model_fields]
        return {name: call.pop(name) for name in names}

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Configurable fields of the wrapped retriever."""
        return self.base_retriever.config_specs

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **call: Any
    ) -> list[Document]:
        fetch = self._prepare_fetch(run_manager, **call)
        ordered = run_effects(self._steps(query, fetch))
        run_manager.metadata[WHY] = ordered.why
        return ordered.warn_and_return(self._problems)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **call: Any,
    ) -> list[Document]:
        fetch = self._prepare_fetch(run_manager, **call)
        ordered = await arun_effects(self._steps(query, fetch))
        run_manager.metadata[WHY] = ordered.why
        return ordered.warn_and_return(self._problems)

    def _prepare_fetch(
        self,
        run_manager: CallbackManagerForRetrieverRun
        | AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        outer_config: RunnableConfig | None = None,
        **call: Any,
    ) -> RetrieverFetch:
        if call:
            refuse_options(type(self).__name__, call)
        check_option("k", k)
        config = patch_config(outer_config, callbacks=run_manager.get_child())
        return self._make_fetch(config, call, k)

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        """Return the tracing parameters of the wrapped retriever, under our name."""
        kwargs.pop("outer_config", None)
        own = super()._get_ls_params(**kwargs)
        of_wrapped = getattr(self.base_retriever, "_get_ls_params", None)
        return own if of_wrapped is None else {**of_wrapped(**kwargs), **own}


class OrderPreservingRetriever(WrappingRetriever, SharedOptions):
    """Wraps a retriever or a vector store and returns documents in reading order.

    The best documents are selected first, `k` of them or as many as fit
    `token_budget`; then they are put in order. The documents of the wrapped retriever
    are taken to be best first.

    Args:
        base_retriever: A vector store, or any `Runnable` from a query to a list of
            documents, best first. A store stands for `store.as_retriever()`; write that
            out to set a filter or a kind of search.
        vectorstore: Another name for `base_retriever`, for a store.
        k: How many of the best documents to return; None for all of them.
        **options: All of `ContextOptions` but `top_n`; `widen`, `bm25`,
            `verify_index`.
        name: Shown in traces, as `tags` and `metadata` are; None for the class's name.

    A vector store is given `k` if its `search_kwargs` have none or a smaller one; for
    `"mmr"`, `fetch_k` is raised to match. Other retrievers are called unchanged and
    their results cut to `k`. You may get fewer: duplicates are dropped, and `merge`
    joins neighbours.

    With `token_budget`, a vector store and no `k`, enough chunks are fetched to fill
    the budget; `selection="recall"` asks for 1,200 or more, unless `widen` is set.
    Score thresholds apply.

    `k` does not count neighbours; each search reads them in at most two queries. If you
    give no `k`, hits and neighbours fill the budget. `"fill"` fetches 20 hits first, or
    with `selection="recall"` one for each 64 tokens, 320 at least.

    With `bm25` the chunks of the store are read once, at the first question, and again
    when they have changed: make the retriever once. A score threshold and `"mmr"`
    apply to the vector search alone.

    Raises:
        InvalidOptionError: On construction and assignment, for an unknown option or an
            invalid value; when invoked, when `documents` is a store that cannot be read
            through the search's filter. It is a `ValueError`.
        MissingDocumentError: When invoked, if a document does not name its source text.
        PositionError: When invoked, and positions are missing or contradict each
            other.
        BudgetTooSmallError: When invoked, and not even the best document fits.

    Warns:
        UnfilledBudgetWarning: Once, when all documents found fit the token budget,
            more cannot be asked for, and no `k` limits them.
        PositionWarning: With `on_problem="warn"`, for documents that cannot be put in
            order.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        >>> retriever = OrderPreservingRetriever(vectorstore=store, k=3)
        >>> chunks = [
        ...     Document(text, metadata={"source": "a.txt", "start_index": start})
        ...     for start, text in ((20, "third"), (0, "first"), (10, "second"))
        ... ]
        >>> ids = store.add_documents(chunks)
        >>> [document.page_content for document in retriever.invoke("question")]
        ['first', 'second', 'third']
        >>> len(retriever.invoke("question", k=2))
        2
    """

    k: int | None = None
    widen: Widen | None = option_field("widen")
    bm25: bool = option_field("bm25", default=False)
    verify_index: bool = option_field("verify_index", default=True)

    _by_words: tuple[VectorStore, Bm25] | None = PrivateAttr(default=None)
    _overlaps: Overlaps = PrivateAttr(default_factory=Overlaps)
    _first_look: FirstLook = PrivateAttr(default_factory=FirstLook)

    def __init__(
        self,
        base_retriever: RetrieverLike | VectorStore | None = None,
        *unnamed: Never,
        vectorstore: VectorStore | None = None,
        **options: Unpack[OrderedKeywords],
    ) -> None:
        known = ("vectorstore", *type(self).model_fields)
        refuse_unnamed(type(self).__name__, unnamed, known)
        refuse_unknown(options, known, self.advice)
        base = choose_retriever(base_retriever, vectorstore)
        given: dict[str, Any] = {"base_retriever": base, **options}
        super().__init__(**given)
        # These raise for options that do not fit.
        fetch = self._make_fetch({}, {}, None)
        self._make_options(fetch)
        self._open_neighbour_chunks(fetch)
        self._open_word_search(fetch)

    def _verification(self) -> Verification:
        stores = list_verified_stores(self.base_retriever)
        inside = unwrap(self.base_retriever, {})[:1]
        options = self._make_options(self._make_fetch({}, {}, None))
        return Verification(stores, options, overlaps=True, inside=inside)

    def best_first(self, token_budget: int | None) -> Self:
        """Return a best-first copy for Self-Route, which does its own ordering.

        Args:
            token_budget: Tokens that `widen` reads at most, if neither `k` nor
                `token_budget` is set.
        """
        ranking = self._copy_with(order="rank", merge=False, citations=False)
        if self.widen is not None and not (self.k or self.token_budget):
            ranking._problems = self._problems.silence_budget()  # noqa: SLF001 -- our own copy
            ranking.token_budget = token_budget
        return ranking

    def _forget_chunks(self) -> None:
        self._overlaps.forget()
        if self._by_words is not None:
            self._by_words[1].forget()

    def _make_fetch(
        self, config: RunnableConfig, call: dict[str, Any], k: int | None
    ) -> RetrieverFetch:
        plan, k = None, self.k if k is None else k
        if self.token_budget is not None:
            plan = FetchPlan.to_fill(self.token_budget, self.selection, self.widen)
        return RetrieverFetch(self.base_retriever, config, call, k=k, plan=plan)

    def _make_options(self, fetch: RetrieverFetch) -> ContextOptions:
        search = None if self.documents is None else search_filter(*fetch.search)
        return self._options_for(fetch.k, search)

    def _steps(
        self, query: str, fetch: RetrieverFetch
    ) -> Effects[OrderedContext[Document]]:
        retrieval = _DocumentRetrieval(
            question=query,
            fetch=fetch,
            options=self._make_options(fetch),
            overlaps=self._overlaps,
            chunks=self._open_neighbour_chunks(fetch),
            widen=self.widen,
            word_search=self._open_word_search(fetch),
        )
        if self.verify_index:
            self._first_look.begin(retrieval.find_searched_chunks, retrieval.options)
        ordered = yield from retrieval.run()
        self._first_look.tell(self._problems)
        return ordered

    def _open_word_search(self, fetch: RetrieverFetch) -> WordSearch | None:
        """Return the BM25 index of a store, and the chunks that a search may see."""
        if not self.bm25:
            return None
        searched = open_searched_chunks(*fetch.search, "bm25")
        if searched is None:
            raise Bm25.refusal(self.base_retriever)
        store, chunks = searched
        if self._by_words is None or self._by_words[0] is not store:
            self._by_words = store, Bm25(chunk_store(store))
        return WordSearch(self._by_words[1], chunks)

    def _open_neighbour_chunks(self, fetch: RetrieverFetch) -> SearchedChunks | None:
        """Return the stored chunks that neighbours are read from."""
        if self.widen is None:
            return None
        searched = open_searched_chunks(*fetch.search, "widen")
        options = self._options_for(fetch.k)
        check_widening(self.widen, options, stored=searched is not None)
        return None if searched is None else searched[1]


@dataclass(kw_only=True)
class _DocumentRetrieval(Retrieval[Document]):
    """One question to a retriever of LangChain."""

    fetch: RetrieverFetch
    chunks: SearchedChunks | None
    """The stored chunks from which neighbours are read."""

    def ask(self) -> Effect:
        return self.fetch.ask(self.question)

    def make_hits(self, found: Sequence[Document]) -> list[Hit]:
        return make_hits(found)

    def load_stored(self, chunks: Sequence[StoredChunk]) -> list[Document | None]:
        return [restore_document(chunk) for chunk in chunks]

    def find_neighbours(
        self, found: Sequence[Document], search: NeighbourSearch
    ) -> Effects[tuple[list[Document], CandidateTail]]:
        read: list[StoredChunk] = []
        if self.chunks is not None:
            read = yield from self.chunks.read_by_key(search.requests())
        beside = [restore_document(chunk) for _, chunk in search.neighbours(read)]
        return search.combine(found, beside, stored=self.chunks is not None)

    def open_store(self) -> SearchedChunks | None:
        searched = open_searched_chunks(*self.fetch.search, "documents")
        return None if searched is None else searched[1]

    def arrange(
        self, hits: Sequence[Hit], options: ContextOptions, neighbours: CandidateTail
    ) -> OrderedContext[Document]:
        return arrange_documents(hits, options, neighbours)
