"""Retrievers around another one: how it is asked, and the stores that it searches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

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
from langchain_core.runnables.base import RunnableBindingBase, RunnableSequence
from langchain_core.runnables.branch import RunnableBranch
from langchain_core.runnables.config import ensure_config, merge_configs, patch_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from langchain_oprag._convert import Ordered, hits_of
from langchain_oprag._options import CheckedOptions, Retriever
from langchain_oprag.stores import chunk_store
from oprag.context import DESCRIPTIONS, FetchPlan, check_option
from oprag.diagnosing import Verifiable, unseen_store
from oprag.documents import (
    ChunkStore,
    SearchedChunks,
    SearchFilter,
    inner_retrievers,
    is_unchanged,
    one_filter,
)
from oprag.errors import InvalidOptionError, named
from oprag.tokens import Do, Steps, acarry_out, carry_out

_OF_CONSTRUCTION = {*DESCRIPTIONS, "top_n", "similarity_top_k", "top_k"}
_MMR_CANDIDATES = 20
"""LangChain's default `fetch_k`: what maximal marginal relevance chooses from."""


class Fetch:
    """The questions that one retrieval puts to the wrapped retriever.

    `k` is passed on only to a vector store's retriever, as it is or inside
    `with_config`, `with_retry`, `bind` and `configurable_fields`: others ignore the
    argument or fail on it.

    Args:
        retriever: The one that is wrapped.
        config: What it is called with: it decides configurable fields.
        call: Further arguments of this call, passed on.
        k: How many documents to return; None for as many as come.
        plan: How many chunks a store is asked for where no `k` says it; None for its
            own default.
        at_least: Chunks to begin with, whatever `k` the retriever has of its own.
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
        self.retriever, self.config, self.call, self.k = retriever, config, call, k
        self._plan: FetchPlan | None = None
        self._search: dict[str, Any] = {}
        """Arguments of the store's own search."""
        inner, _, bound = unwrapped(retriever, config)
        self._of_store = isinstance(inner, VectorStoreRetriever)
        if self._of_store:
            self._search = {**inner.search_kwargs, **bound, **call}
            self._is_mmr = inner.search_type == "mmr"
            if at_least:
                self._plan = FetchPlan.beginning_with(max(at_least, self._given))
            elif not self._given and k is None:
                self._plan = plan

    @property
    def _given(self) -> int:
        """The `k` of the wrapped retriever's own search; 0 without one."""
        return self._search.get("k") or 0

    @property
    def asked(self) -> int:
        """How many chunks a store is asked for; 0 where that is left to it."""
        return self._arguments().get("k") or self._given

    @property
    def fills(self) -> bool:
        """Whether as many chunks are asked for as fill the budget."""
        return self._plan is not None

    def filtered_by(self) -> SearchFilter:
        """Return the filter of the search."""
        return search_filter(self.retriever, self.config, self.call)

    def chunks(self, option: str) -> tuple[VectorStore, SearchedChunks] | None:
        """Return the one store that is searched, and what a search may see of it.

        Args:
            option: What the chunks are read for.

        Returns:
            None where there is not one, or it is not known how its chunks are read.

        Raises:
            InvalidOptionError: The search's filter cannot be carried over to it.
        """
        leaves = _leaves(self.retriever, self.config, self.call)
        found = (
            r.vectorstore for r, _ in leaves if isinstance(r, VectorStoreRetriever)
        )
        stores = {id(store): store for store in found}
        if len(stores) != 1:
            return None
        (searched,) = stores.values()
        try:
            store = chunk_store(searched)
        except InvalidOptionError:
            return None
        return searched, SearchedChunks(store, self.filtered_by(), option)

    def asking(self, query: str) -> Do:
        """Return the next question to the wrapped retriever."""
        given = query, self.config
        return Do(
            partial(self.retriever.invoke, *given, **self._arguments()),
            partial(self.retriever.ainvoke, *given, **self._arguments()),
        )

    def _arguments(self) -> dict[str, Any]:
        k = self.k if self._plan is None else self._plan.k
        if not self._of_store or k is None or k <= self._given:
            return self.call
        asked = {**self.call, "k": k}
        if self._is_mmr and (self._search.get("fetch_k") or _MMR_CANDIDATES) < k:
            asked["fetch_k"] = k  # it cannot choose more than it looks at
        return asked

    def wants_more(self, found: Sequence[Document], *, used_all: bool) -> bool:
        """Whether to ask once more, for more.

        Args:
            found: Documents that came.
            used_all: Whether all of them fitted the budget.
        """
        return self._plan is not None and self._plan.wants_more(
            partial(hits_of, found), returned=len(found), used_all=used_all
        )

    def may_have_more(self, found: int) -> bool:
        """Whether more would come if more were asked for, and no `k` forbids it."""
        if self.k is not None or self._plan is not None:
            return False
        return not self._of_store or found >= self._given


