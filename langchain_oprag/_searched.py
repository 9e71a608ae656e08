"""The stores that a retriever searches, and the filters it gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.base import RunnableSequence
from langchain_core.runnables.branch import RunnableBranch
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from langchain_oprag._options import unwrap
from langchain_oprag.stores import chunk_store
from oprag import diagnosing
from oprag.errors import InvalidOptionError, wrong_object
from oprag.stores import (
    ChunkStore,
    SearchedChunks,
    SearchFilter,
    combine_filters,
    inner_retrievers,
    is_unchanged,
)

_NO_FILTERS = {"k", "fetch_k", "lambda_mult", "score_threshold", "search_params"}
"""Arguments of a search that hide nothing."""
_INSIDE = {
    ("langchain_oprag", "OrderPreservingRetriever"): "base_retriever",
    ("langchain_oprag", "LongUnitRetriever"): "base_retriever",
    **{
        (package, name): attribute
        for package in ("langchain", "langchain_classic")
        for name, attribute in (
            ("ContextualCompressionRetriever", "base_retriever"),
            ("MultiQueryRetriever", "retriever"),
            ("EnsembleRetriever", "retrievers"),
        )
    },
}
"""Retrievers that only search with others: package, name, and where the others are."""


def _leaves(
    retriever: Any, config: RunnableConfig, call: Mapping[str, Any]
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the retrievers that search themselves, with the arguments of the call."""
    retriever, config, bound = unwrap(retriever, config)
    call = {**bound, **call}
    inner = inner_searches(retriever)
    for each in inner:
        yield from _leaves(each, config, call)
    if not inner:
        yield retriever, call


def inner_searches(retriever: Any) -> Sequence[Any]:
    """Return the retrievers that one searches with; none if it searches itself."""
    if isinstance(retriever, RunnableSequence):
        return [retriever.last]
    if isinstance(retriever, RunnableBranch):
        return [*(chosen for _, chosen in retriever.branches), retriever.default]
    return inner_retrievers(retriever, _INSIDE)


def search_filter(
    retriever: Any, config: RunnableConfig, call: Mapping[str, Any]
) -> SearchFilter:
    """Return the filter of a retriever's search, as far as it can be seen.

    Args:
        retriever: Any.
        config: The config of the call: it decides configurable fields.
        call: Further arguments of the call.
    """
    return combine_filters(_filter(*leaf) for leaf in _leaves(retriever, config, call))


def _filter(retriever: Any, call: Mapping[str, Any]) -> SearchFilter:
    known = getattr(retriever, "one_search_of_store", False)
    if not known and not is_unchanged(retriever, VectorStoreRetriever):
        name = type(retriever).__name__
        return SearchFilter(unseen=f"what {name} filters its search by is not known")
    arguments = {**retriever.search_kwargs, **call}
    where = arguments.pop("filter", None)
    if isinstance(where, Mapping) and not where:
        where = None
    for name, value in arguments.items():
        if name not in _NO_FILTERS and value is not None:
            unseen = f"the search has {name}=, which may filter it"
            return SearchFilter(where, unseen=unseen)
    return SearchFilter(where)


def open_searched_chunks(
    retriever: Any, config: RunnableConfig, call: Mapping[str, Any], option: str
) -> tuple[VectorStore, SearchedChunks] | None:
    """Return the one store that is searched, and the chunks that a search may see.

    Args:
        retriever: Any.
        config: The config of the call.
        call: Further arguments of the call.
        option: The option for which the chunks are read.

    Returns:
        None if there is not exactly one store, or if nobody knows how to read its
        chunks.

    Raises:
        InvalidOptionError: The search's filter cannot be carried over to it.
    """
    leaves = [each for each, _ in _leaves(retriever, config, call)]
    found = [r.vectorstore for r in leaves if isinstance(r, VectorStoreRetriever)]
    stores = {id(store): store for store in found}
    if len(stores) != 1:
        return None
    try:
        store = chunk_store(found[0])
    except InvalidOptionError:
        return None
    search = search_filter(retriever, config, call)
    return found[0], SearchedChunks(store, search, option)


def list_verified_stores(retriever: Any) -> list[ChunkStore]:
    """Return the stores that `verify()` looks at.

    Args:
        retriever: The retriever that the component asks.
    """
    searches = [
        (
            each.vectorstore if isinstance(each, VectorStoreRetriever) else each,
            _filter(each, call).where,
        )
        for each, call in _leaves(retriever, {}, {})
    ]
    instead = (
        "Give the vector store itself or its own retriever, or examine what is "
        "returned: langchain_oprag.diagnose(retriever.invoke(question))."
    )
    return diagnosing.list_verified_stores(searches, chunk_store, instead)


def choose_retriever(
    base_retriever: RetrieverLike | VectorStore | None, vectorstore: VectorStore | None
) -> RetrieverLike | VectorStore:
    """Return the retriever that one of the two arguments means.

    Raises:
        InvalidOptionError: Both are given, or none, or `vectorstore` is no such store.
    """
    if (base_retriever is None) is (vectorstore is None):
        found = "neither was" if vectorstore is None else "both were"
        message = f"Give a vector store or a retriever, and one only: {found} given."
        raise InvalidOptionError(message, option="base_retriever", value=base_retriever)
    if base_retriever is not None:
        return base_retriever
    if not isinstance(vectorstore, VectorStore):
        raise wrong_object("vectorstore", vectorstore, "a VectorStore of LangChain")
    return vectorstore
