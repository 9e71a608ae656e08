"""`OrderPreservingRetriever`: any retriever, its nodes in document order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle

from llamaindex_oprag._convert import Arranged, arrange
from llamaindex_oprag._fetching import Fetch
from llamaindex_oprag._options import check_rescore, warn_unfilled
from oprag.context import ContextOptions
from oprag.errors import InvalidOptionError

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


class OrderPreservingRetriever(BaseRetriever):
    """Retrieves with another retriever and returns the nodes in document order.

    Put it around the whole retrieval: what sorts afterwards (fusion, rerankers)
    undoes the order. Its public attributes and methods are those of the retriever it
    wraps, where it has none of that name itself.

    How much is fetched:

    - `similarity_top_k` keeps that many nodes, of the best. A vector index retriever
      underneath is asked for as many, if it would give fewer.
    - `token_budget` alone, over a vector index retriever that was left at
      LlamaIndex's default of 2 nodes: as many nodes as fit the budget (with
      `selection="segments"` 400 at least, with `"expand"` and `preset="recall"` 1,200).
      What is asked for grows until the budget is full or the store is exhausted.
    - Any other `similarity_top_k` of the retriever underneath is kept to. Its
      filters, query mode and other settings always are; it is not written to.

    Args:
        base_retriever: Returns nodes best first.
        similarity_top_k: Nodes to return at most; None for as many as come. Can be
            assigned later.
        token_budget: Tokens that the nodes may take together as they are sent; None
            for no limit.
        rescore: Metadata key to write values to that fall in output order, see
            `OrderPreservingPostprocessor`.
        callback_manager: None for that of `base_retriever`.
        object_map: What index nodes stand for, by their `index_id`; for those that
            `base_retriever` does not resolve itself. They are resolved before the
            nodes are put in order.
        objects: The same as a list of index nodes that hold their objects.
        verbose: Print what index nodes are resolved to.
        **options: The other fields of `oprag.context.ContextOptions`: `merge`,
            `gap_mark`, `overflow`, `position_keys` and so on.

    Raises:
        InvalidOptionError: On construction, for an option that does not exist or a
            value that it cannot have.

    Warns:
        UnfilledBudgetWarning: Once, when everything that came fits the budget and
            more could not be asked for.
    """

    def __init__(
        self,
        base_retriever: BaseRetriever,
        *,
        similarity_top_k: int | None = None,
        token_budget: int | None = None,
        rescore: str | None = None,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
        **options: Any,
    ) -> None:
        if not isinstance(base_retriever, BaseRetriever):
            raise _no_retriever(base_retriever)
        if "top_n" in options:
            message = "A retriever takes similarity_top_k= in place of top_n=."
            raise InvalidOptionError(message, option="top_n", value=options["top_n"])
        check_rescore(rescore)
        _check_top_k(similarity_top_k)
        self._options = ContextOptions.from_options(
            {**options, "top_n": similarity_top_k, "token_budget": token_budget}
        )
        if token_budget is not None:
            self._options = self._options.counting_once()
        self._rescore = rescore
        self._warned = False
        self.base_retriever = base_retriever
        inherited = getattr(base_retriever, "callback_manager", None)
        super().__init__(
            callback_manager=callback_manager or inherited,
            object_map=object_map,
            objects=objects,
            verbose=verbose,
        )

    @property
    def similarity_top_k(self) -> int | None:
        """Nodes to return at most; where not given, that of the base retriever."""
        if self._options.top_n is not None:
            return self._options.top_n
        return getattr(self.base_retriever, "similarity_top_k", None)

    @similarity_top_k.setter
    def similarity_top_k(self, similarity_top_k: int | None) -> None:
        _check_top_k(similarity_top_k)
        self._options = replace(self._options, top_n=similarity_top_k)

    def __getattr__(self, name: str) -> Any:
        """Pass through what the base retriever has and this one has not."""
        if name.startswith("_") or name == "base_retriever":  # while being copied
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        return getattr(self.base_retriever, name)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        fetch = Fetch(self.base_retriever, self._options)
        while True:
            found = fetch.retriever().retrieve(query_bundle)
            nodes = super()._handle_recursive_retrieval(query_bundle, found)
            arranged = arrange(nodes, self._options, rescore=self._rescore)
            if not fetch.wants_more(found, used_all=arranged.used_all):
                return self._finish(fetch, nodes, arranged)

    @_dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        fetch = Fetch(self.base_retriever, self._options)
        while True:
            found = await fetch.retriever().aretrieve(query_bundle)
            nodes = await super()._ahandle_recursive_retrieval(query_bundle, found)
            arranged = arrange(nodes, self._options, rescore=self._rescore)
            if not fetch.wants_more(found, used_all=arranged.used_all):
                return self._finish(fetch, nodes, arranged)

    def _finish(
        self, fetch: Fetch, nodes: list[NodeWithScore], arranged: Arranged
    ) -> list[NodeWithScore]:
        counts = self._options.selection != "top_k"
        budget = self._options.token_budget if counts else None
        starved = arranged.used_all and bool(nodes) and not fetch.exhausted
        if budget is not None and starved and not self._warned:
            self._warned = True
            warn_unfilled(self, budget, len(nodes), fetch.setting)
        return arranged.nodes

    def _handle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        """Leave the nodes as they are: index nodes were resolved before ordering."""
        return nodes

    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes

    def _get_prompts(self) -> PromptDictType:
        return self.base_retriever._get_prompts()  # noqa: SLF001 -- overridden here

    def _get_prompt_modules(self) -> PromptMixinType:
        return self.base_retriever._get_prompt_modules()  # noqa: SLF001 -- as above

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        self.base_retriever._update_prompts(prompts_dict)  # noqa: SLF001 -- as above


def _check_top_k(similarity_top_k: Any) -> None:
    if similarity_top_k is None or (
        type(similarity_top_k) is int and similarity_top_k >= 1
    ):
        return
    message = (
        f"similarity_top_k={similarity_top_k!r} is not possible. It takes a whole "
        "number from 1 on, or None for as many as the base retriever gives."
    )
    raise InvalidOptionError(message, option="similarity_top_k", value=similarity_top_k)


def _no_retriever(value: Any) -> InvalidOptionError:
    hint = "Pass index.as_retriever()." if hasattr(value, "as_retriever") else ""
    message = f"base_retriever takes a retriever, not a {type(value).__name__}. {hint}"
    return InvalidOptionError(message.rstrip(), option="base_retriever", value=value)
