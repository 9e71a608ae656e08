"""Chunks of LlamaIndex's `ChromaVectorStore`, embedded or on a server."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping
from itertools import starmap
from typing import Any

from llama_index.core.vector_stores.types import MetadataFilters

from llamaindex_oprag._chunk_stores.nodes import chunk_of_row
from oprag.documents import (
    ChunkStore,
    StoredChunk,
    chroma_numbered,
    chroma_rows,
    is_chroma_embedded,
)
from oprag.metadata import DOC_KEY

_WRAPPER = "llama_index.vector_stores.chroma.base"


class ChromaChunks(ChunkStore):
    """Reads a collection page by page."""

    def __init__(self, store: Any) -> None:
        self._collection = store.client
        self.name = f"Chroma collection {self._collection.name!r}"
        self.place = f"Chroma {self._collection.id}"
        self.is_embedded = is_chroma_embedded(self._collection)

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in the order in which they were added."""
        return list(self._chunks({DOC_KEY: doc_key}))

    def fetch_chunks(self, wanted: Mapping[str, Collection[int]]) -> list[StoredChunk]:
        """Some chunks of some documents, in one query."""
        rows = chroma_numbered(self._collection.get, wanted, self._filtered())
        return list(starmap(chunk_of_row, rows))

    def fetch_ids(self, ids: Collection[str]) -> list[StoredChunk]:
        """Some chunks by their ids, in one query."""
        return list(self._chunks(ids=[*ids]))

    def count(self) -> int:
        """Chunks of the collection."""
        number: int = self._collection.count()
        return number

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in the order in which they were added."""
        return self._chunks()

    def takes_filter(self, where: Any) -> bool:
        """`MetadataFilters`, or a dictionary of Chroma's own."""
        return isinstance(where, (MetadataFilters, dict))

    def _chunks(
        self, *conditions: Any, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        every = [*conditions, *self._filtered()]
        rows = chroma_rows(self._collection.get, every, ids=ids)
        return starmap(chunk_of_row, rows)

    def _filtered(self) -> list[Any]:
        return [*map(self._as_where, self.filters)]

    def _as_where(self, filters: Any) -> Any:
        """What the store itself makes of a filter in a search."""
        if isinstance(filters, dict):
            return filters
        return importlib.import_module(_WRAPPER)._to_chroma_filter(filters)  # noqa: SLF001 -- nothing public does it
