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
from oprag.routing import RouteOptions, is_enough, tokens_to_retrieve


class Filling:
    """How much is retrieved for one question.

    An index retriever that was left at LlamaIndex's default is asked for as many nodes
    as fill the largest rung, where nobody said how many: neither of it nor of what of
    ours is around it or behind it.

    Args:
        retriever: Not written to.
        postprocessors: What the nodes go through then.
        options: See `RouteOptions`.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        postprocessors: Sequence[BaseNodePostprocessor],
        options: RouteOptions,
    ) -> None:
        self._options = options.context
        self._around: OrderPreservingRetriever | None = None
        chosen = [
            each.context_options()
            for each in postprocessors
            if isinstance(each, OrderPreservingPostprocessor)
        ]
        budgets = [each.token_budget or 0 for each in chosen]
        tokens = tokens_to_retrieve(options.rungs)
        self._tokens = None if tokens is None else max(tokens, *budgets, 0)
        if isinstance(retriever, OrderPreservingRetriever):
            retriever = _best_first_retriever(retriever)
            own = retriever._options  # noqa: SLF001 -- our own class
            if own.top_n is None and own.token_budget is None:
                if retriever._widen is None or self._tokens is None:  # noqa: SLF001 -- as above
                    self._around, retriever = retriever, retriever.base_retriever
                else:
                    filled = replace(own, token_budget=self._tokens)
                    # A budget that nobody set is no mistake if it stays unfilled.
                    retriever._options = filled  # noqa: SLF001 -- as above
                    retriever._problems.is_new("unfilled")  # noqa: SLF001 -- as above
        wanted = replace(options.context, token_budget=self._tokens)
        self._fetch = Fetch(retriever, wanted)
        self.chosen = not self._fetch.fills or any(
            each.top_n or each.token_budget for each in chosen
        )
        """Whether somebody said how much is retrieved."""

    def retriever(self) -> BaseRetriever:
        """Return the retriever to ask next."""
        asked = self._fetch.retriever()
        if self._around is None:
            return asked
        around = copy.copy(self._around)
        around.base_retriever = asked
        return around

    def wants_more(self, nodes: Sequence[NodeWithScore]) -> bool:
        """Say whether to ask again, for more."""
        if self._tokens is None or not self._fetch.fills:
            return False
        hits = [hit_of(node) for node in nodes]
        enough = is_enough(hits, self._options, self._tokens)
        return self._fetch.wants_more(nodes, used_all=not enough)


def _best_first_retriever(
    retriever: OrderPreservingRetriever,
) -> OrderPreservingRetriever:
    """Have an `OrderPreservingRetriever` leave the order to us.

    What does not fit a rung is left out from the end, which has to be the worst.
    """
    ranking = copy.copy(retriever)
    ranking._options = retriever._options.best_first()  # noqa: SLF001 -- our own class
    return ranking


def best_first_postprocessor(
    postprocessor: BaseNodePostprocessor,
) -> BaseNodePostprocessor:
    """Have an `OrderPreservingPostprocessor` select alone, for the same reason."""
    if not isinstance(postprocessor, OrderPreservingPostprocessor):
        return postprocessor
    options = postprocessor.context_options().best_first()
    changed = ("order", "merge", "citations")
    changes = {name: getattr(options, name) for name in changed}
    return postprocessor.model_copy(update=changes)
