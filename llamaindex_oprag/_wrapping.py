"""Retrievers around another one: its calls, its filter, its attributes."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from inspect import isroutine
from typing import Any, TypeAlias, TypeVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from llamaindex_oprag._convert import hit_of
from oprag.context import ContextOptions, FetchPlan, Widen, candidates_for
from oprag.documents import SearchFilter, inner_retrievers, is_unchanged, one_filter
from oprag.errors import InvalidOptionError, named
from oprag.tokens import in_thread

_Received = TypeVar("_Received")
_Receive: TypeAlias = Callable[[list[NodeWithScore]], tuple[_Received, bool]]
"""From what came, index nodes resolved, to a result, and whether all was used."""
_AReceive: TypeAlias = Callable[
    [list[NodeWithScore]], Awaitable[tuple[_Received, bool]]
]


class Fetch:
    """How many nodes the base retriever is asked for, in one retrieval.

    Args:
        base: The retriever underneath. Not written to: copies of it ask for more.
        options: With `top_n` for the retriever's own `similarity_top_k`.
        at_least: Nodes to begin with, whatever is to be filled with them; more are
            asked for if those were not enough. None to leave that to the options.
        widen: See `FetchPlan`.
    """

    def __init__(
        self,
        base: BaseRetriever,
        options: ContextOptions,
        *,
        at_least: int | None = None,
        widen: Widen | None = None,
    ) -> None:
        self._base = base
        self._plan: FetchPlan | None = None
        self._k: int | None = None
        self._found = 0
        self.exhausted = False
        """Whether the store gave fewer nodes than it was asked for."""
        if not isinstance(base, VectorIndexRetriever):
            return
        self._k = base.similarity_top_k
        if at_least is not None:
            self._plan = FetchPlan.beginning_with(max(at_least, self._k))
        elif options.top_n is not None:
            self._k = max(self._k, options.top_n)
        elif options.token_budget and self._k == DEFAULT_SIMILARITY_TOP_K:
            candidates = candidates_for(options.selection)
            self._plan = FetchPlan(options.token_budget, candidates, widen)

    @property
    def fills(self) -> bool:
        """Whether as many nodes are asked for as fill the budget."""
        return self._plan is not None

    @property
    def asked(self) -> int:
        """How many nodes are asked for; 0 where that is not known."""
        return (self._k if self._plan is None else self._plan.k) or 0

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

    async def aembedded(self, query: QueryBundle) -> QueryBundle:
        """Return the query with its vector, where it may be asked more than once.

        Awaited, LlamaIndex's retriever embeds a query each time; else it notes the
        vector on the query. One that does something else with it is left alone.
        """
        base = self._base
        if not self.fills or query.embedding is not None or not query.embedding_strs:
            return query
        if not is_unchanged(base, VectorIndexRetriever):
            return query
        if not base._needs_embedding():  # type: ignore[attr-defined]  # noqa: SLF001 -- nothing public tells
            return query
        model = base._embed_model  # type: ignore[attr-defined]  # noqa: SLF001 -- as above
        vector = await model.aget_agg_embedding_from_queries(query.embedding_strs)
        return dataclasses.replace(query, embedding=vector)

    def wants_more(self, found: Sequence[NodeWithScore], *, used_all: bool) -> bool:
        """Say whether to ask again, for more."""
        if self._plan is None:
            self.exhausted = self._k is not None and len(found) < self._k
            return False
        returned, self._found = self._returned(found, self._plan.k), len(found)
        wanted = self._plan.wants_more(
            lambda: map(hit_of, found), returned=returned, used_all=used_all
        )
        self.exhausted = self._plan.exhausted
        return wanted

    def _returned(self, found: Sequence[NodeWithScore], asked: int) -> int:
        """Nodes that the store gave: several index nodes may stand for one object."""
        if self._base.object_map and len(found) > self._found:
            return max(asked, len(found))
        return len(found)


_NO_FILTERS = {"hnsw_ef_search", "ivfflat_probes", "mmr_threshold"}
_NO_FILTERS |= {"mmr_prefetch_factor", "mmr_prefetch_k"}
"""Arguments of a store's query that hide nothing."""
_OWN_FILTERS = ("where", "qdrant_filters")
"""Arguments that are a filter in the store's own form: Chroma's, Qdrant's."""
_INSIDE = {
    ("llamaindex_oprag", "OrderPreservingRetriever"): "base_retriever",
    ("llamaindex_oprag", "LongUnitRetriever"): "base_retriever",
    ("llama_index", "QueryFusionRetriever"): "_retrievers",
    ("llama_index", "AutoMergingRetriever"): "_vector_retriever",
    ("llama_index", "TransformRetriever"): "_retriever",
}
"""Retrievers that search with others alone: package, name, and where those are."""


