"""What a store holds before a run: which documents, of whom, and what else of them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from contextlib import suppress
from itertools import islice

from oprag.documents import (
    ChunkStore,
    StoredChunk,
    StoredCopies,
    is_own,
    name_of_key,
    stored_hit,
)
from oprag.indexing.plan import RunOptions, WantedDocument
from oprag.metadata import DOC_KEY, DOC_SCOPE, DOC_URI, DOC_VERSION, N_CHUNKS
from oprag.positions import as_number

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
        self._sizes: dict[str, int] = {}
        self.foreign: dict[str, list[str]] = {}
        """Ids of chunks that something else wrote, by the documents they are of."""
        self._renamed: dict[str, set[str]] = {}
        seen: list[StoredChunk] = []
        if options.remove_missing or options.replace == "all":
            self._read(store.read(), seen)
        else:
            with suppress(Exception):  # some can only be read awaited
                self._read(islice(store.read(), _SAMPLE), seen)
        known = {"", self._scope}
        self._copies = StoredCopies(
            stored_hit(chunk)
            for chunk in seen
            if self._scopes.get(str(chunk.metadata.get(DOC_KEY)), "") in known
        )

    def _read(self, chunks: Iterable[StoredChunk], seen: list[StoredChunk]) -> None:
        for chunk in chunks:
            if not is_own(chunk.metadata):
                seen.append(chunk)
                continue
            key, name = chunk.metadata[DOC_KEY], name_of_key(chunk.metadata)
            if isinstance(scope := chunk.metadata.get(DOC_SCOPE), str):
                self._scopes[key] = scope
            if name is not None and key not in self._names:
                self._names[key] = name
                self._sizes[name] = as_number(chunk.metadata.get(N_CHUNKS)) or 1
                version = chunk.metadata.get(DOC_VERSION)
                kept = {DOC_KEY: key, DOC_URI: name, DOC_VERSION: version}
                seen.append(chunk._replace(text="", metadata=kept))

    def documents(self) -> dict[str, str]:
        """Names of the scope's own documents by their keys, as far as oprag's."""
        return {
            key: name
            for key, name in self._names.items()
            if self._scopes.get(key, "") == self._scope
        }

    def may_hold_more(self, document: WantedDocument) -> bool:
        """Whether `look_for` has to see all chunks of a document, with their texts.

        Args:
            document: With its first chunk, of which the text is not needed.
        """
        return self._copies.may_hold(document.name, document.chunks)

    def look_for(self, document: WantedDocument) -> None:
        """Note what else the store holds of a document."""
        copies = self._copies.of(document.name, document.chunks)
        if copies.foreign:
            self.foreign[document.name] = [hit.source.id for hit in copies.foreign]
        if copies.renamed:
            names = {str(hit.metadata[DOC_URI]) for hit in copies.renamed}
            self._renamed[document.name] = names

    def renamed(self, given: Container[str]) -> dict[str, list[str]]:
        """Other names of the same documents, by the names that were given."""
        return {
            name: others
            for name, names in self._renamed.items()
            if (others := sorted(other for other in names if other not in given))
        }

    def count_others(self, given: Container[str]) -> dict[str, int]:
        """How many other chunks there are, by the documents that were given."""
        counts = {name: len(ids) for name, ids in self.foreign.items()}
        for name, others in self.renamed(given).items():
            sizes = sum(self._sizes[other] for other in others)
            counts[name] = counts.get(name, 0) + sizes
        return counts
