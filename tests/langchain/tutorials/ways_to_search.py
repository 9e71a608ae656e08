"""The page "Improve retrieval quality": six ways to search."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.tools import tool
from langchain_core.vectorstores import VectorStore
from pydantic import BaseModel

from tests.langchain.recording import RecordingChatModel
from tests.langchain.tutorials.agents import agent, agent_that_finds, serialized
from tests.langchain.tutorials.model import calling

Documents = list[Document]
Last = Callable[[Documents], Sequence[Document]]
"""What is done to the documents after everything else."""


def filtered(store: VectorStore) -> Any:
    def at_the_beginning(document: Document) -> bool:
        return document.metadata["third"] == 0

    return agent_that_finds(
        lambda query: store.similarity_search(query, k=4, filter=at_the_beginning)
    )


def filtered_as_the_model_says(store: VectorStore) -> Any:
    @tool(response_format="content_and_artifact")
    def retrieve(query: str, third: int = 2):
        """Look something up in a third of the lease: 0, 1 or 2."""
        documents = store.similarity_search(
            query, k=4, filter=lambda found: found.metadata["third"] == third
        )
        return serialized(documents), documents

    return lambda model: agent(model, retrieve)


def diverse(store: VectorStore) -> Any:
    return agent_that_finds(
        lambda query: store.max_marginal_relevance_search(
            query, k=4, fetch_k=20, lambda_mult=0.5
        )
    )


class SearchQueries(BaseModel):
    """What to search for."""

    queries: list[str]


def transformed(store: VectorStore, last: Last) -> Any:
    """Several queries that a model writes; each finds some of the same."""
    writer = RecordingChatModel(
        replies=[calling("SearchQueries", queries=["rules", "signing", "the lease"])]
    ).with_structured_output(SearchQueries)

    def find(question: str) -> Sequence[Document]:
        found: dict[str, Document] = {}
        for query in writer.invoke(f"What to search for: {question}").queries:
            for document in store.similarity_search(query, k=4):
                found.setdefault(document.page_content, document)
        return last(list(found.values()))

    return agent_that_finds(find)


def hybrid(store: VectorStore, last: Last) -> Any:
    """By meaning and by words, fused by reciprocal ranks."""
    chunks = store.similarity_search("", k=1_000)

    def by_words(query: str) -> Documents:
        asked = set(query.lower().split())
        shared = {c.id: asked & set(c.page_content.lower().split()) for c in chunks}
        return sorted(chunks, key=lambda chunk: -len(shared[chunk.id]))[:10]

    def find(query: str) -> Sequence[Document]:
        points: dict[str, float] = {}
        found = {}
        for ranked in (store.similarity_search(query, k=10), by_words(query)):
            for rank, document in enumerate(ranked):
                found[document.id] = document
                points[document.id] = points.get(document.id, 0) + 1 / (60 + rank)
        best = sorted(points, key=points.__getitem__, reverse=True)[:4]
        return last([found[each] for each in best])

    return agent_that_finds(find)


def reranked(store: VectorStore, last: Last) -> Any:
    def by_a_score_of_its_own(documents: Documents) -> Documents:
        score = {d.id: zlib.crc32(d.page_content.encode()) for d in documents}
        return sorted(documents, key=lambda document: score[document.id])[:4]

    return agent_that_finds(
        lambda query: last(by_a_score_of_its_own(store.similarity_search(query, k=20)))
    )
