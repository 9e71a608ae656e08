"""Retrievers around another one: its calls, its filter, its attributes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import isroutine
from typing import Any, TypeAlias, TypedDict, TypeVar

from langchain_core.documents import Document
from langchain_core.retrievers import (
    BaseRetriever,
    LangSmithRetrieverParams,
    RetrieverLike,
)
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase, RunnableSequence
from langchain_core.runnables.branch import RunnableBranch
from langchain_core.runnables.config import ensure_config, merge_configs
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import ValidationError

from langchain_oprag._by_vector import embedding_once
from langchain_oprag._convert import hits_of
from langchain_oprag._options import CheckedOptions, Retriever
from langchain_oprag._store_search import StoreSearch
from oprag.context import DESCRIPTIONS, FetchPlan, Widen, check_option
from oprag.documents import SearchFilter, inner_retrievers, is_unchanged, one_filter
from oprag.errors import InvalidOptionError, named

_OF_CONSTRUCTION = {*DESCRIPTIONS, "top_n", "similarity_top_k", "top_k"}
_MMR_CANDIDATES = 20
"""LangChain's default `fetch_k`: what maximal marginal relevance chooses from."""
_Received = TypeVar("_Received")
_Receive: TypeAlias = Callable[[list[Document]], tuple[_Received, bool]]
"""From what came to a result, and whether to ask for more instead."""
_AReceive: TypeAlias = Callable[[list[Document]], Awaitable[tuple[_Received, bool]]]