def search_filter(retriever: Any) -> SearchFilter:
    """Tell what a retriever's search is filtered by, as far as that can be seen."""
    objects = getattr(retriever, "object_map", None) or {}
    if not all(isinstance(each, BaseNode) for each in objects.values()):
        unseen = "what the objects of index nodes filter by is not known"
        return SearchFilter(unseen=unseen)
    if inner := searched_with(retriever):
        return one_filter(map(search_filter, inner))
    if not is_unchanged(retriever, VectorIndexRetriever):
        name = type(retriever).__name__
        return SearchFilter(unseen=f"what {name} filters its search by is not known")
    query = retriever._build_vector_store_query(QueryBundle(""))  # noqa: SLF001 -- nothing public tells
    limits = {
        **retriever._kwargs,  # noqa: SLF001 -- as above
        "doc_ids": query.doc_ids,
        "customize_query_fn": getattr(
            retriever._vector_store,  # noqa: SLF001 -- as above
            "_customize_query_fn",
            None,
        ),
    }
    given = [limits.pop(name, None) for name in _OWN_FILTERS]
    if query.filters is not None and query.filters.filters:
        given.append(query.filters)
    for name, value in limits.items():
        if name not in _NO_FILTERS and value is not None:
            return SearchFilter(unseen=f"the search has {name}=, which may filter it")
    found = one_filter(SearchFilter(where or None) for where in given)
    if not query.node_ids:
        return found
    # An index gives its retrievers the ids of all its nodes.
    every = list(retriever._index.index_struct.nodes_dict.values())  # noqa: SLF001 -- as above
    ids = None if query.node_ids == every else frozenset(query.node_ids)
    return found._replace(ids=ids)


def searched_with(retriever: Any) -> list[Any]:
    """Return the retrievers that another one searches with; none if it does itself."""
    return inner_retrievers(retriever, _INSIDE)


class WrappingRetriever(BaseRetriever):
    """A retriever around another one, whose public attributes it passes through.

    Args:
        base_retriever: Returns nodes best first.
        callback_manager: None for that of `base_retriever`.
        **options: The others of `BaseRetriever`.

    Raises:
        InvalidOptionError: `base_retriever` is no retriever.
    """

    def __init__(
        self,
        base_retriever: BaseRetriever,
        *,
        callback_manager: CallbackManager | None,
        **options: Any,
    ) -> None:
        check_retriever("base_retriever", base_retriever)
        self.base_retriever = base_retriever
        manager = callback_manager or getattr(base_retriever, "callback_manager", None)
        super().__init__(callback_manager=manager, **options)

    def __getattr__(self, name: str) -> Any:
        """Pass through what the base retriever has, but none of its searches."""
        if name.startswith("_") or name == "base_retriever":  # while being copied
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        value = getattr(self.base_retriever, name)
        if isroutine(value) and not name.endswith("add_documents"):
            message = f"{name!r} is a method of base_retriever. Call it there."
            raise AttributeError(message, name=name, obj=self)
        return value

    def _fetched(
        self, query: QueryBundle, fetch: Fetch, receive: _Receive[_Received]
    ) -> _Received:
        """Ask the base retriever until `receive` did not use all that came."""
        while True:
            found = fetch.retriever().retrieve(query)
            nodes = super()._handle_recursive_retrieval(query, found)
            nodes = self._beside(query, fetch, nodes)
            received, used_all = receive(nodes)
            if not fetch.wants_more(found, used_all=used_all):
                return received

    async def _afetched(
        self, query: QueryBundle, fetch: Fetch, receive: _AReceive[_Received]
    ) -> _Received:
        """Async version of `_fetched`."""
        embedded = await fetch.aembedded(query)
        while True:
            found = await fetch.retriever().aretrieve(embedded)
            nodes = await super()._ahandle_recursive_retrieval(query, found)
            nodes = await self._abeside(query, fetch, nodes)
            received, used_all = await receive(nodes)
            work = partial(fetch.wants_more, found, used_all=used_all)
            if not await in_thread(work):
                return received

    def _beside(
        self, query: QueryBundle, fetch: Fetch, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        """Return the nodes that came, fused with what is found besides."""
        return nodes

    async def _abeside(
        self, query: QueryBundle, fetch: Fetch, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        """Async version of `_beside`."""
        return nodes

    def _handle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        """Leave the nodes as they are: index nodes were resolved before."""
        return nodes

    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"base_retriever": self.base_retriever}


def check_retriever(option: str, value: Any) -> None:
    """Reject what is no retriever.

    Raises:
        InvalidOptionError: It is none.
    """
    if isinstance(value, BaseRetriever):
        return
    message = (
        f"{option}= is {named(value)}. It takes a retriever of LlamaIndex, such as "
        "index.as_retriever()."
    )
    raise InvalidOptionError(message, option=option, value=type(value).__name__)
