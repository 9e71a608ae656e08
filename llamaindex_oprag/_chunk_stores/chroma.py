"""Chunks of LlamaIndex's `ChromaVectorStore`, embedded or on a server."""

from __future__ import annotations

import importlib
from typing import Any

from llama_index.core.vector_stores.types import MetadataFilters

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.stores import ChromaChunks as _ChromaChunks
from oprag.stores import StoredChunk


class ChromaChunks(_ChromaChunks):
    """Reads the collection that the store holds."""

    def __init__(self, store: Any) -> None:
        super().__init__(store.client)

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is `MetadataFilters`, or a dictionary of Chroma's own."""
        return isinstance(where, (MetadataFilters, dict))

    def _condition(self, where: Any) -> Any:
        if isinstance(where, dict):
            return where
        wrapper = importlib.import_module("llama_index.vector_stores.chroma.base")
        return wrapper._to_chroma_filter(where)  # noqa: SLF001 -- as a search does

    def _chunk(self, text: str | None, metadata: Any, chunk_id: str) -> StoredChunk:
        return chunk_of_row(text, metadata, chunk_id)
