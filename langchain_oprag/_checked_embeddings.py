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
        model: The model, which also has all other attributes.
        check: Raises for vectors that must not be stored; it takes the vectors and the
            number of texts.
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
        """Return the model's attribute of this name."""
        return getattr(self._model, name)


@contextmanager
def check_embeddings(
    vectorstore: VectorStore, check: Callable[[Sequence[Any], int], None]
) -> Iterator[None]:
    """Let a store embed with its own model, checked, while this block is open.

    LangChain's vector stores embed their texts themselves, so that nobody sees the
    vectors before they are stored. Searches in the meantime work as before.
    """
    model = vectorstore.embeddings
    places = [] if model is None else [*_find_attributes(vectorstore, model)]
    for fields, name in places:
        fields[name] = CheckedEmbeddings(fields[name], check)
    try:
        yield
    finally:
        for fields, name in places:
            fields[name] = model


def _find_attributes(
    vectorstore: VectorStore, model: Embeddings
) -> Iterator[tuple[Any, str]]:
    """Yield the places where a store, or a store inside it, keeps its model."""
    fields = getattr(vectorstore, "__dict__", {})
    for name, value in fields.items():
        if value is model:
            yield fields, name
        elif isinstance(value, VectorStore):
            yield from _find_attributes(value, model)


def measure_vectors(vectorstore: VectorStore) -> int | None:
    """Return how many numbers a store's vectors have; None if it checks that itself.

    All stores but LangChain's own in memory refuse a vector of another length.
    """
    if not isinstance(vectorstore, InMemoryVectorStore):
        return None
    first = next(iter(vectorstore.store.values()), None)
    return None if first is None else len(first["vector"])
