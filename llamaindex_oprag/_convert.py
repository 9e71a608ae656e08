"""Between LlamaIndex's nodes and the core's hits and passages.

The only place that builds nodes. What is kept, its order and its passages are
decided in `oprag.context`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

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

from llamaindex_oprag._heads import heads_of
from oprag import context
from oprag.chunk import Chunk, Hit, OffsetFrame
from oprag.context import ORIGINAL, Columns, ContextOptions, Rebuilt, write_score
from oprag.documents import check_entries
from oprag.metadata import CHAR_END, CHAR_SPANS, CHAR_START, OWN_KEYS, place_metadata
from oprag.positions import SourceText

_SOURCE, _PREVIOUS, _NEXT, _PARENT = (
    NodeRelationship.SOURCE,
    NodeRelationship.PREVIOUS,
    NodeRelationship.NEXT,
    NodeRelationship.PARENT,
)
_HIDDEN = frozenset((*OWN_KEYS, CHAR_SPANS))
_ID = attrgetter("node.node_id")


class Ordered(NamedTuple):
    """Nodes in reading order."""

    nodes: list[NodeWithScore]
    """One per passage; the caller's own objects where nothing had to change."""
    used_all: bool
    """Whether every retrieved node was used, so that more could have been."""


def _wrapped(value: Any) -> str:
    """What to do with a node that came without a score."""
    is_node = isinstance(value, BaseNode)
    return " Wrap it: NodeWithScore(node=node)." if is_node else ""


def arrange(
    nodes: Sequence[NodeWithScore],
    options: ContextOptions,
    *,
    rescore: str | None = None,
) -> Ordered:
    """Select, order and join retrieved nodes.

    Args:
        nodes: Best first. Neither they nor their nodes are written to.
        options: See `ContextOptions`. The budget counts the text that LlamaIndex
            sends for a node: with the metadata that it shows to the model.
        rescore: Metadata key to write values to that fall from 1 in output order;
            `"score"` also is `NodeWithScore.score`. None to change no score.

    Returns:
        The nodes that were retrieved; new objects for passages that were merged,
        marked or rescored: copies of their first node (see `_node`).

    Raises:
        OpragError: As `oprag.context.arrange` does.
    """
    try:
        columns = _columns(nodes)
    except (AttributeError, TypeError):
        check_entries("nodes", nodes, NodeWithScore, _wrapped)
        raise
    arranged = context.arrange(
        lambda: [hit_of(node, rescore) for node in nodes],
        options,
        sent_text=sent_text,
        columns=columns,
    )
    rescored = None if rescore is None else partial(_rescored, rescore=rescore)
    made = arranged.results(partial(_node, rescore=rescore), rescored)
    return Ordered(made, arranged.used_all)


def _columns(nodes: Sequence[NodeWithScore]) -> Columns | None:
    """What costs least to read; None for nodes that keep their text elsewhere."""
    own: list[Any] = [scored.node for scored in nodes]
    if set(map(type, own)) != {TextNode}:
        return None
    metadatas = [node.metadata for node in own]
    return Columns(
        nodes,
        [node.text for node in own],
        metadatas,
        lambda count: heads_of(own[:count], metadatas[:count]),
    )


def excluding(keys: Sequence[str], metadata: dict[str, Any]) -> list[str]:
    """Add oprag's own keys to the metadata keys that a node does not show."""
    return list(_excluding((tuple(keys),), (), tuple(metadata))[0])


@lru_cache(maxsize=1024)  # nodes of one parser have the same
def _excluding(
    lists: tuple[tuple[str, ...], ...], hidden: tuple[str, ...], names: tuple[str, ...]
) -> list[tuple[str, ...]]:
    """What each list of keys becomes, with those that are hidden from all."""
    own = [*hidden, *(name for name in names if name in _HIDDEN)]
    return [tuple(dict.fromkeys([*keys, *own])) for keys in lists]


def hit_of(scored: NodeWithScore, rescore: str | None = None) -> Hit:
    """Return the core what it needs of a retrieved node."""
    node = scored.node
    offsets = None
    if hasattr(node, "start_char_idx"):  # not on Document and Node
        offsets = (node.start_char_idx, getattr(node, "end_char_idx", None))
    score = scored.score
    metadata = node.metadata
    if rescore == "score":  # ours from an earlier run says nothing about relevance
        score = metadata.get(f"{ORIGINAL}score", score)
    source, frame = _related(node)
    return Hit(text_of(node), metadata, scored, node, score, source, offsets, frame)


def _related(node: BaseNode) -> tuple[str | None, OffsetFrame]:
    """The id of the node's document, and what its offsets are relative to.

    As its neighbours tell: hierarchical parsers write offsets into the parent node,
    chained parsers into an intermediate one; the latter leave no node with a NEXT.
    """
    source = None
    frame: OffsetFrame = "only"
    # Looking a relationship up takes several times as long: its hash is Python.
    for kind in node.relationships:
        if kind is _SOURCE:
            source = node.ref_doc_id
        elif kind is _PARENT:
            frame = "parent"
        elif kind is _NEXT and frame != "parent":
            frame = "document"
        elif kind is _PREVIOUS and frame == "only":
            frame = "last"
    return source, frame


def text_of(node: BaseNode) -> str:
    """Return the text of a node without its metadata."""
    if type(node) is TextNode:
        return node.text  # what it gives below, three calls later
    return node.get_content(metadata_mode=MetadataMode.NONE)


def characters_of(nodes: Iterable[NodeWithScore]) -> int:
    """Count the characters of the nodes' texts."""
    return sum(len(text_of(each.node)) for each in nodes)