def unwrapped(
    retriever: Any, config: RunnableConfig
) -> tuple[Any, RunnableConfig, dict[str, Any]]:
    """Return what `with_config`, `bind` and the like wrap, and what they pass to it."""
    # Here, so that importing the package does not take as long again.
    from langchain_core.runnables.configurable import DynamicRunnable

    bound: dict[str, Any] = {}
    while True:
        if isinstance(retriever, RunnableBindingBase):
            bound = {**retriever.kwargs, **bound}
            config = merge_configs(retriever.config, config)
            retriever = retriever.bound
        elif isinstance(retriever, DynamicRunnable):
            retriever, config = retriever.prepare(config)
        else:
            return retriever, config, bound


_NO_FILTERS = {"k", "fetch_k", "lambda_mult", "score_threshold", "search_params"}
"""Arguments of a search that hide nothing."""
_INSIDE = {
    ("langchain_oprag", "OrderPreservingRetriever"): "base_retriever",
    ("langchain_oprag", "LongUnitRetriever"): "base_retriever",
    **{
        (package, name): attribute
        for package in ("langchain", "langchain_classic")
        for name, attribute in (
            ("ContextualCompressionRetriever", "base_retriever"),
            ("MultiQueryRetriever", "retriever"),
            ("EnsembleRetriever", "retrievers"),
        )
    },
}
"""Retrievers that search with others alone: package, name, and where those are."""


