"""Chunks that LlamaIndex keeps as nodes in a docstore."""

from __future__ import annotations

from collections.abc import Iterator

from llama_index.core.schema import Document
from llama_index.core.storage.docstore.types import BaseDocumentStore

from llamaindex_oprag._chunk_stores.nodes import chunk_of_node
from oprag.documents import ChunkStore, StoredChunk
from oprag.metadata import DOC_KEY


class DocstoreChunks(ChunkStore):
    """Reads the nodes of a docstore; full `Document`s beside them are no chunks."""

    def __init__(self, docstore: BaseDocumentStore) -> None:
        self.name = type(docstore).__name__
        self._docstore = docstore

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        """Chunks of one document, in the docstore's order; it reads all of them."""
        return [c for c in self.scan() if c.metadata.get(DOC_KEY) == doc_key]

    def scan(self) -> Iterator[StoredChunk]:
        """All chunks, in the docstore's order."""
        # A copy: others may add while this is read.
        for node in list(self._docstore.docs.values()):
            if not isinstance(node, Document):
                yield chunk_of_node(node)