class Fetch:
    """The questions that one retrieval puts to the wrapped retriever.

    `k` is passed on only to a vector store's retriever, as it is or inside
    `with_config`, `with_retry`, `bind` and `configurable_fields`: others ignore the
    argument or fail on it. Without any `k` such a retriever is asked for as many
    chunks as fill the budget, and for more until it is full or the store is empty.

    Args:
        retriever: The one that is wrapped.
        config: What it is called with: it decides configurable fields.
        call: Further arguments of this call, passed on.
        k: How many documents to return; None for as many as come.
        token_budget: Tokens to fill; None for no budget.
        at_least: Chunks to begin with, whatever is to be filled with them, even where
            the retriever has a `k` of its own; None to leave that to the others.
        candidates: Chunks to ask for at least where there is a budget to fill and no
            `k`; None for no more than fill it.
        widen: See `FetchPlan`.
    """

    def __init__(
        self,
        retriever: RetrieverLike,
        config: RunnableConfig,
        call: dict[str, Any],
        *,
        k: int | None,
        token_budget: int | None,
        at_least: int | None = None,
        candidates: int | None = None,
        widen: Widen | None = None,
    ) -> None:
        self.config, self.call, self.k = config, call, k
        self.retriever = self._retriever = retriever
        inner, _, bound = unwrapped(retriever, config)
        self._of_store = isinstance(inner, VectorStoreRetriever)
        self._plan: FetchPlan | None = None
        self._search: dict[str, Any] = {}
        """Arguments of the store's own search."""
        if self._of_store:
            self._search = {**inner.search_kwargs, **bound, **call}
            self._is_mmr = inner.search_type == "mmr"
            given = self._search.get("k")
            if at_least is not None:
                self._plan = FetchPlan.beginning_with(max(at_least, given or 0))
            elif given is None and k is None and token_budget is not None:
                self._plan = FetchPlan(token_budget, candidates, widen)
        if self._plan is not None:
            self.retriever = embedding_once(retriever)

    @property
    def _given(self) -> int:
        """The `k` of the wrapped retriever's own search; 0 without one."""
        return self._search.get("k") or 0

    @property
    def asked(self) -> int:
        """How many chunks a store is asked for; 0 where that is left to it."""
        return self.arguments.get("k") or self._given

    def filtered_by(self) -> SearchFilter:
        """Return the filter of the search."""
        return search_filter(self._retriever, self.config, self.call)

    @property
    def fills(self) -> bool:
        """Whether as many chunks are asked for as fill the budget."""
        return self._plan is not None

    @property
    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for the next call of the wrapped retriever."""
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


def search_filter(
    retriever: Any, config: RunnableConfig, call: Mapping[str, Any]
) -> SearchFilter:
    """Tell what a retriever's search is filtered by, as far as that can be seen.

    Args:
        retriever: Any.
        config: What it is called with: it decides configurable fields.
        call: Further arguments of the call.
    """
    retriever, config, bound = unwrapped(retriever, config)
    call = {**bound, **call}
    if inner := searched_with(retriever):
        return one_filter(search_filter(each, config, call) for each in inner)
    known = isinstance(retriever, StoreSearch)
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


def searched_with(retriever: Any) -> list[Any]:
    """The retrievers that another one searches with; empty where it does so itself."""
    if isinstance(retriever, RunnableSequence):
        return [retriever.last]
    if isinstance(retriever, RunnableBranch):
        return [*(chosen for _, chosen in retriever.branches), retriever.default]
    return inner_retrievers(retriever, _INSIDE)


class WrappingKeywords(TypedDict, total=False):
    """Options of all retrievers, for type checkers."""

    name: str | None
    tags: list[str] | None
    metadata: dict[str, Any] | None


class WrappingRetriever(BaseRetriever, CheckedOptions):
    """A retriever around another one, whose attributes it passes through."""

    base_retriever: Retriever

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
        self._check_question(input)
        config = ensure_config(config)
        return super().invoke(input, config, outer_config=config, **kwargs)

    async def ainvoke(
        self,
        input: str,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Async version of `invoke`."""
        self._check_question(input)
        config = ensure_config(config)
        return await super().ainvoke(input, config, outer_config=config, **kwargs)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Configurable fields of the wrapped retriever."""
        return self.base_retriever.config_specs

    def _fetched(
        self, query: str, fetch: Fetch, receive: _Receive[_Received]
    ) -> _Received:
        """Ask the wrapped retriever until `receive` wants no more."""
        more = True
        while more:
            found = fetch.retriever.invoke(query, fetch.config, **fetch.arguments)
            received, more = receive(found)
        return received

    async def _afetched(
        self, query: str, fetch: Fetch, receive: _AReceive[_Received]
    ) -> _Received:
        """Async version of `_fetched`."""
        more = True
        while more:
            found = await fetch.retriever.ainvoke(
                query, fetch.config, **fetch.arguments
            )
            received, more = await receive(found)
        return received

    def _check_question(self, question: Any) -> None:
        """Refuse what no retriever takes; another runnable may take anything."""
        asked, *_ = unwrapped(self.base_retriever, {})
        if isinstance(asked, BaseRetriever):
            check_question(type(self).__name__, question)

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        """Tracing parameters: those of the wrapped retriever under our name."""
        kwargs.pop("outer_config", None)
        own = super()._get_ls_params(**kwargs)
        of_wrapped = getattr(self.base_retriever, "_get_ls_params", None)
        return own if of_wrapped is None else {**of_wrapped(**kwargs), **own}

    def __getattr__(self, name: str) -> Any:
        """Pass through what the wrapped retriever has, but none of its searches."""
        if name.startswith("_") or "base_retriever" not in self.__dict__:
            return super().__getattr__(name)  # type: ignore[misc]  # pydantic hides it
        value = getattr(self.base_retriever, name)
        if isroutine(value) and not name.endswith("add_documents"):
            message = f"{name!r} is a method of base_retriever. Call it there."
            raise AttributeError(message, name=name, obj=self)
        return value


def check_question(component: str, question: Any) -> None:
    """Refuse a question that is no text.

    Raises:
        InvalidOptionError: It is none.
    """
    if not isinstance(question, str):
        message = f"{component} takes the question as a text, not {named(question)}."
        raise InvalidOptionError(message, option="input", value=question)


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
    base_retriever: RetrieverLike | None, vectorstore: VectorStore | None, **search: Any
) -> RetrieverLike:
    """Return the retriever that the arguments mean together.

    Args:
        base_retriever: The retriever, or None.
        vectorstore: A store in its place, or None.
        **search: `search_type` and `search_kwargs`; None where they were not given.

    Raises:
        InvalidOptionError: They do not go together.
    """
    search = {name: value for name, value in search.items() if value is not None}
    wrapped = {"base_retriever": base_retriever, "vectorstore": vectorstore}
    given = [name for name, value in wrapped.items() if value is not None]
    if len(given) != 1 or (search and vectorstore is None):
        found = ", ".join([*given, *search]) or "nothing"
        message = (
            f"One retriever or one vector store is searched, and {found} was given. "
            "Give base_retriever=, or vectorstore= with search_type=, search_kwargs=."
        )
        raise InvalidOptionError(message, option="base_retriever", value=base_retriever)
    if vectorstore is None:
        return base_retriever  # type: ignore[return-value]  # it was given
    if not isinstance(vectorstore, VectorStore):
        message = (
            f"vectorstore= is {named(vectorstore)}. It takes a vector store of "
            "LangChain."
        )
        raise InvalidOptionError(message, option="vectorstore", value=vectorstore)
    try:
        retriever = vectorstore.as_retriever(**search)
    except ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        message = f"search_type= and search_kwargs= are refused: {said}"
        raise InvalidOptionError(message, option="search_type", value=search) from None
    check_option("k", retriever.search_kwargs.get("k"))
    return retriever
