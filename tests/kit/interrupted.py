"""The rows of a store after indexing."""

from typing import Any

from oprag.stores import ChunkStore


def content(store: ChunkStore) -> list[tuple[str, str, list[tuple[str, Any]]]]:
    """Ids, texts and metadata, in an order that does not depend on the store."""
    return sorted((c.id, c.text, sorted(c.metadata.items())) for c in store.read())
