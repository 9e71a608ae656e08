"""Retrievers around another one: how it is asked, and the indexes that it searches."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from llamaindex_oprag._convert import Ordered, hit_of
from llamaindex_oprag.stores import chunk_store
from oprag.context import FetchPlan, Problems
from oprag.diagnosing import Verifiable, unseen_store
from oprag.documents import (
    ChunkStore,
    SearchFilter,
    inner_retrievers,
    is_unchanged,
    one_filter,
)
from oprag.errors import InvalidOptionError, named
from oprag.tokens import Do, Steps, acarry_out, carry_out

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported there without an __all__


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
                self._plan = FetchPlan.beginning_with(max(at_least, own))
            elif k is None and own == DEFAULT_SIMILARITY_TOP_K:
                self._plan = plan

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
        asked = self.asked
        if not asked or asked == getattr(self.base, "similarity_top_k", asked):
            return self.base
        asking: Any = copy.copy(self.base)
        asking.similarity_top_k = asked
        return asking  # type: ignore[no-any-return]  # a copy of the same class

    def wants_more(self, found: Sequence[NodeWithScore], *, used_all: bool) -> bool:
        """Say whether to ask again, for more."""
        return self._plan is not None and self._plan.wants_more(
            lambda: map(hit_of, found), returned=len(found), used_all=used_all
        )

    def may_have_more(self, found: int) -> bool:
        """Whether more would come if more were asked for."""
        return self._plan is None and (self._k is None or found >= self._k)


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
    """Return what a retriever's search is filtered by, as far as that can be seen."""
    return one_filter(map(_filter, _retrievers(retriever)))


def _filter(retriever: Any) -> SearchFilter:
    objects = getattr(retriever, "object_map", None) or {}
    if not all(isinstance(each, BaseNode) for each in objects.values()):
        unseen = "what the objects of index nodes filter by is not known"
        return SearchFilter(unseen=unseen)
    if inner_retrievers(retriever, _INSIDE):
        return SearchFilter()
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


def _retrievers(retriever: Any) -> Iterator[Any]:
    """Yield a retriever, and those that it searches with."""
    yield retriever
    for inner in inner_retrievers(retriever, _INSIDE):
        yield from _retrievers(inner)


def searched_index(retriever: Any) -> Any:
    """Return the one index that a retriever searches; None where there is not one."""
    indexes = {
        id(each._index): each._index  # noqa: SLF001 -- nothing public tells
        for each in _retrievers(retriever)
        if isinstance(each, VectorIndexRetriever)
    }
    return next(iter(indexes.values())) if len(indexes) == 1 else None


def verified_stores(component: str, retriever: Any) -> list[ChunkStore]:
    """Return the stores that `verify()` looks at, read as the search's filter admits.

    Of a store that cannot be read through the filter all chunks are looked at.

    Args:
        component: Class name of what is verified.
        retriever: What it asks.
    """
    stores = []
    for each in _retrievers(retriever):
        if inner_retrievers(each, _INSIDE):
            continue
        known = isinstance(each, VectorIndexRetriever)
        index: Any = each._index if known else None  # noqa: SLF001 -- as above
        try:
            store = chunk_store(index)
        except InvalidOptionError as error:
            instead = (
                "Give index.as_retriever(), or examine what is returned: "
                "llamaindex_oprag.diagnose(retriever.retrieve(question))."
            )
            refused = each if index is None else index.vector_store
            raise unseen_store(component, refused, instead) from error
        where = _filter(each).where
        readable = where is not None and store.takes_filter(where)
        stores.append(store.within(where) if readable else store)
    return stores


class WrappingRetriever(Verifiable, BaseRetriever):
    """A retriever around another one: asked in steps, the same sync and async.

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
        self._problems = Problems(type(self).__name__)
        manager = callback_manager or getattr(base_retriever, "callback_manager", None)
        super().__init__(callback_manager=manager, **options)

    @abstractmethod
    def _steps(self, query: QueryBundle) -> Steps[Ordered]:
        """Retrieve."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._reported(carry_out(self._steps(query_bundle)))

    @_dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._reported(await acarry_out(self._steps(query_bundle)))

    def _reported(self, ordered: Ordered) -> list[NodeWithScore]:
        """Return what is read; warn of what is wrong with it."""
        if ordered.problems:
            self._problems.tell(ordered.problems)
        if ordered.lacking is not None:
            self._problems.tell_unwidened(ordered.lacking)
        if ordered.unfilled is not None:
            self._problems.tell_unfilled(*ordered.unfilled)
        return ordered.nodes

    def _asking(self, query: QueryBundle, fetch: Fetch) -> Do:
        """Return the next question to the base retriever; index nodes are resolved."""
        base = fetch.retriever()
        resolved = super()._handle_recursive_retrieval
        aresolved = super()._ahandle_recursive_retrieval

        def now() -> list[NodeWithScore]:
            return resolved(query, base.retrieve(query))

        async def later() -> list[NodeWithScore]:
            return await aresolved(query, await base.aretrieve(query))

        return Do(now, later)

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
    if not isinstance(value, BaseRetriever):
        message = (
            f"{option}= is {named(value)}. It takes a retriever of LlamaIndex, such as "
            "index.as_retriever()."
        )
        raise InvalidOptionError(message, option=option, value=type(value).__name__)
