"""Chunks of LlamaIndex's `QdrantVectorStore`, local or on a server."""

from __future__ import annotations

from typing import Any

from llama_index.core.vector_stores.types import MetadataFilters

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.stores import QdrantChunks as _QdrantChunks
from oprag.stores import StoredChunk


class QdrantChunks(_QdrantChunks):
    """Scrolls through the collection by the store's clients."""

    def __init__(self, store: Any) -> None:
        def chunk_of(point: Any) -> StoredChunk:
            payload = dict(point.payload or {})
            text = None
            if "_node_content" not in payload and store.text_key:
                text = payload.pop(store.text_key, None)
            return chunk_of_row(text, payload, str(point.id))

        self._store = store
        aclient = store._aclient  # noqa: SLF001 -- nothing public gives it
        super().__init__(store.client, store.collection_name, chunk_of, aclient=aclient)

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is `MetadataFilters`, or a `Filter` of qdrant-client."""
        return isinstance(where, MetadataFilters) or super().takes_filter(where)

    def _condition(self, where: Any) -> Any:
        if not isinstance(where, MetadataFilters):
            return where
        return self._store._build_subfilter(where)  # noqa: SLF001 -- as a search does
