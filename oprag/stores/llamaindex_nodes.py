"""The node that LlamaIndex keeps as JSON beside the metadata of a stored chunk.

LlamaIndex reads a node back only from this JSON: its metadata, its offsets, and its
neighbours. The other metadata in the store are only for filters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from oprag.chunk import Hit, Links, OffsetFrame
from oprag.metadata import OWN_KEYS

NODE_CONTENT = "_node_content"
_SOURCE, _PREVIOUS, _NEXT, _PARENT = "1", "2", "3", "4"
"""LlamaIndex's numbers for the relationships of a node."""

_HIDDEN = ("excluded_embed_metadata_keys", "excluded_llm_metadata_keys")


def read_node(metadata: Mapping[str, Any]) -> Hit | None:
    """Read metadata, document and offsets of the node; None if there is none."""
    try:
        node = json.loads(metadata[NODE_CONTENT])
    except (KeyError, TypeError, ValueError):
        return None
    if not isinstance(node, dict) or not isinstance(node.get("metadata"), dict):
        return None
    related = node.get("relationships")
    related = related if isinstance(related, dict) else {}
    offsets = None
    if "start_char_idx" in node:
        offsets = (node["start_char_idx"], node.get("end_char_idx"))
    return Hit(
        "",
        node["metadata"],
        document=_id_of(related.get(_SOURCE)),
        offsets=offsets,
        frame=_frame(related),
        links=Links(_id_of(related.get(_PREVIOUS)), _id_of(related.get(_NEXT))),
    )


def _id_of(related: Any) -> str | None:
    found = related.get("node_id") if isinstance(related, dict) else None
    return found if isinstance(found, str) else None


def rewrite_node(
    content: str,
    metadata: Mapping[str, Any],
    offsets: tuple[int | None, int | None] | None,
) -> str:
    """Return the JSON of a node with other metadata.

    Args:
        content: The JSON of a node, as `read_node` could read it.
        metadata: The node's new metadata. oprag's keys in it are shown neither to the
            model nor to the embedding model.
        offsets: The node's new offsets in its source; None leaves the old ones.
    """
    node = json.loads(content)
    node["metadata"] = dict(metadata)
    own = [key for key in metadata if key in OWN_KEYS]
    for field in _HIDDEN:
        if isinstance(node.get(field), list):
            node[field] = list(dict.fromkeys([*node[field], *own]))
    if offsets is not None and "start_char_idx" in node:
        node["start_char_idx"], node["end_char_idx"] = offsets
    return json.dumps(node)


def _frame(related: Mapping[str, Any]) -> OffsetFrame:
    if _PARENT in related:
        return "parent"
    if _NEXT in related:
        return "document"
    return "last" if _PREVIOUS in related else "only"
