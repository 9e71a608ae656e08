"""A vector store asked several times for one question, which is embedded once."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.vectorstores import VectorStoreRetriever
from pydantic import PrivateAttr

_KNOWN = {
    ("langchain_core", "InMemoryVectorStore"),
    ("langchain_chroma", "Chroma"),
    ("langchain_community", "FAISS"),
    ("langchain_qdrant", "QdrantVectorStore"),
}
"""Stores, by package and class, of which a search by text is to embed the text and
search by vector. Others also look for its words. A subclass may do anything."""
_SEARCHES = {"similarity": "similarity_search", "mmr": "max_marginal_relevance_search"}
"""Methods by text; those by vector are called `…_by_vector`."""
_ARGUMENTS = {"k", "fetch_k", "lambda_mult", "filter", "where_document"}
"""What both ways take and understand alike."""


def embedding_once(retriever: RetrieverLike) -> RetrieverLike:
    """Return a retriever that gives the same and embeds one question only once.

    Args:
        retriever: Any.

    Returns:
        A new one for the retriever of a store in which a search by vector gives what
        one by text gives; else the very retriever, which embeds each time.
    """
    if type(retriever) is not VectorStoreRetriever or not _is_known(retriever):
        return retriever
    return _EmbeddingOnce(
        vectorstore=retriever.vectorstore,
        search_type=retriever.search_type,
        search_kwargs=retriever.search_kwargs,
        name=retriever.get_name(),  # in traces it is the one that it stands for
        tags=retriever.tags,
        metadata=retriever.metadata,
    )


def _is_known(retriever: VectorStoreRetriever) -> bool:
    kind = type(retriever.vectorstore)
    mode = getattr(retriever.vectorstore, "retrieval_mode", None)  # Qdrant's
    return (
        retriever.search_type in _SEARCHES
        and (kind.__module__.partition(".")[0], kind.__name__) in _KNOWN
        and getattr(mode, "value", "dense") == "dense"
        and retriever.vectorstore.embeddings is not None
    )


class _EmbeddingOnce(VectorStoreRetriever):
    """For one retrieval: it keeps the vectors of what it was asked."""

    _vectors: dict[str, list[float]] = PrivateAttr(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        arguments = {**self.search_kwargs, **kwargs}
        if not arguments.keys() <= _ARGUMENTS:
            return super()._get_relevant_documents(
                query, run_manager=run_manager, **kwargs
            )
        if query not in self._vectors:
            self._vectors[query] = self._embedding().embed_query(query)
        search = getattr(self.vectorstore, f"{_SEARCHES[self.search_type]}_by_vector")
        found: list[Document] = search(self._vectors[query], **arguments)
        return found

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **kwargs: Any,
    ) -> list[Document]:
        arguments = {**self.search_kwargs, **kwargs}
        if not arguments.keys() <= _ARGUMENTS:
            return await super()._aget_relevant_documents(
                query, run_manager=run_manager, **kwargs
            )
        if query not in self._vectors:
            self._vectors[query] = await self._embedding().aembed_query(query)
        search = getattr(self.vectorstore, f"a{_SEARCHES[self.search_type]}_by_vector")
        found: list[Document] = await search(self._vectors[query], **arguments)
        return found

    def _embedding(self) -> Any:
        return self.vectorstore.embeddings
