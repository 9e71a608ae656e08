"""Chunks of LlamaIndex's `ChromaVectorStore`, embedded or on a server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.documents import ChunkStore, StoredChunk
from oprag.metadata import DOC_KEY

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
        return list(self._pages(where={DOC_KEY: doc_key}))

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in the order in which they were added."""
        return self._pages()

    def _pages(self, **asked: Any) -> Iterator[StoredChunk]:
        offset = 0
        while True:
            page = self._collection.get(
                **asked, limit=_PAGE, offset=offset, include=["documents", "metadatas"]
            )
            for text, metadata, chunk_id in zip(
                page["documents"], page["metadatas"], page["ids"], strict=True
            ):
                yield chunk_of_row(text, metadata, chunk_id)
            if len(page["ids"]) < _PAGE:
                return
            offset += _PAGE
