"""Chunks of `langchain_community`'s `FAISS`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from langchain_core.documents import Document

from oprag.stores import ChunkStore, StoredChunk, Wanted, select_chunks


class FaissChunks(ChunkStore):
    """Reads the docstore beside the index.

    It does not search: a search filters only among the best `fetch_k`, 20 by default.
    """

    name = "FAISS store"
    is_embedded = True

    def __init__(self, store: Any) -> None:
        self._store = store

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        """Yield the current chunks."""
        # A copy: others may add while this is read.
        known = self._store.index_to_docstore_id.values()
        return select_chunks(
            self._make_chunks(list(known) if ids is None else ids), wanted
        )

    def count(self) -> int:
        """Return the number of chunks in the index."""
        return len(self._store.index_to_docstore_id)

    def sample(self) -> Iterator[StoredChunk]:
        """Yield its chunks."""
        return self.read()

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is a dictionary, or a function of a chunk's metadata."""
        return isinstance(where, dict) or callable(where)

    def _make_chunks(self, ids: Collection[str]) -> Iterator[StoredChunk]:
        search = self._store.docstore.search
        admitted = [self._store._create_filter_func(f) for f in self.filters]  # noqa: SLF001 -- as the search does
        for chunk_id in ids:
            found = search(chunk_id)
            # The docstore returns a sentence for a chunk that was deleted meanwhile.
            if isinstance(found, Document) and all(f(found.metadata) for f in admitted):
                yield StoredChunk(found.page_content, found.metadata, chunk_id)
