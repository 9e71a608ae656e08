"""A store of chunks as a source of full texts."""

from __future__ import annotations

import copy
from itertools import islice

from oprag.chunk import FullText
from oprag.documents.sources import DocumentSource, called
from oprag.documents.whole_text import rebuild
from oprag.effects import Effects, arun_effects, run_effects
from oprag.errors import (
    ConflictingPositionsError,
    DocumentNotFoundError,
    IncompleteDocumentError,
    InvalidOptionError,
)
from oprag.metadata import DOC_KEY, document_key
from oprag.positions import document_name
from oprag.stores import ChunkStore, SearchedChunks, SearchFilter

_SAMPLED = 100
"""The number of chunks that are looked at when a source is made."""


class StoreSource(DocumentSource):
    """Puts each document together from the chunks that a store holds of it.

    Nothing is kept: every call reads the chunks again, in the store's present state.

    Args:
        store: The store.
        exact: See `oprag.documents.rebuild`. If not, `read` returns for each text
            whether it is exact.

    Raises:
        InvalidOptionError: Its chunks are in memory, and oprag indexed none of them.
    """

    def __init__(self, store: ChunkStore, *, exact: bool = True) -> None:
        sample = [*islice(store.sample(), _SAMPLED)]
        if sample and not any(DOC_KEY in chunk.metadata for chunk in sample):
            message = (
                f"documents= is {store.name}, and no chunk there has a doc_key: no "
                "document can be put together. Give the documents as they were loaded."
            )
            raise InvalidOptionError(message, option="documents", value=store.name)
        self._chunks = SearchedChunks(store)
        self._exact = exact

    def read(self, document_id: str) -> FullText:
        """Return one document.

        Raises:
            DocumentNotFoundError: No chunk in the store is of this document.
            DocumentNotFoundError: A filter of the search hides chunks of it.
            IncompleteDocumentError: The store does not give all of it, or nothing
                proves that it does.
            PositionError: Its chunks contradict each other or the text that was split,
                or lack positions; see `oprag.documents.rebuild`.
        """
        return run_effects(self._rebuilt(document_id))

    async def aread(self, document_id: str) -> FullText:
        """Async version of `read`; the store reads without blocking."""
        return await arun_effects(self._rebuilt(document_id))

    def called(self) -> dict[str, str]:
        """Return the full names of the documents that a search may find."""
        named: dict[str, str] = {}
        for chunk in self._chunks.everything():
            if (name := document_name(chunk.metadata)) is not None:
                named.setdefault(name, called(chunk.metadata, name))
        return named

    def within(self, search: SearchFilter) -> StoreSource:
        """Return a source that reads only the chunks that the search may find."""
        restricted = copy.copy(self)
        restricted._chunks = SearchedChunks(self._chunks.store, search)  # noqa: SLF001 -- our own copy
        return restricted

    def _rebuilt(self, document_id: str) -> Effects[FullText]:
        chunks = yield from self._chunks.document(document_key(document_id))
        restricted, where = self._chunks.filtered, self._chunks.store.name
        if restricted:
            where += " within the search's filter"
        try:
            return rebuild(document_id, chunks, exact=self._exact, where=where)
        except (ConflictingPositionsError, IncompleteDocumentError) as error:
            # If a filter hides some chunks, the document looks the same. But a filter
            # can neither open a gap nor remove a stamp if all of them are there.
            hiding = getattr(error, "missing", True)
            if not (restricted and hiding):
                raise
            message = (
                f"The search's filter hides chunks of document {document_id!r}, so its "
                "full text is not given: a document is read whole or not at all. "
                "Search without the filter."
            )
            raise DocumentNotFoundError(
                message, document=document_id, filtered=True
            ) from error
