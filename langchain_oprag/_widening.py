"""What a LangChain retriever reads of its store besides: neighbours, and by words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from langchain_oprag._wrapping import search_filter, searched_with, unwrapped
from langchain_oprag.stores import chunk_store
from oprag.context import Neighbour, Widening
from oprag.documents import SearchedChunks, StoredChunk
from oprag.errors import InvalidOptionError


def searched_store(retriever: Any, config: RunnableConfig) -> VectorStore | None:
    """Return the one store that a retriever searches, if it can be told.

    Args:
        retriever: Any.
        config: As `search_filter` takes it.
    """
    stores = {id(store): store for store in _stores(retriever, config)}
    return next(iter(stores.values())) if len(stores) == 1 else None


def searched_chunks(
    retriever: Any,
    config: RunnableConfig,
    call: Mapping[str, Any],
    option: str = "widen",
) -> SearchedChunks | None:
    """Return the chunks of that store, if it is known how they are read.

    Args:
        retriever: Any.
        config: As `search_filter` takes it.
        call: Further arguments of the call.
        option: What they are read for.

    Raises:
        InvalidOptionError: The search's filter cannot be carried over to it.
    """
    searched = searched_store(retriever, config)
    if searched is None:
        return None
    try:
        store = chunk_store(searched)
    except InvalidOptionError:
        return None
    return SearchedChunks(store, search_filter(retriever, config, call), option)


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
    return [*found[: widening.hits], *(document_of(each.chunk) for each in near)]


def document_of(chunk: StoredChunk) -> Document:
    """Return a new document for a stored chunk."""
    return Document(chunk.text, id=chunk.id or None, metadata={**chunk.metadata})
