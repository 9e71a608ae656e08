"""How many nodes are asked for, so that a token budget can be filled."""

from __future__ import annotations

import copy
from collections.abc import Sized

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever

from oprag.context import ContextOptions, FetchPlan, candidates_for


class Fetch:
    """How many nodes the base retriever is asked for, in one retrieval.

    Args:
        base: The retriever underneath. Not written to: copies of it ask for more.
        options: With `top_n` for the retriever's own `similarity_top_k`.
        at_least: Nodes to begin with, whatever is to be filled with them; more are
            asked for if those were not enough. None to leave that to the options.
    """

    def __init__(
        self,
        base: BaseRetriever,
        options: ContextOptions,
        *,
        at_least: int | None = None,
    ) -> None:
        self._base = base
        self._plan: FetchPlan | None = None
        self._k: int | None = None
        self._found = 0
        self.exhausted = False
        """Whether the store gave fewer nodes than it was asked for."""
        self.setting = (
            f"let {type(base).__name__} return more nodes (often similarity_top_k=)"
        )
        """What to change to get more."""
        if not isinstance(base, VectorIndexRetriever):
            return
        self._k = base.similarity_top_k
        self.setting = "raise similarity_top_k=, or leave it out everywhere"
        if at_least is not None:
            self._plan = FetchPlan.beginning_with(max(at_least, self._k))
        elif options.top_n is not None:
            self._k = max(self._k, options.top_n)
        elif (
            options.token_budget
            and options.selection != "top_k"
            and self._k == DEFAULT_SIMILARITY_TOP_K
        ):
            candidates = candidates_for(options.selection)
            self._plan = FetchPlan(options.token_budget, candidates)

    def retriever(self) -> BaseRetriever:
        """Return the base retriever, or a copy that asks for as many as wanted."""
        if not isinstance(self._base, VectorIndexRetriever):
            return self._base
        wanted = self._k if self._plan is None else self._plan.k
        if wanted is None or wanted == self._base.similarity_top_k:
            return self._base
        asking = copy.copy(self._base)
        asking.similarity_top_k = wanted
        return asking

    def wants_more(self, found: Sized, *, used_all: bool) -> bool:
        """Say whether to ask again, for more."""
        if self._plan is None:
            self.exhausted = self._k is not None and len(found) < self._k
            return False
        returned, self._found = self._returned(found, self._plan.k), len(found)
        wanted = self._plan.wants_more(returned=returned, used_all=used_all)
        self.exhausted = self._plan.exhausted
        return wanted

    def _returned(self, found: Sized, asked: int) -> int:
        """Nodes that the store gave: several index nodes may stand for one object."""
        if self._base.object_map and len(found) > self._found:
            return max(asked, len(found))
        return len(found)
