"""How many nodes the retriever inside is asked for, in one retrieval."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.schema import NodeWithScore

from llamaindex_oprag._convert import hits_of
from oprag.context import FetchPlan


class Fetch:
    """How many nodes the base retriever is asked for, in one retrieval.

    Args:
        base: The retriever underneath. Not written to: copies of it ask for more.
        k: How many nodes to return; None for as many as come.
        plan: How many nodes an index is asked for where nobody says it: neither `k`
            nor a `similarity_top_k` other than LlamaIndex's default.
        at_least: Nodes to begin with, whatever the retriever's own number.
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
        self._plan: FetchPlan | None = None
        self._k: int | None = None
        if isinstance(base, VectorIndexRetriever):
            own = base.similarity_top_k
            self._k = max(own, k or 0)
            if at_least:
                self._plan = FetchPlan.start_with(max(at_least, own))
            elif k is None and own == DEFAULT_SIMILARITY_TOP_K:
                self._plan = plan

    @property
    def fills(self) -> bool:
        """Whether as many nodes are asked for as fill the budget."""
        return self._plan is not None

    @property
    def asked(self) -> int:
        """Return how many nodes are asked for; 0 where that is not known."""
        return (self._k if self._plan is None else self._plan.k) or 0

    def retriever(self) -> BaseRetriever:
        """Return the base retriever, or a copy that asks for as many as wanted."""
        asked = self.asked
        if not asked or asked == getattr(self.base, "similarity_top_k", asked):
            return self.base
        asking: Any = copy.copy(self.base)
        asking.similarity_top_k = asked
        return asking  # type: ignore[no-any-return]  # a copy of the same class

    def wants_more(self, found: Sequence[NodeWithScore], *, used_all: bool) -> bool:
        """Say whether to ask again, for more."""
        return self._plan is not None and self._plan.wants_more(
            partial(hits_of, found), returned=len(found), used_all=used_all
        )

    def may_have_more(self, found: int) -> bool:
        """Whether more would come if more were asked for."""
        return self._plan is None and (self._k is None or found >= self._k)
