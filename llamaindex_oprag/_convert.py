"""Between LlamaIndex's nodes and the core's hits and passages.

The only place that builds nodes. What is kept, its order and its passages are
decided in `oprag.assembly`.
"""

from __future__ import annotations

from collections.abc import Sequence
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

from oprag.assembly import assemble, falling_scores
from oprag.chunk import Chunk, Passage
from oprag.hit import Hit, OffsetFrame
from oprag.metadata import (
    CHAR_END,
    CHAR_SPANS,
    CHAR_START,
    OWN_KEYS,
    PART_INDEX,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    named_id,
)
from oprag.options import ContextOptions
from oprag.plain_case import plain_case, plain_passage
from oprag.rendering import marked_texts

__all__ = ["CHAR_SPANS", "Arranged", "arrange", "excluding", "hit_of", "sent_text"]

_SOURCE, _PREVIOUS, _NEXT, _PARENT = (
    NodeRelationship.SOURCE,
    NodeRelationship.PREVIOUS,
    NodeRelationship.NEXT,
    NodeRelationship.PARENT,
)
_HIDDEN = frozenset((*OWN_KEYS, CHAR_SPANS))
_ORIGINAL = "original_"
"""Before the name of a metadata key: where its value stands after `rescore`."""


class Arranged(NamedTuple):
    """Nodes in reading order."""

    nodes: list[NodeWithScore]
    """One per passage; the caller's own objects where nothing had to change."""
    used_all: bool
    """Whether every retrieved node was used, so that more could have been."""


def arrange(
    nodes: Sequence[NodeWithScore],
    options: ContextOptions,
    *,
    rescore: str | None = None,
) -> Arranged:
    """Select, order and join retrieved nodes.

    Args:
        nodes: Best first. Neither they nor their nodes are written to.
        options: See `ContextOptions`. The budget counts the text that LlamaIndex
            sends for a node: with the metadata that it shows to the model.
        rescore: Metadata key to write values to that fall from 1 in output order;
            `"score"` also is `NodeWithScore.score`. None to change no score.

    Returns:
        New objects for passages that were merged, marked or rescored: copies of
        their first node (see `_new_node`).

    Raises:
        OpragError: As `oprag.assembly.assemble` does.
    """
    plain = _plain(nodes, options, rescore)
    if plain is not None:
        return plain
    hits = [hit_of(node, rescore) for node in nodes]
    passages, used_all = assemble(hits, options, sent_text=sent_text)
    texts = marked_texts(
        passages, gap_mark=options.gap_mark, separator=options.separator
    )
    values = falling_scores(len(passages))
    arranged = [
        _output(passage, text, rescore, value)
        for passage, text, value in zip(passages, texts, values, strict=True)
    ]
    return Arranged(arranged, used_all)


def _plain(
    nodes: Sequence[NodeWithScore], options: ContextOptions, rescore: str | None
) -> Arranged | None:
    """Do the same where `plain_case` can tell; None where it cannot.

    It needs texts as they are sent, so no metadata may go with them.
    """
    own = [scored.node for scored in nodes]
    budgeted = options.token_budget is not None
    if not all(type(node) is TextNode for node in own) or (
        budgeted and not all(map(_hides_metadata, own))
    ):
        return None
    texts = [_text(node) for node in own]
    metadatas = [node.metadata for node in own]
    found = plain_case(texts, metadatas, options)
    if found is None:
        return None
    arranged = []
    for run, value in zip(found.runs, falling_scores(len(found.runs)), strict=True):
        first = nodes[run[0]]
        if len(run) > 1:
            passage = plain_passage(run, texts, metadatas, nodes)
            arranged.append(_output(passage, passage.text, rescore, value))
        elif rescore is None:
            arranged.append(first)
        else:
            arranged.append(_rescored(first, rescore, value))
    return Arranged(arranged, found.used_all)


def _hides_metadata(node: BaseNode) -> bool:
    """Whether none of the node's metadata goes to the model."""
    return node.metadata.keys() <= set(node.excluded_llm_metadata_keys)


def excluding(keys: Sequence[str], metadata: dict[str, Any]) -> list[str]:
    """Add oprag's own keys to the metadata keys that a node does not show."""
    own = [key for key in metadata if key in _HIDDEN]
    return list(dict.fromkeys([*keys, *own]))


def hit_of(scored: NodeWithScore, rescore: str | None = None) -> Hit:
    """Give the core what it needs of a retrieved node."""
    node = scored.node
    offsets = None
    if hasattr(node, "start_char_idx"):  # not on Document and Node
        offsets = (node.start_char_idx, getattr(node, "end_char_idx", None))
    score = scored.score
    metadata = node.metadata
    if rescore == "score":  # ours from an earlier run says nothing about relevance
        score = metadata.get(f"{_ORIGINAL}score", score)
    source, frame = _related(node)
    return Hit(_text(node), metadata, scored, node, score, source, offsets, frame)


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


def _text(node: BaseNode) -> str:
    if type(node) is TextNode:
        return node.text  # what it gives below, three calls later
    return node.get_content(metadata_mode=MetadataMode.NONE)


def sent_text(chunk: Chunk, text: str) -> str:
    """What LlamaIndex sends for a chunk with this text: behind its metadata."""
    node: BaseNode = chunk.source.node
    if text != _text(node):
        node = _copy(node, text, {})
    return node.get_content(metadata_mode=MetadataMode.LLM)


def _output(
    passage: Passage, text: str, rescore: str | None, value: float
) -> NodeWithScore:
    first: NodeWithScore = passage.chunks[0].source
    changed = len(passage.chunks) > 1 or text != _text(first.node)
    if not changed and rescore is None:
        return first
    metadata = _metadata(passage, changed=changed)
    best: NodeWithScore = min(passage.chunks, key=lambda chunk: chunk.rank).source
    score = best.score
    hidden: list[str] = []
    if rescore is not None:
        score, hidden = _write_score(metadata, rescore, value, score)
    node = _new_node(passage, text, metadata, hidden, changed=changed)
    return _scored(first, node, score)


