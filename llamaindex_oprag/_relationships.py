"""The facts in the relationships of a node: its document, neighbours and parent."""

from __future__ import annotations

from llama_index.core.schema import BaseNode, NodeRelationship

from oprag.chunk import Links, OffsetFrame

SOURCE, PREVIOUS, NEXT, PARENT = (
    NodeRelationship.SOURCE,
    NodeRelationship.PREVIOUS,
    NodeRelationship.NEXT,
    NodeRelationship.PARENT,
)


def read_relationships(node: BaseNode) -> tuple[str | None, OffsetFrame, Links]:
    """Return the id of a node's document, the frame of its offsets, and its links.

    The neighbours tell to which text the offsets are relative. Hierarchical parsers
    write offsets into the parent node, chained parsers into an intermediate node.
    Chained parsers leave no node with a NEXT.
    """
    source = previous = following = None
    frame: OffsetFrame = "only"
    # Looking a relationship up takes several times as long: it is hashed in Python.
    for kind, related in node.relationships.items():
        if kind is SOURCE:
            source = node.ref_doc_id
        elif kind is PARENT:
            frame = "parent"
        elif kind is NEXT:
            following = getattr(related, "node_id", None)
            frame = "parent" if frame == "parent" else "document"
        elif kind is PREVIOUS:
            previous = getattr(related, "node_id", None)
            frame = "last" if frame == "only" else frame
    return source, frame, Links(previous, following)
