"""An embedding that costs nothing."""

from __future__ import annotations

from llama_index.core.base.embeddings.base import BaseEmbedding

from tests.stores.sources import vector


class ChecksumEmbedding(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)
