"""What a store holds after indexing."""

from __future__ import annotations

from typing import Any

from oprag.documents import ChunkStore, rebuild
from oprag.errors import DocumentNotFoundError, IncompleteDocumentError
from oprag.metadata import document_key
from tests.kit.killed_indexing import AFTER, BEFORE


def content(store: ChunkStore) -> list[tuple[str, str, list[tuple[str, Any]]]]:
    """Ids, texts and metadata, in an order that does not depend on the store."""
    return sorted((c.id, c.text, sorted(c.metadata.items())) for c in store.read())


def whole_documents(store: ChunkStore) -> dict[str, str]:
    """Texts of the documents that can be put together out of the store."""
    texts = {}
    for name in sorted({*BEFORE, *AFTER}):
        try:
            texts[name] = rebuild(name, store.read({document_key(name): None})).text
        except (DocumentNotFoundError, IncompleteDocumentError):
            continue
    return texts
