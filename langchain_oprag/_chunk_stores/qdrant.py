"""Chunks of `langchain_qdrant.QdrantVectorStore`, local or on a server."""

from __future__ import annotations

from typing import Any

from oprag.stores import QdrantChunks as _QdrantChunks
from oprag.stores import StoredChunk


class QdrantChunks(_QdrantChunks):
    """Scrolls through the collection by the store's client."""

    def __init__(self, store: Any) -> None:
        def chunk_of(point: Any) -> StoredChunk:
            payload = point.payload or {}
            text = payload.get(store.content_payload_key)
            metadata = payload.get(store.metadata_payload_key)
            return StoredChunk(text or "", metadata or {}, str(point.id))

        prefix = f"{store.metadata_payload_key}."
        super().__init__(store.client, store.collection_name, chunk_of, prefix=prefix)
