"""Stored chunks from nodes, or from the rows of a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.vector_stores.utils import metadata_dict_to_node

from oprag.chunk import Links
from oprag.metadata import DOC_KEY
from oprag.stores import StoredChunk, read_node


def chunk_of_node(node: BaseNode) -> StoredChunk:
    """Return the text, metadata and id of a node.

    If oprag did not write a chunk, its source and offsets are outside the metadata.
    They are put into it by LlamaIndex's names, `ref_doc_id`, `start_char_idx` and
    `end_char_idx`, if the metadata has no such key.
    """
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    start = getattr(node, "start_char_idx", None)
    offsets = (start, getattr(node, "end_char_idx", None))
    metadata = _add_place(node.metadata, node.ref_doc_id, offsets)
    return StoredChunk(text, metadata, node.node_id, links_of(node))


def links_of(node: BaseNode) -> Links:
    """Return the ids of the nodes before and after a node."""
    previous, following = node.prev_node, node.next_node
    return Links(
        None if previous is None else previous.node_id,
        None if following is None else following.node_id,
    )


def chunk_of_row(
    text: str | None, metadata: Mapping[str, Any] | None, chunk_id: str
) -> StoredChunk:
    """Read a node out of a row of a store.

    Args:
        text: The text if the store has it apart from the metadata; else None.
        metadata: The stored metadata. LlamaIndex puts the node into it as JSON; rows
            without that were written by something else and are taken unchanged.
        chunk_id: The store's own id of the row.
    """
    stored = dict(metadata or {})
    node = read_node(stored)
    if node is None:
        return StoredChunk(text or "", stored, chunk_id)
    if text is None:
        whole = metadata_dict_to_node(stored)
        text = whole.get_content(metadata_mode=MetadataMode.NONE)
    placed = _add_place(node.metadata, node.document, node.offsets or (None, None))
    return StoredChunk(text, placed, chunk_id, node.links)


def _add_place(
    metadata: Mapping[str, Any],
    document: str | None,
    offsets: tuple[int | None, int | None],
) -> Mapping[str, Any]:
    if DOC_KEY in metadata:
        return metadata
    place = {
        "ref_doc_id": document,
        "start_char_idx": offsets[0],
        "end_char_idx": offsets[1],
    }
    known = {key: value for key, value in place.items() if value is not None}
    return {**known, **metadata}
