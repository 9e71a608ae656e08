"""Stored chunks as the rules of retrieval read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oprag.chunk import Hit
from oprag.documents import StoredChunk
from oprag.positions import read_node


class Examined(NamedTuple):
    """One chunk under examination."""

    id: str
    """The store's id of it; empty where it has none."""
    hit: Hit
    """As retrieval would see it."""
    stored: Mapping[str, Any]
    """Its metadata as the store keeps it; not that of the hit where LlamaIndex keeps
    a node beside it."""
    next_id: str | None = None
    """Id of the chunk after it, where the framework records one."""


def examine(chunk: StoredChunk | Hit) -> Examined:
    """Read a stored chunk, or a hit that an adapter made of a framework object."""
    if isinstance(chunk, Hit):
        return Examined(_id_of(chunk.subject), chunk, chunk.metadata)
    node = read_node(chunk.metadata)
    if node is None:
        return Examined(chunk.id, Hit(chunk.text, chunk.metadata), chunk.metadata)
    hit = Hit(
        chunk.text,
        node.metadata,
        document=node.document,
        offsets=node.offsets,
        frame=node.frame,
    )
    return Examined(chunk.id, hit, chunk.metadata, node.next_id)


def _id_of(subject: Any) -> str:
    for name in ("node_id", "id"):
        value = getattr(subject, name, None)
        if isinstance(value, str):
            return value
    return ""
