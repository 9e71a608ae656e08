"""How many chunks a wrapped retriever is asked for, and whether to ask again."""

from __future__ import annotations

from typing import Any, NamedTuple

from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import merge_configs
from langchain_core.vectorstores import VectorStoreRetriever

from oprag.context import FetchPlan, check_option

_MMR_CANDIDATES = 20
"""LangChain's default `fetch_k`: what maximal marginal relevance chooses from."""


def checked_k(k: Any) -> int | None:
    """Return `k` if it is possible: a whole number from 1 on, or None.

    Raises:
        InvalidOptionError: It is not.
    """
    check_option("k", k)
    wanted: int | None = k
    return wanted


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
    ) -> None:
        self.config = config
        self.k = k
        self._call = call
        self._search = _store_search(retriever, config)
        self._given = None
        self._plan = None
        if self._search is not None:
            self._given = {**self._search.arguments, **call}.get("k")
            if at_least is not None:
                self._plan = FetchPlan.beginning_with(max(at_least, self._given or 0))
            elif self._given is None and k is None and token_budget is not None:
                self._plan = FetchPlan(token_budget, candidates)

    @property
    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for the next call of the wrapped retriever."""
        k = self.k if self._plan is None else self._plan.k
        if self._search is None or k is None or k <= (self._given or 0):
            return self._call
        asked = {**self._call, "k": k}
        if self._search.kind == "mmr":
            candidates = {**self._search.arguments, **self._call}.get("fetch_k")
            if (candidates or _MMR_CANDIDATES) < k:
                asked["fetch_k"] = k  # it cannot choose more than it looks at
        return asked

    def wants_more(self, found: int, *, used_all: bool) -> bool:
        """Whether to ask once more, for more.

        Args:
            found: Documents that came.
            used_all: Whether all of them fitted the budget.
        """
        plan = self._plan
        return plan is not None and plan.wants_more(returned=found, used_all=used_all)

    def limited_by(self, found: int) -> str | None:
        """What to change so that more would come; None when there is no more.

        Args:
            found: Documents that came.
        """
        if self._search is None:
            return (
                "raise the number of documents that the wrapped retriever returns, or "
                "wrap the vector store itself (vectorstore=)"
            )
        asked = max(self.k or 0, self._given or 0)
        if self._plan is not None or found < asked:
            return None
        if asked == self.k:
            return f"leave k={asked} out or raise it"
        return f'take "k": {asked} out of search_kwargs or raise it'


class _StoreSearch(NamedTuple):
    """What a vector store's retriever will search with."""

    kind: str
    arguments: dict[str, Any]


def _store_search(retriever: Any, config: RunnableConfig) -> _StoreSearch | None:
    """The settings of a vector store's retriever; None for any other."""
    # Here, so that importing the package does not take as long again.
    from langchain_core.runnables.configurable import DynamicRunnable

    bound: dict[str, Any] = {}
    while not isinstance(retriever, VectorStoreRetriever):
        if isinstance(retriever, RunnableBindingBase):
            bound = {**retriever.kwargs, **bound}
            config = merge_configs(retriever.config, config)
            retriever = retriever.bound
        elif isinstance(retriever, DynamicRunnable):
            retriever, config = retriever.prepare(config)
        else:
            return None
    return _StoreSearch(retriever.search_type, {**retriever.search_kwargs, **bound})
