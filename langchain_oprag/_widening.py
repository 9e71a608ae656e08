"""What a LangChain retriever's hits are widened from: the chunks of its store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import VectorStoreRetriever

from langchain_oprag._wrapping import search_filter, searched_with, unwrapped
from langchain_oprag.stores import chunk_store
from oprag.context import Neighbour, Widening
from oprag.documents import SearchedChunks
from oprag.errors import InvalidOptionError


def searched_chunks(
    retriever: Any, config: RunnableConfig, call: Mapping[str, Any]
) -> SearchedChunks | None:
    """Return the chunks of the one store that a retriever searches, if it is known.

    Args:
        retriever: Any.
        config: As `search_filter` takes it.
        call: Further arguments of the call.

    Raises:
        InvalidOptionError: The search's filter cannot be carried over to it.
    """
    stores = {id(store): store for store in _stores(retriever, config)}
    if len(stores) != 1:
        return None
    try:
        (store,) = map(chunk_store, stores.values())
    except InvalidOptionError:
        return None
    return SearchedChunks(store, search_filter(retriever, config, call))


def _stores(retriever: Any, config: RunnableConfig) -> Iterator[Any]:
    retriever, config, _ = unwrapped(retriever, config)
    for inner in searched_with(retriever):
        yield from _stores(inner, config)
    if isinstance(retriever, VectorStoreRetriever):
        yield retriever.vectorstore


def with_neighbours(
    found: Sequence[Document], widening: Widening, near: Sequence[Neighbour]
) -> list[Document]:
    """Return the hits that count, and behind them a new document for each neighbour."""
    beside = [
        Document(
            each.chunk.text, id=each.chunk.id or None, metadata={**each.chunk.metadata}
        )
        for each in near
    ]
    return [*found[: widening.hits], *beside]