def _leaves(
    retriever: Any, config: RunnableConfig, call: Mapping[str, Any]
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the retrievers that search themselves, with the arguments of the call."""
    retriever, config, bound = unwrapped(retriever, config)
    call = {**bound, **call}
    if isinstance(retriever, RunnableSequence):
        inner = [retriever.last]
    elif isinstance(retriever, RunnableBranch):
        inner = [*(chosen for _, chosen in retriever.branches), retriever.default]
    else:
        inner = inner_retrievers(retriever, _INSIDE)
    for each in inner:
        yield from _leaves(each, config, call)
    if not inner:
        yield retriever, call


def search_filter(
    retriever: Any, config: RunnableConfig, call: Mapping[str, Any]
) -> SearchFilter:
    """Return what a retriever's search is filtered by, as far as that can be seen.

    Args:
        retriever: Any.
        config: What it is called with: it decides configurable fields.
        call: Further arguments of the call.
    """
    return one_filter(_filter(*leaf) for leaf in _leaves(retriever, config, call))


def _filter(retriever: Any, call: Mapping[str, Any]) -> SearchFilter:
    known = getattr(retriever, "one_search_of_store", False)
    if not known and not is_unchanged(retriever, VectorStoreRetriever):
        name = type(retriever).__name__
        return SearchFilter(unseen=f"what {name} filters its search by is not known")
    arguments = {**retriever.search_kwargs, **call}
    where = arguments.pop("filter", None)
    if isinstance(where, Mapping) and not where:
        where = None
    for name, value in arguments.items():
        if name not in _NO_FILTERS and value is not None:
            unseen = f"the search has {name}=, which may filter it"
            return SearchFilter(where, unseen=unseen)
    return SearchFilter(where)


def verified_stores(component: str, retriever: Any) -> list[ChunkStore]:
    """Return the stores that `verify()` looks at, read as the search's filter admits.

    Of a store that cannot be read through the filter all chunks are looked at.

    Args:
        component: Class name of what is verified.
        retriever: What it asks.
    """
    stores = []
    for leaf, call in _leaves(retriever, {}, {}):
        known = isinstance(leaf, VectorStoreRetriever)
        searched: Any = leaf.vectorstore if known else None
        try:
            store = chunk_store(searched)
        except InvalidOptionError as error:
            instead = (
                "Give the vector store itself or its own retriever, or examine what is "
                "returned: langchain_oprag.diagnose(retriever.invoke(question))."
            )
            raise unseen_store(component, searched or leaf, instead) from error
        where = _filter(leaf, call).where
        readable = where is not None and store.takes_filter(where)
        stores.append(store.within(where) if readable else store)
    return stores


class RetrieverKeywords(TypedDict, total=False):
    """Options of all retrievers, for type checkers."""

    name: str | None
    tags: list[str] | None
    metadata: dict[str, Any] | None


class WrappingRetriever(Verifiable, BaseRetriever, CheckedOptions):
    """A retriever around another one: asked in steps, the same sync and async."""

    base_retriever: Retriever

    @abstractmethod
    def _fetch(
        self, config: RunnableConfig, call: dict[str, Any], k: int | None
    ) -> Fetch:
        """Return how the wrapped retriever is asked."""

    @abstractmethod
    def _steps(self, query: str, fetch: Fetch) -> Steps[Ordered]:
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
            **kwargs: `k` for this call. Anything else is passed on to the wrapped
                retriever, such as a `filter`.

        Raises:
            InvalidOptionError: `k` is not possible, or an option was given that is
                set on construction.
        """
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
        config = ensure_config(config)
        return await super().ainvoke(input, config, outer_config=config, **kwargs)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Configurable fields of the wrapped retriever."""
        return self.base_retriever.config_specs

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **call: Any
    ) -> list[Document]:
        fetch = self._called(run_manager, **call)
        return self._reported(carry_out(self._steps(query, fetch)))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **call: Any,
    ) -> list[Document]:
        fetch = self._called(run_manager, **call)
        return self._reported(await acarry_out(self._steps(query, fetch)))

    def _called(
        self,
        run_manager: CallbackManagerForRetrieverRun
        | AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        outer_config: RunnableConfig | None = None,
        **call: Any,
    ) -> Fetch:
        refuse_options(type(self).__name__, call)
        check_option("k", k)
        config = patch_config(outer_config, callbacks=run_manager.get_child())
        return self._fetch(config, call, k)

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        """Tracing parameters: those of the wrapped retriever under our name."""
        kwargs.pop("outer_config", None)
        own = super()._get_ls_params(**kwargs)
        of_wrapped = getattr(self.base_retriever, "_get_ls_params", None)
        return own if of_wrapped is None else {**of_wrapped(**kwargs), **own}


def refuse_options(component: str, call: Iterable[str]) -> None:
    """Refuse arguments of a call that are options: stores take them and do nothing.

    Raises:
        InvalidOptionError: For the first one.
    """
    for option in call:
        if option in _OF_CONSTRUCTION:
            message = (
                f"{option}= is no argument of a search. Set it on {component}, or give "
                "k= for the number of documents."
            )
            raise InvalidOptionError(message, option=option, value=None)


def wrapped_retriever(
    base_retriever: RetrieverLike | None, vectorstore: VectorStore | None
) -> RetrieverLike:
    """Return the retriever that one of the two arguments means.

    Raises:
        InvalidOptionError: Both are given, or none, or `vectorstore` is no such store.
    """
    if (base_retriever is None) is (vectorstore is None):
        found = "neither" if vectorstore is None else "both"
        message = (
            "One retriever or one vector store is searched: base_retriever= or "
            f"vectorstore=, and {found} was given. Give one of them."
        )
        raise InvalidOptionError(message, option="base_retriever", value=base_retriever)
    if base_retriever is not None:
        return base_retriever
    if not isinstance(vectorstore, VectorStore):
        message = (
            f"vectorstore= is {named(vectorstore)}. It takes a vector store of "
            "LangChain."
        )
        raise InvalidOptionError(message, option="vectorstore", value=vectorstore)
    return vectorstore.as_retriever()
