"""A small book in chunks; retrievers and stores that remember what they are asked."""

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from pydantic import Field

QUERY = "what the book says"
EMBEDDING = DeterministicFakeEmbedding(size=16)
"""Vectors made of the text's hash: a ranking that has nothing to do with the order."""

WIDTH = 18


def chunk(number: int, source: str = "book.txt", **metadata: Any) -> Document:
    """One chunk of the book; the chunks touch. 18 characters, 4 words."""
    return Document(
        f"chunk {number:03} says x. ",
        id=f"{source}-{number}",
        metadata={"source": source, "start_index": number * WIDTH, **metadata},
    )


def book(length: int = 12) -> list[Document]:
    return [chunk(number) for number in range(length)]


def starts(documents: Sequence[Document]) -> list[int]:
    return [document.metadata["start_index"] for document in documents]


def numbers(documents: Sequence[Document]) -> list[int]:
    return [start // WIDTH for start in starts(documents)]


class ListRetriever(BaseRetriever):
    """Opaque: returns what it was given, best first, and knows no `k`."""

    documents: list[Document]
    queries: list[str] = Field(default_factory=list)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        self.queries.append(query)
        return list(self.documents)


class OtherStore(VectorStore):
    """A store that nobody knows."""

    @classmethod
    def from_texts(cls, texts, embedding, metadatas=None, **kwargs):
        raise NotImplementedError

    def similarity_search(self, query, k=4, **kwargs):
        raise NotImplementedError


class RecordingStore(InMemoryVectorStore):
    """Remembers the arguments of every search."""

    def __init__(self, documents: Sequence[Document] = ()) -> None:
        super().__init__(EMBEDDING)
        self.asked: list[dict[str, Any]] = []
        if documents:
            self.add_documents(list(documents))

    def similarity_search(self, query, k=4, **kwargs):
        self.asked.append({"k": k, **kwargs})
        return super().similarity_search(query, k, **kwargs)

    async def asimilarity_search(self, query, k=4, **kwargs):
        self.asked.append({"k": k, **kwargs})
        return await super().asimilarity_search(query, k, **kwargs)

    def max_marginal_relevance_search(self, query, k=4, fetch_k=20, **kwargs):
        self.asked.append({"k": k, "fetch_k": fetch_k, **kwargs})
        return super().max_marginal_relevance_search(query, k, fetch_k, **kwargs)

    def _similarity_search_with_relevance_scores(self, query, k=4, **kwargs):
        self.asked.append({"k": k, **kwargs})
        scored = super().similarity_search_with_score(query, k)
        return [(document, (1 + cosine) / 2) for document, cosine in scored]
