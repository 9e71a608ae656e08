"""Vectors that were made ahead, given to a store in the place of its embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from langchain_core.embeddings import Embeddings

from oprag.indexing import WantedChunk


class VectorsAhead(Embeddings):
    """Embeds texts whose vectors are there already; all others by a model.

    Args:
        make_embeddings: Makes the model, when it is first needed.
    """

    def __init__(self, make_embeddings: Callable[[], Embeddings]) -> None:
        self.vectors: dict[str, list[float]] = {}
        """By their texts."""
        self._make = make_embeddings
        self._model: Embeddings | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors that are there; embed what is not."""
        missing = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        made = self._embeddings.embed_documents(missing) if missing else []
        known = self.vectors | dict(zip(missing, made, strict=True))
        return [known[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embed a query by the model."""
        return self._embeddings.embed_query(text)

    @property
    def _embeddings(self) -> Embeddings:
        if self._model is None:
            self._model = self._make()
        return self._model


def texts_to_embed(chunks: Sequence[WantedChunk]) -> list[str]:
    """Return what stores of LangChain embed of chunks."""
    return [chunk.text for chunk in chunks]


def vectors_of(model: Embeddings, texts: list[str]) -> list[list[float]]:
    """Embed texts as a store does."""
    return model.embed_documents(texts)
