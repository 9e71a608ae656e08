"""Nodes of any class: their text, their relationships, and copies with other fields.

LlamaIndex's classes keep a text in different fields, and not all of them have a
template, offsets or relationships. Applications define more classes. What is read here
is read alike from all of them, and a copy keeps the class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from llama_index.core.schema import (
    BaseNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeType,
    TextNode,
)

from oprag.chunk import Links, OffsetFrame, Span
from oprag.documents import check_entries
from oprag.landmarks import LANDMARK_KEYS
from oprag.metadata import OWN_KEYS, RESULT_KEYS

SOURCE, PREVIOUS, NEXT, PARENT = (
    NodeRelationship.SOURCE,
    NodeRelationship.PREVIOUS,
    NodeRelationship.NEXT,
    NodeRelationship.PARENT,
)

Fields: TypeAlias = dict[str, Any]
"""New values for fields of a node, by the name of the field."""


def ensure_scored(node: NodeWithScore | BaseNode) -> NodeWithScore:
    """Return a node with its score, None for a bare one.

    Raises:
        InvalidOptionError: It is no node.
    """
    if isinstance(node, NodeWithScore):
        return node
    check_entries("nodes", [node], NodeWithScore, BaseNode)
    return NodeWithScore(node=node)


def text_of(node: BaseNode) -> str:
    """Return the text of a node without its metadata."""
    if type(node) is TextNode:
        return node.text  # the same text as below, three calls earlier
    return node.get_content(metadata_mode=MetadataMode.NONE)


def copy_node(node: BaseNode, fields: Fields, text: str | None = None) -> BaseNode:
    """Copy a node shallowly, in its class.

    Args:
        node: Of any class, also a frozen one.
        fields: Those that the class lacks are left out.
        text: The copy's text; None for that of the node.
    """
    if type(node) is TextNode:  # has all of them
        if text is not None:
            fields = {**fields, "text": text}
        return node.model_copy(update=fields)
    class_fields = type(node).model_fields
    known = {name: value for name, value in fields.items() if name in class_fields}
    if text is None:
        return node.model_copy(update=known)
    if "text" in class_fields:
        known["text"] = text
        return node.model_copy(update=known)
    if isinstance(node, Node):
        known["text_resource"] = MediaResource(text=text)
        return node.model_copy(update=known)
    copy = node.model_copy(update=known)
    copy.set_content(text)
    return copy


def replace_node(scored: NodeWithScore, node: BaseNode) -> NodeWithScore:
    """Copy a node with its score, for another node."""
    if type(scored) is NodeWithScore:  # a third of the time that a copy takes
        return NodeWithScore(node=node, score=scored.score)
    return scored.model_copy(update={"node": node})


def list_added(node: BaseNode, metadata: Mapping[str, Any]) -> list[str]:
    """Return the keys of metadata that oprag added to those of a node.

    An index that was made by LangChain shows them.
    """
    of_place = [key for key in LANDMARK_KEYS if key not in node.metadata]
    return [key for key in (*OWN_KEYS, *of_place) if key in metadata]


def hide_keys(keys: Sequence[str], added: Sequence[str] = RESULT_KEYS) -> list[str]:
    """Add metadata keys to the keys that a node does not show."""
    return [*_merge_keys(tuple(keys), tuple(added))]


@lru_cache(maxsize=1024)  # nodes of one parser have the same
def _merge_keys(keys: tuple[str, ...], added: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*keys, *added]))


def offset_fields(node: BaseNode | None, part: int | None, span: Span | None) -> Fields:
    """Return the fields for the characters of a node in its source.

    Args:
        node: The node that is copied; None for a new one.
        part: The part of the document that the characters count from; None for the
            whole document.
        span: The characters; None if they are not known.

    Returns:
        No fields if the characters are not known, or if they count from a part and the
        node had no offsets: they would be taken for offsets in its source.
    """
    if span is None:
        return {}
    if part is not None and getattr(node, "start_char_idx", None) is None:
        return {}
    return {"start_char_idx": span.start, "end_char_idx": span.end}


class Relationships(NamedTuple):
    """The relationships of a node to others, as far as its place depends on them."""

    document: str | None
    """The id of its document."""
    frame: OffsetFrame
    """The object that its offsets are relative to."""
    links: Links


def read_relationships(node: BaseNode) -> Relationships:
    """Read the relationships of a node.

    The neighbours tell to which text the offsets are relative. Hierarchical parsers
    write offsets into the parent node, chained parsers into an intermediate node.
    Chained parsers leave no node with a NEXT.
    """
    document = previous = following = None
    frame: OffsetFrame = "only"
    # Looking a relationship up takes several times as long: it is hashed in Python.
    for kind, related in node.relationships.items():
        if kind is SOURCE:
            document = node.ref_doc_id
        elif kind is PARENT:
            frame = "parent"
        elif kind is NEXT:
            following = getattr(related, "node_id", None)
            frame = "parent" if frame == "parent" else "document"
        elif kind is PREVIOUS:
            previous = getattr(related, "node_id", None)
            frame = "last" if frame == "only" else frame
    return Relationships(document, frame, Links(previous, following))


def join_relationships(
    nodes: Sequence[BaseNode],
) -> dict[NodeRelationship, RelatedNodeType]:
    """Return the relationships of joined nodes: source, parent, outer neighbours."""
    kept = dict(nodes[0].relationships)
    ends = nodes[-1].relationships
    # Few look-ups, because a relationship is hashed in Python.
    for kind in list(kept):
        if kind is not SOURCE and kind is not PREVIOUS:
            del kept[kind]
    if NEXT in ends:
        kept[NEXT] = ends[NEXT]
    parent = nodes[0].relationships.get(PARENT)
    if parent is not None and all(
        node.relationships.get(PARENT) == parent for node in nodes
    ):
        kept[PARENT] = parent
    return kept
