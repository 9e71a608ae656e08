"""Full texts out of a store's own chunks."""

from __future__ import annotations

from oprag.documents.rebuilding import PART_SEPARATOR, Rebuilt, rebuild
from oprag.documents.sources import DocumentSource
from oprag.documents.stored_chunks import ChunkStore, StoredChunk
from oprag.metadata import document_key


class StoreSource(DocumentSource):
    """Puts each document together from the chunks that a store holds of it.

    Nothing is kept: every call reads the chunks anew, as the store has them then.

    Args:
        store: The store.
        max_gap: See `oprag.documents.rebuild`.
        part_separator: Likewise.
    """

    def __init__(
        self,
        store: ChunkStore,
        *,
        max_gap: int = 8,
        part_separator: str = PART_SEPARATOR,
    ) -> None:
        self._store = store
        self._max_gap = max_gap
        self._part_separator = part_separator

    def get(self, document_id: str) -> str:
        """Full text of one document.

        Args:
            document_id: The document's name, its `doc_uri`.

        Raises:
            DocumentNotFoundError: No chunk in the store is of this document.
            IncompleteDocumentError: The store does not give all of it.
            PositionError: Its chunks contradict each other, or lack positions; see
                `oprag.documents.rebuild`.
        """
        return self.rebuild(document_id).text

    async def aget(self, document_id: str) -> str:
        """Async version of `get`, the way the store does it without blocking."""
        return (await self.arebuild(document_id)).text

    def rebuild(self, document_id: str) -> Rebuilt:
        """Do the same as `get`, and tell whether the text is exact, and its parts."""
        chunks = self._store.fetch(document_key(document_id))
        return self._rebuilt(document_id, chunks)

    async def arebuild(self, document_id: str) -> Rebuilt:
        """Async version of `rebuild`, the way the store does it without blocking."""
        chunks = await self._store.afetch(document_key(document_id))
        return self._rebuilt(document_id, chunks)

    def _rebuilt(self, document_id: str, chunks: list[StoredChunk]) -> Rebuilt:
        return rebuild(
            document_id,
            chunks,
            max_gap=self._max_gap,
            part_separator=self._part_separator,
            where=self._store.name,
        )