def source_of(node: BaseNode) -> SourceText:
    """Return what the core needs of a document, or of a node of an earlier parser."""
    return SourceText(
        text_of(node),
        node.metadata,
        node.ref_doc_id or node.node_id,
        cut=node.source_node is not None,
        has_neighbours=bool(node.prev_node or node.next_node),
    )


def sent_text(chunk: Chunk, text: str) -> str:
    """What LlamaIndex sends for a chunk with this text: behind its metadata."""
    node: BaseNode = chunk.source.node
    if text != text_of(node):
        node = _copy(node, text, {})
    return node.get_content(metadata_mode=MetadataMode.LLM)


def _node(passage: Rebuilt, rescore: str | None) -> NodeWithScore:
    """Copy of a passage's first node, of its class, with what is new about it.

    A merged node has an id of its own, made of the ids of its parts: retrievers
    drop nodes whose id they have seen. Keys that were added are not shown to the
    model nor to the embedding model.
    """
    first: BaseNode = passage.objects[0].node
    metadata = passage.metadata(first.metadata)
    score: float | None = passage.best.score
    hidden: tuple[str, ...] = ()
    if rescore is not None:
        score, hidden = _write_score(metadata, rescore, passage.score, score)
    changes = _changes(first, metadata, hidden)
    changes.update(_offsets(first, passage.spans, passage.part))
    changes["embedding"] = None
    if len(passage.objects) > 1 or passage.slices:
        changes["id_"] = passage.new_id(_ID)
        changes["relationships"] = _relationships([s.node for s in passage.objects])
    return _scored(passage.objects[0], _copy(first, passage.text, changes), score)


def _rescored(
    first: NodeWithScore,
    value: float,
    spans: Sequence[tuple[int, int]] | None = None,
    part: int | None = None,
    *,
    rescore: str,
) -> NodeWithScore:
    node = first.node
    metadata = dict(node.metadata)
    if spans is not None:
        metadata.update(place_metadata(spans, part))
    score, hidden = _write_score(metadata, rescore, value, first.score)
    changes = _changes(node, metadata, hidden)
    if spans is not None:
        changes.update(_offsets(node, spans, part))
    else:
        changes["start_char_idx"] = metadata[CHAR_START]
        changes["end_char_idx"] = metadata[CHAR_END]
    return _scored(first, _copy(node, None, changes), score)


def _changes(
    node: BaseNode, metadata: dict[str, Any], hidden: tuple[str, ...]
) -> dict[str, Any]:
    """What is new on a copy of a node: metadata, and what of it is hidden."""
    llm, embed = node.excluded_llm_metadata_keys, node.excluded_embed_metadata_keys
    lists = tuple(llm), tuple(embed)
    for_llm, for_embed = _excluding(lists, hidden, tuple(metadata))
    return {
        "metadata": metadata,
        "excluded_llm_metadata_keys": [*for_llm],
        "excluded_embed_metadata_keys": [*for_embed],
    }


def _offsets(
    node: BaseNode, spans: Sequence[tuple[int, int]], part: int | None
) -> dict[str, int]:
    # Without a start, the offsets of a part are no offsets in the node's source.
    if spans and (part is None or getattr(node, "start_char_idx", None) is not None):
        return {"start_char_idx": spans[0][0], "end_char_idx": spans[-1][1]}
    return {}


def _scored(first: NodeWithScore, node: BaseNode, score: float | None) -> NodeWithScore:
    if type(first) is NodeWithScore:  # a third of the time that a copy takes
        return NodeWithScore(node=node, score=score)
    return first.model_copy(update={"node": node, "score": score})


def _write_score(
    metadata: dict[str, Any], rescore: str, value: float | None, score: float | None
) -> tuple[float | None, tuple[str, ...]]:
    """Write a falling score; give the node's own, and the keys that were written."""
    write_score(metadata, rescore, value, score if rescore == "score" else None)
    original = ORIGINAL + rescore
    hidden = (rescore, original) if original in metadata else (rescore,)
    return value if rescore == "score" else score, hidden


def _relationships(
    nodes: Sequence[BaseNode],
) -> dict[NodeRelationship, RelatedNodeType]:
    """What still holds for the nodes as one: source, parent, neighbours of the ends."""
    kept = dict(nodes[0].relationships)
    ends = nodes[-1].relationships
    # Few look-ups: the hash of a relationship is Python.
    for kind in list(kept):
        if kind is not _SOURCE and kind is not _PREVIOUS:
            del kept[kind]
    if _NEXT in ends:
        kept[_NEXT] = ends[_NEXT]
    parent = nodes[0].relationships.get(_PARENT)
    if parent is not None and all(
        node.relationships.get(_PARENT) == parent for node in nodes
    ):
        kept[_PARENT] = parent
    return kept


def _copy(node: BaseNode, text: str | None, changes: dict[str, Any]) -> BaseNode:
    """Shallow copy, with another text if any: also of frozen and foreign classes."""
    if type(node) is TextNode:  # has all of them
        if text is not None:
            changes["text"] = text
        return node.model_copy(update=changes)
    fields = type(node).model_fields
    known = {key: value for key, value in changes.items() if key in fields}
    if text is None:
        return node.model_copy(update=known)
    if "text" in fields:
        return node.model_copy(update={**known, "text": text})
    if isinstance(node, Node):
        known["text_resource"] = MediaResource(text=text)
        return node.model_copy(update=known)
    copy = node.model_copy(update=known)
    copy.set_content(text)
    return copy
