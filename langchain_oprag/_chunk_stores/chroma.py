"""Chunks of `langchain_chroma.Chroma`, embedded or on a server."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from oprag.documents import ChunkStore, StoredChunk
from oprag.metadata import CHUNK_INDEX, DOC_KEY

_COLUMNS = ["documents", "metadatas"]
_PAGE = 5_000
"""Chunks per call of a scan: some MB at most."""


class ChromaChunks(ChunkStore):
    """Reads a collection: a document at once, all of it page by page."""

    def __init__(self, store: Any) -> None:
        collection = getattr(getattr(store, "_collection", None), "name", "")
        self.name = f"Chroma collection {collection!r}"
        if known := getattr(getattr(store, "_collection", None), "id", None):
            self.place = f"Chroma {known}"
        self._store = store

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in the order in which they were added."""
        return self._found({DOC_KEY: doc_key})

    def fetch_chunks(self, doc_key: str, indexes: Collection[int]) -> list[StoredChunk]:
        """Some chunks of one document, in one query."""
        return self._found({DOC_KEY: doc_key}, {CHUNK_INDEX: {"$in": [*indexes]}})

    def _found(self, *conditions: Any) -> list[StoredChunk]:
        where = _all_of(*conditions, *self.filters)
        return list(_chunks(self._store.get(where=where, include=_COLUMNS)))

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in the order in which they were added."""
        offset = 0
        # Until a page is empty: a server may give fewer than it is asked for.
        while True:
            page = self._store.get(
                where=_all_of(*self.filters),
                limit=_PAGE,
                offset=offset,
                include=_COLUMNS,
            )
            if not page["ids"]:
                return
            yield from _chunks(page)
            offset += len(page["ids"])

    def takes_filter(self, where: Any) -> bool:
        """A dictionary, as Chroma has them."""
        return isinstance(where, dict)


def _all_of(*conditions: Any) -> Any:
    """Chroma wants at least two under `$and`."""
    return (
        {"$and": list(conditions)}
        if len(conditions) > 1
        else next(iter(conditions), None)
    )


def _chunks(found: Mapping[str, Any]) -> Iterator[StoredChunk]:
    for text, metadata, chunk_id in zip(
        found["documents"], found["metadatas"], found["ids"], strict=True
    ):
        # Either may be None: Chroma also takes vectors alone.
        yield StoredChunk(text or "", metadata or {}, chunk_id)
