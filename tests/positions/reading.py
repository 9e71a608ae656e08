"""Read hits of one document."""

from collections.abc import Mapping, Sequence
from typing import Any

from oprag.chunk import Chunk, Hit
from oprag.positions import Identity, read_chunks


def read_hits(hits: Sequence[Hit], **options: Any) -> list[Chunk]:
    """Return the chunks of one document."""
    return read_chunks(hits, [Identity("d", "d")] * len(hits), **options)


def read_positions(
    metadatas: Sequence[Mapping[str, Any]], **options: Any
) -> list[tuple[Any, ...] | None]:
    """Return the positions of texts of one document."""
    hits = [Hit(f"tx{i:02}", metadata) for i, metadata in enumerate(metadatas)]
    return [chunk.position for chunk in read_hits(hits, **options)]
