"""The state of a store before a run: documents, their owners, and their chunks."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice

from oprag.documents import ForeignChunks
from oprag.indexing.plan import RunOptions, WantedDocument
from oprag.metadata import DOC_KEY, DOC_SCOPE
from oprag.stores import ChunkStore, StoredChunk, is_own, make_hit, name_of_key

_SAMPLE = 5_000
"""Chunks that are looked at if not all of the store has to be: one page."""


class StoredBefore:
    """Reads a store once.

    The names of its documents, and the chunks that are not oprag's, stay in memory.

    Args:
        store: The store.
        options: Those of the run. If it removes or replaces documents that are not
            given, the whole store is read. Otherwise at most 5,000 chunks are, as far
            as the store gives them.
    """

    def __init__(self, store: ChunkStore, options: RunOptions) -> None:
        self._scope = options.scope
        self._names: dict[str, str] = {}
        self._scopes: dict[str, str] = {}
        others: list[StoredChunk] = []
        if options.remove_missing or options.replace == "all":
            self._collect(store.read(), others)
        else:
            with suppress(Exception):  # some stores can be read only by async code
                self._collect(islice(store.read(), _SAMPLE), others)
        self._foreign = ForeignChunks(map(make_hit, others))

    def _collect(
        self, chunks: Iterable[StoredChunk], others: list[StoredChunk]
    ) -> None:
        for chunk in chunks:
            if not is_own(chunk.metadata):
                others.append(chunk)
                continue
            key, name = chunk.metadata[DOC_KEY], name_of_key(chunk.metadata)
            if isinstance(scope := chunk.metadata.get(DOC_SCOPE), str):
                self._scopes[key] = scope
            if name is not None:
                self._names.setdefault(key, name)

    def documents(self) -> dict[str, str]:
        """Return the names of the scope's documents by key, if oprag wrote them."""
        return {
            key: name
            for key, name in self._names.items()
            if self._scopes.get(key, "") == self._scope
        }

    def foreign(self, document: WantedDocument) -> list[str]:
        """Return the ids of a document's chunks that another program wrote."""
        own = [StoredChunk(chunk.text, chunk.metadata) for chunk in document.chunks]
        hits = self._foreign.of(document.name, own)
        return [hit.source.id for hit in hits]
