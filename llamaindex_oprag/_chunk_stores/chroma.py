"""Chunks of LlamaIndex's `ChromaVectorStore`, embedded or on a server."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator
from typing import Any

from llama_index.core.vector_stores.types import MetadataFilters

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.documents import ChunkStore, StoredChunk
from oprag.metadata import CHUNK_INDEX, DOC_KEY

_WRAPPER = "llama_index.vector_stores.chroma.base"
_PAGE = 5_000
"""Chunks per call: some MB, and few enough calls to cost little."""


class ChromaChunks(ChunkStore):
    """Reads a collection page by page."""

    def __init__(self, store: Any) -> None:
        self._collection = store.client
        self.name = f"Chroma collection {self._collection.name!r}"
        self.place = f"Chroma {self._collection.id}"

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in the order in which they were added."""
        return list(self._pages({DOC_KEY: doc_key}))

    def fetch_chunks(self, doc_key: str, indexes: Collection[int]) -> list[StoredChunk]:
        """Some chunks of one document, in one query."""
        wanted = {CHUNK_INDEX: {"$in": [*indexes]}}
        return list(self._pages({DOC_KEY: doc_key}, wanted))

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in the order in which they were added."""
        return self._pages()

    def takes_filter(self, where: Any) -> bool:
        """`MetadataFilters`, or a dictionary of Chroma's own."""
        return isinstance(where, (MetadataFilters, dict))

    def _pages(self, *conditions: Any) -> Iterator[StoredChunk]:
        offset = 0
        every = [*conditions, *map(self._as_where, self.filters)]
        # Chroma wants at least two under `$and`.
        where = {"$and": every} if len(every) > 1 else next(iter(every), None)
        while True:
            page = self._collection.get(
                where=where,
                limit=_PAGE,
                offset=offset,
                include=["documents", "metadatas"],
            )
            for text, metadata, chunk_id in zip(
                page["documents"], page["metadatas"], page["ids"], strict=True
            ):
                yield chunk_of_row(text, metadata, chunk_id)
            if len(page["ids"]) < _PAGE:
                return
            offset += _PAGE

    def _as_where(self, filters: Any) -> Any:
        """What the store itself makes of a filter in a search."""
        if isinstance(filters, dict):
            return filters
        return importlib.import_module(_WRAPPER)._to_chroma_filter(filters)  # noqa: SLF001 -- nothing public does it
