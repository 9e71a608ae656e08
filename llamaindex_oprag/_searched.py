"""The indexes that a retriever searches, and the filters it gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.base import BaseIndex
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.schema import BaseNode, QueryBundle

from llamaindex_oprag.stores import chunk_store
from oprag import diagnosing
from oprag.errors import wrong_object
from oprag.stores import (
    ChunkStore,
    SearchFilter,
    combine_filters,
    inner_retrievers,
    is_unchanged,
)

_NO_FILTERS = {"hnsw_ef_search", "ivfflat_probes", "mmr_threshold"}
_NO_FILTERS |= {"mmr_prefetch_factor", "mmr_prefetch_k"}
"""Arguments of a store's query that hide nothing."""
_OWN_FILTERS = ("where", "qdrant_filters")
"""Arguments that are a filter in the form of the store, Chroma or Qdrant."""
_ON_RETRIEVER = "Set it on the retriever inside: index.as_retriever({}=…)."
_SCORES = (
    "SimilarityPostprocessor has it. Scores are those of the search: put it before "
    "what puts nodes in order."
)
OF_SEARCH = {
    **{
        name: _ON_RETRIEVER.format(name)
        for name in (
            "filters",
            "doc_ids",
            "node_ids",
            "alpha",
            "sparse_top_k",
            "hybrid_top_k",
            "vector_store_query_mode",
            "vector_store_kwargs",
        )
    },
    "filter": _ON_RETRIEVER.format("filters"),
    "search_kwargs": _ON_RETRIEVER.format("vector_store_kwargs"),
    "similarity_cutoff": _SCORES,
    "embed_model": "The index embeds the question: leave it out.",
    "llm": "No model is asked: leave it out.",
    "node_postprocessors": (
        "Give them to the query engine: "
        "RetrieverQueryEngine.from_args(retriever, node_postprocessors=[…])."
    ),
}
"""Advice for arguments of a search that were given as options."""
_INSIDE = {
    ("llamaindex_oprag", "OrderPreservingRetriever"): "base_retriever",
    ("llamaindex_oprag", "LongUnitRetriever"): "base_retriever",
    ("llama_index", "QueryFusionRetriever"): "_retrievers",
    ("llama_index", "AutoMergingRetriever"): "_vector_retriever",
    ("llama_index", "TransformRetriever"): "_retriever",
}
"""Retrievers that only search with others: package, name, and where the others are."""


def search_filter(retriever: Any) -> SearchFilter:
    """Return the filter of a retriever's search, as far as it can be seen."""
    return combine_filters(map(_filter, _retrievers(retriever)))


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
    found = combine_filters(SearchFilter(where or None) for where in given)
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


def find_searched_index(retriever: Any) -> Any:
    """Return the one index that a retriever searches; None if there is not just one."""
    indexes = {
        id(each._index): each._index  # noqa: SLF001 -- nothing public tells
        for each in _retrievers(retriever)
        if isinstance(each, VectorIndexRetriever)
    }
    return next(iter(indexes.values())) if len(indexes) == 1 else None


def list_verified_stores(retriever: Any) -> list[ChunkStore]:
    """Return the stores that `verify()` looks at.

    Args:
        retriever: The retriever that the component asks.
    """
    searches = []
    for each in _retrievers(retriever):
        if inner_retrievers(each, _INSIDE):
            continue
        searched: Any = each
        if isinstance(each, VectorIndexRetriever):
            searched = each._index  # noqa: SLF001 -- as above
        searches.append((searched, _filter(each).where))
    instead = (
        "Give index.as_retriever(), or examine what is returned: "
        "llamaindex_oprag.diagnose(retriever.retrieve(question))."
    )
    return diagnosing.list_verified_stores(searches, chunk_store, instead)


def require_retriever(option: str, value: Any) -> BaseRetriever:
    """Return a given retriever, or the retriever of a given index.

    Raises:
        InvalidOptionError: It is neither.
    """
    if isinstance(value, BaseIndex):
        value = value.as_retriever()
    if not isinstance(value, BaseRetriever):
        takes = (
            "an index, such as VectorStoreIndex.from_vector_store(vector_store), or a "
            "retriever of LlamaIndex"
        )
        raise wrong_object(option, value, takes)
    return value
