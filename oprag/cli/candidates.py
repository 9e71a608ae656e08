"""The best chunks of a question, searched for once, whatever is then made of them."""

from __future__ import annotations

from threading import Lock
from typing import Any

from langchain_chroma import Chroma
from langchain_core.documents import Document

from oprag.cli.embedding_models import SentenceTransformerEmbeddings
from oprag.cli.index import Index, open_as

_AT_LEAST = 1280
"""Chunks that are searched for at first. They fill 40,000 tokens twice over, and those
that `selection` chooses from are among them."""


class Candidates(Chroma):
    """A store that keeps what it found for the last question.

    What a smaller number asks for is the beginning of the list for a larger one. So
    one search is enough for all budgets, and each gets the same, whatever was asked
    for before.
    """

    def __init__(self, *arguments: Any, **how: Any) -> None:
        super().__init__(*arguments, **how)
        self._turn = Lock()
        self._question: str | None = None
        self._vector: list[float] = []
        self._found: dict[int, list[Document]] = {}

    def similarity_search(
        self,
        query: str,
        k: int = 4,
        filter: dict[str, Any] | None = None,  # noqa: A002 -- the base class's name
        **more: Any,
    ) -> list[Document]:
        """Return the chunks that are nearest to a question, best first."""
        if filter is not None or more or self.embeddings is None:
            return super().similarity_search(query, k, filter, **more)
        asked = _AT_LEAST
        while asked < k:
            asked *= 2
        with self._turn:
            if query != self._question:
                self._vector = self.embeddings.embed_query(query)
                self._question, self._found = query, {}
            if asked not in self._found:
                self._found[asked] = self.similarity_search_by_vector(
                    self._vector, asked
                )
            return self._found[asked][:k]


def candidates_of(
    index: Index, embeddings: SentenceTransformerEmbeddings
) -> Candidates:
    """Return the store of an index as one that searches once for a question."""
    return open_as(Candidates, index.path, embeddings, index.collection)
