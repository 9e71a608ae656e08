"""How many chunks the retriever inside is asked for, in one retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import VectorStoreRetriever

from langchain_oprag._convert import hits_of
from langchain_oprag._options import unwrapped
from oprag.context import FetchPlan
from oprag.effects import Effect

_MMR_CANDIDATES = 20
"""LangChain's default `fetch_k`: how many documents it chooses from."""


class Fetch:
    """The calls that one retrieval makes to the wrapped retriever.

    `k` is passed on only to a vector store's retriever, as it is or inside
    `with_config`, `with_retry`, `bind` and `configurable_fields`: others ignore the
    argument or fail on it.

    Args:
        retriever: The one that is wrapped.
        config: Passed to it; sets its configurable fields.
        call: Further arguments of this call, passed on.
        k: How many documents to return; None for as many as come.
        plan: How many chunks to ask a store for if no `k` is set; None for its own
            default.
        at_least: Minimum for the first fetch, whatever the retriever's own `k`.
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
        self.k = k
        self._plan: FetchPlan | None = None
        self._arguments: dict[str, Any] = {}
        """Store search arguments."""
        inner: Any = retriever
        bound: dict[str, Any] = {}
        if not isinstance(retriever, VectorStoreRetriever):
            inner, _, bound = unwrapped(retriever, config)
        self._of_store = isinstance(inner, VectorStoreRetriever)
        if self._of_store:
            self._arguments = {**inner.search_kwargs, **bound, **call}
            self._is_mmr = inner.search_type == "mmr"
            if at_least:
                self._plan = FetchPlan.start_with(max(at_least, self._given))
            elif not self._given and k is None:
                self._plan = plan

    @property
    def _given(self) -> int:
        """The `k` of the wrapped retriever's own search; 0 without one."""
        return self._arguments.get("k") or 0

    @property
    def asked(self) -> int:
        """How many chunks to ask a store for; 0 to leave that to it."""
        k = self.k if self._plan is None else self._plan.k
        return max(k or 0, self._given) if self._of_store else 0

    @property
    def fills(self) -> bool:
        """Whether oprag chooses how many chunks are asked for."""
        return self._plan is not None

    def asking(self, query: str) -> Effect:
        """Return the next call to the wrapped retriever."""
        retriever, config, call = self.search
        if (k := self.asked) > self._given:
            call = {**call, "k": k}
            if self._is_mmr and (self._arguments.get("fetch_k") or _MMR_CANDIDATES) < k:
                call["fetch_k"] = k  # it cannot choose more than it looks at
        return Effect(
            partial(retriever.invoke, query, config, **call),
            partial(retriever.ainvoke, query, config, **call),
        )

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
        """Whether a larger fetch may find more; not where `k` or a plan decides."""
        if self.k is not None or self._plan is not None:
            return False
        return not self._of_store or found >= self._given
