"""Embeddings of a store whose vectors are checked before the store has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore


class CheckedEmbeddings(Embeddings):
    """Embeds by a model, and checks the vectors of documents.

    Args:
        model: The model; everything else is asked of it.
        check: Raises for vectors that are not to be stored; is given them, and how many
            texts there were.
    """

    def __init__(
        self, model: Embeddings, check: Callable[[Sequence[Any], int], None]
    ) -> None:
        self._model = model
        self._check = check

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        vectors = self._model.embed_documents(texts)
        self._check(vectors, len(texts))
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return self._model.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Async version of `embed_documents`."""
        vectors = await self._model.aembed_documents(texts)
        self._check(vectors, len(texts))
        return vectors

    async def aembed_query(self, text: str) -> list[float]:
        """Async version of `embed_query`."""
        return await self._model.aembed_query(text)

    def __getattr__(self, name: str) -> Any:
        """Return what the model has under this name."""
        return getattr(self._model, name)


@contextmanager
def check_embeddings(
    vectorstore: VectorStore, check: Callable[[Sequence[Any], int], None]
) -> Iterator[None]:
    """Let a store embed with its own model, checked, as long as this is open.

    A vector store of LangChain embeds what it is given itself, so that its vectors are
    seen by nobody before they are stored. Searches meanwhile get what they got.
    """
    model = vectorstore.embeddings
    places = [] if model is None else [*_places(vectorstore, model)]
    for fields, name in places:
        fields[name] = CheckedEmbeddings(fields[name], check)
    try:
        yield
    finally:
        for fields, name in places:
            fields[name] = model


def _places(vectorstore: VectorStore, model: Embeddings) -> Iterator[tuple[Any, str]]:
    """Yield where a store has its model, or the store inside of it."""
    fields = getattr(vectorstore, "__dict__", {})
    for name, value in fields.items():
        if value is model:
            yield fields, name
        elif isinstance(value, VectorStore):
            yield from _places(value, model)


def measure_vectors(vectorstore: VectorStore) -> int | None:
    """Return how many numbers the vectors of a store have; None: it sees to it itself.

    Stores other than LangChain's own in memory refuse a vector of another length.
    """
    if not isinstance(vectorstore, InMemoryVectorStore):
        return None
    first = next(iter(vectorstore.store.values()), None)
    return None if first is None else len(first["vector"])
