"""Vectors at the cost of a hash."""

from __future__ import annotations

import hashlib

from langchain_core.embeddings import Embeddings


def embedded(text: str, dimensions: int = 384) -> list[float]:
    """Return a vector, the same for the same text; up to 64 numbers, then repeated."""
    digest = hashlib.sha512(text.encode()).digest()
    repeated = digest * (dimensions // len(digest) + 1)
    return [byte / 255 for byte in repeated[:dimensions]]


class Hashes(Embeddings):
    """The same for LangChain.

    Args:
        dimensions: Numbers in a vector.
    """

    def __init__(self, dimensions: int = 384) -> None:
        self._dimensions = dimensions

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector for each text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a text."""
        return embedded(text, self._dimensions)
