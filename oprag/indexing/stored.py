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
"""Chunks that are looked at where not all of the store has to be: one page."""


class StoredBefore:
    """Reads a store once.

    In memory stay the names of its documents, and the chunks that are not oprag's.

    Args:
        store: The store.
        options: Those of the run. Where it removes or replaces what is not given, all
            of the store is read. Else at most 5,000 chunks are, as far as the store
            gives them.
    """

    def __init__(self, store: ChunkStore, options: RunOptions) -> None:
        self._scope = options.scope
        self._names: dict[str, str] = {}
        self._scopes: dict[str, str] = {}
        others: list[StoredChunk] = []
        if options.remove_missing or options.replace == "all":
            self._read(store.read(), others)
        else:
            with suppress(Exception):  # some can only be read awaited
                self._read(islice(store.read(), _SAMPLE), others)
        self._foreign = ForeignChunks(map(make_hit, others))

    def _read(self, chunks: Iterable[StoredChunk], others: list[StoredChunk]) -> None:
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
        """Names of the scope's own documents by their keys, as far as oprag's."""
        return {
            key: name
            for key, name in self._names.items()
            if self._scopes.get(key, "") == self._scope
        }

    def foreign(self, document: WantedDocument) -> list[str]:
        """Ids of the chunks of a document that something else wrote."""
        own = [StoredChunk(chunk.text, chunk.metadata) for chunk in document.chunks]
        hits = self._foreign.of(document.name, own)
        return [hit.source.id for hit in hits]