def _rescored(first: NodeWithScore, rescore: str, value: float) -> NodeWithScore:
    """What `_output` makes of a single chunk of the usual case."""
    metadata = dict(first.node.metadata)
    score, hidden = _write_score(metadata, rescore, value, first.score)
    changes = {
        "metadata": metadata,
        **_excluded(first.node, hidden, metadata),
        "start_char_idx": metadata[CHAR_START],
        "end_char_idx": metadata[CHAR_END],
    }
    return _scored(first, first.node.model_copy(update=changes), score)


def _write_score(
    metadata: dict[str, Any], rescore: str, value: float, score: float | None
) -> tuple[float | None, list[str]]:
    """Write a falling score; give the node's own, and the keys that were written."""
    original = metadata.get(rescore)
    if rescore == "score" and score is not None:
        original = score
    # None too: it says that there was none, so that another run keeps that.
    metadata.setdefault(_ORIGINAL + rescore, original)
    metadata[rescore] = value
    return value if rescore == "score" else score, [rescore, _ORIGINAL + rescore]


def _scored(first: NodeWithScore, node: BaseNode, score: float | None) -> NodeWithScore:
    if type(first) is NodeWithScore:  # a third of the time that a copy takes
        return NodeWithScore(node=node, score=score)
    return first.model_copy(update={"node": node, "score": score})


def _metadata(passage: Passage, *, changed: bool) -> dict[str, Any]:
    """Metadata of the first node, with the place of the whole passage."""
    metadata: dict[str, Any] = dict(passage.chunks[0].source.node.metadata)
    if changed:
        metadata.pop(TOKEN_COUNT, None)
        metadata.pop(TOKEN_COUNTER, None)
    if passage.spans:
        metadata[CHAR_START] = passage.spans[0].start
        metadata[CHAR_END] = passage.spans[-1].end
        if passage.part is not None:
            metadata[PART_INDEX] = passage.part
    if len(passage.spans) > 1:
        metadata[CHAR_SPANS] = ",".join(f"{s}-{e}" for s, e in passage.spans)
    return metadata


def _new_node(
    passage: Passage,
    text: str,
    metadata: dict[str, Any],
    hidden: Sequence[str],
    *,
    changed: bool,
) -> BaseNode:
    """Copy of the passage's first node, of its class, with text and place renewed.

    A merged node has an id of its own, made of the ids of its parts: retrievers
    drop nodes whose id they have seen. Keys that were added are not shown to the
    model nor to the embedding model.
    """
    nodes: list[BaseNode] = [chunk.source.node for chunk in passage.chunks]
    first = nodes[0]
    changes: dict[str, Any] = {"metadata": metadata}
    changes.update(_excluded(first, hidden, metadata))
    if changed:
        changes["embedding"] = None
    # A slice has metadata of its own; other slices of the node have other ids.
    whole = all(c.metadata is c.source.node.metadata for c in passage.chunks)
    if len(nodes) > 1 or not whole:
        ids = [node.node_id for node in nodes]
        ids += [] if whole else [f"{start}-{end}" for start, end in passage.spans]
        changes["id_"] = named_id("\n".join(ids))
        changes["relationships"] = _relationships(nodes)
    start = getattr(first, "start_char_idx", None)
    # Without one, the offsets of a part are no offsets in the node's source.
    if passage.spans and (start is not None or passage.part is None):
        changes["start_char_idx"] = passage.spans[0].start
        changes["end_char_idx"] = passage.spans[-1].end
    return _copy(first, text, changes)


def _excluded(
    node: BaseNode, hidden: Sequence[str], metadata: dict[str, Any]
) -> dict[str, list[str]]:
    llm, embed = node.excluded_llm_metadata_keys, node.excluded_embed_metadata_keys
    for_llm = excluding([*llm, *hidden], metadata)
    # Mostly both are the same.
    same = embed == llm
    for_embed = [*for_llm] if same else excluding([*embed, *hidden], metadata)
    return {
        "excluded_llm_metadata_keys": for_llm,
        "excluded_embed_metadata_keys": for_embed,
    }


def _relationships(
    nodes: Sequence[BaseNode],
) -> dict[NodeRelationship, RelatedNodeType]:
    """What still holds for the nodes as one: source, parent, neighbours of the ends."""
    first, last = nodes[0].relationships, nodes[-1].relationships
    kept: dict[NodeRelationship, RelatedNodeType] = {}
    for kind, ends in (
        (NodeRelationship.SOURCE, first),
        (NodeRelationship.PREVIOUS, first),
        (NodeRelationship.NEXT, last),
    ):
        if kind in ends:
            kept[kind] = ends[kind]
    parents = [node.relationships.get(NodeRelationship.PARENT) for node in nodes]
    if parents[0] is not None and all(parent == parents[0] for parent in parents):
        kept[NodeRelationship.PARENT] = parents[0]
    return kept


def _copy(node: BaseNode, text: str, changes: dict[str, Any]) -> BaseNode:
    """Shallow copy with another text: also of frozen and foreign node classes."""
    if type(node) is TextNode:  # has all of them
        return node.model_copy(update={**changes, "text": text})
    fields = type(node).model_fields
    known = {key: value for key, value in changes.items() if key in fields}
    if "text" in fields:
        return node.model_copy(update={**known, "text": text})
    if isinstance(node, Node):
        known["text_resource"] = MediaResource(text=text)
        return node.model_copy(update=known)
    copy = node.model_copy(update=known)
    copy.set_content(text)
    return copy
