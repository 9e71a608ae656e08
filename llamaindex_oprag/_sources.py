"""What a rung gave to read, as nodes for the response."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import BaseNode, NodeRelationship, NodeWithScore, TextNode

from llamaindex_oprag._convert import excluding
from oprag.metadata import CHAR_END, CHAR_SPANS, CHAR_START, DOC_KEY, DOC_URI, OWN_KEYS
from oprag.positions import SCHEMES
from oprag.routing import Excerpt, RungContext

_OF_A_CHUNK = frozenset(
    key
    for key in (
        *(key for key in OWN_KEYS if key not in (DOC_KEY, DOC_URI)),
        *(key for s in SCHEMES for key in (s.start, s.end, *s.parts) if key),
        CHAR_SPANS,
    )
)
"""Metadata that says where a chunk stands or how long it is."""


def nodes_read(context: RungContext) -> list[NodeWithScore]:
    """Return what was read, in reading order.

    Returns:
        The retrieved nodes themselves; of a rung that read full documents, a new
        node for each document, or for each part of it that was sent. Such a node
        has no score, a stable id, its characters as `start_char_idx` and
        `end_char_idx`, the source of the retrieved nodes, and the metadata that
        all of them agree on.
    """
    if not context.excerpts:
        return [chunk.source for chunk in context.chunks]
    retrieved: dict[str, list[BaseNode]] = {}
    for chunk in context.chunks:
        name = chunk.name or chunk.document
        retrieved.setdefault(name, []).append(chunk.source.node)
    return [
        NodeWithScore(node=_node(excerpt, retrieved.get(excerpt.document.name, [])))
        for excerpt in context.excerpts
    ]


def _node(excerpt: Excerpt, retrieved: Sequence[BaseNode]) -> TextNode:
    name, (start, end) = excerpt.document.name, excerpt.span
    metadata: dict[str, Any] = {
        DOC_URI: name,
        **_shared(retrieved),
        CHAR_START: start,
        CHAR_END: end,
    }
    node = TextNode(
        id_=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{name}\n{start}-{end}")),
        text=excerpt.text,
        start_char_idx=start,
        end_char_idx=end,
        metadata=metadata,
        excluded_llm_metadata_keys=excluding([], metadata),
        excluded_embed_metadata_keys=excluding([], metadata),
    )
    source = retrieved[0].source_node if retrieved else None
    if source is not None:
        node.relationships[NodeRelationship.SOURCE] = source
    return node


def _shared(nodes: Sequence[BaseNode]) -> dict[str, Any]:
    if not nodes:
        return {}
    return {
        key: value
        for key, value in nodes[0].metadata.items()
        if key not in _OF_A_CHUNK
        and all(key in node.metadata and node.metadata[key] == value for node in nodes)
    }
