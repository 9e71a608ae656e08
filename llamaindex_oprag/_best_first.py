"""Nodes best first, enough for every rung, whatever was told to order them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore

from llamaindex_oprag._convert import hit_of
from llamaindex_oprag._wrapping import Fetch
from llamaindex_oprag.postprocessors import OrderPreservingPostprocessor
from llamaindex_oprag.retrievers import OrderPreservingRetriever
from oprag.context import arrange
from oprag.routing import RouteOptions


class Filling:
    """How much is retrieved for one question.

    Where a rung has a number of tokens to fill, an index retriever that was left at
    LlamaIndex's default is asked for as many nodes as fill the largest.

    Args:
        retriever: Not written to.
        options: See `RouteOptions`.
    """

    def __init__(self, retriever: BaseRetriever, options: RouteOptions) -> None:
        budgets = [rung.token_budget for rung in options.rungs if rung.token_budget]
        self._options = replace(
            options.context, token_budget=max(budgets, default=None)
        )
        self._fetch = Fetch(_best_first_retriever(retriever), self._options)

    def retriever(self) -> BaseRetriever:
        """Return the retriever to ask next."""
        return self._fetch.retriever()

    def wants_more(self, nodes: Sequence[NodeWithScore]) -> bool:
        """Say whether to ask again, for more."""
        if self._options.token_budget is None:
            return False
        hits = [hit_of(node) for node in nodes]
        used_all = arrange(hits, self._options).used_all
        return self._fetch.wants_more(nodes, used_all=used_all)


def _best_first_retriever(retriever: BaseRetriever) -> BaseRetriever:
    """Have an `OrderPreservingRetriever` leave the order to us.

    What does not fit a rung is left out from the end, which has to be the worst.
    """
    if not isinstance(retriever, OrderPreservingRetriever):
        return retriever
    ranking = copy.copy(retriever)
    ranking._options = retriever._options.best_first()  # noqa: SLF001 -- our own class
    ranking._rescore = None  # noqa: SLF001 -- as above
    return ranking


def best_first_postprocessor(
    postprocessor: BaseNodePostprocessor,
) -> BaseNodePostprocessor:
    """Have an `OrderPreservingPostprocessor` select alone, for the same reason."""
    if not isinstance(postprocessor, OrderPreservingPostprocessor):
        return postprocessor
    options = postprocessor.context_options().best_first()
    changed = ("selection", "order", "merge", "gap_mark")
    changes = {name: getattr(options, name) for name in changed}
    return postprocessor.model_copy(update={**changes, "rescore": None})
