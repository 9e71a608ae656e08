"""Vectors that were made ahead, given to an index in the place of its model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.schema import MetadataMode

from oprag.indexing import WantedChunk

_AT_ONCE = 2_048
"""The most texts that LlamaIndex lets be asked for in one call."""


class VectorsAhead(BaseEmbedding):
    """Embeds texts whose vectors are there already; all others by a model.

    Args:
        make_embeddings: Makes the model, when it is first needed.
    """

    vectors: dict[str, list[float]] = Field(default_factory=dict)
    """By their texts."""
    _make: Callable[[], BaseEmbedding] = PrivateAttr()
    _model: BaseEmbedding | None = PrivateAttr(default=None)

    def __init__(self, make_embeddings: Callable[[], BaseEmbedding]) -> None:
        super().__init__(embed_batch_size=_AT_ONCE)
        self._make = make_embeddings

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        missing = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        made = vectors_of(self._embedding, missing) if missing else []
        known = self.vectors | dict(zip(missing, made, strict=True))
        return [known[text] for text in texts]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embedding.get_query_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await self._embedding.aget_query_embedding(query)

    @property
    def _embedding(self) -> BaseEmbedding:
        if self._model is None:
            self._model = self._make()
        return self._model


def texts_to_embed(chunks: Sequence[WantedChunk]) -> list[str]:
    """Return what indexes of LlamaIndex embed of chunks."""
    nodes: list[Any] = [chunk.source for chunk in chunks]
    return [node.get_content(metadata_mode=MetadataMode.EMBED) for node in nodes]


def vectors_of(model: BaseEmbedding, texts: list[str]) -> list[list[float]]:
    """Embed texts as an index does."""
    return model.get_text_embedding_batch(texts)
