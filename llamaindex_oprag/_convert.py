"""Between LlamaIndex's nodes and the core's hits and passages.

The only place that builds nodes. What is kept, its order and its passages are
decided in `oprag.context.assembly`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, NamedTuple, TypeGuard

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
from oprag.chunk import Chunk, Hit, OffsetFrame, Passage
from oprag.context import (
    ContextOptions,
    assemble,
    falling_scores,
    marked_texts,
    plain_case,
)
from oprag.metadata import (
    CHAR_END,
    CHAR_SPANS,
    CHAR_START,
    OWN_KEYS,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    joined_id,
    place_metadata,
)

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
        OpragError: As `oprag.context.assemble` does.
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
    """Do the same where `plain_case` can tell; None where it cannot."""
    own = [scored.node for scored in nodes]
    if not _all_text_nodes(own):
        return None
    metadatas = [node.metadata for node in own]
    texts = [node.text for node in own]
    found = plain_case(
        texts,
        metadatas,
        options,
        heads=lambda count: heads_of(own[:count], metadatas[:count]),
    )
    if found is None:
        return None
    if rescore is None and not options.merge:
        return Arranged([nodes[rank] for (rank,) in found.runs], found.used_all)
    arranged = []
    values = falling_scores(len(found.runs)) if rescore else repeat(0.0)
    for run, text, value in zip(found.runs, found.texts, values, strict=False):
        first = nodes[run[0]]
        if len(run) > 1:
            span = (metadatas[run[0]][CHAR_START], metadatas[run[-1]][CHAR_END])
            place = _Place([own[rank] for rank in run], [span])
            score = nodes[min(run)].score
            arranged.append(
                _renewed(first, text, place, score, rescore=rescore, value=value)
            )
        elif rescore is None:
            arranged.append(first)
        else:
            arranged.append(_rescored(first, rescore, value))
    return Arranged(arranged, found.used_all)


def _all_text_nodes(nodes: list[BaseNode]) -> TypeGuard[list[TextNode]]:
    return set(map(type, nodes)) == {TextNode}


def excluding(keys: Sequence[str], metadata: dict[str, Any]) -> list[str]:
    """Add oprag's own keys to the metadata keys that a node does not show."""
    return list(_excluding(tuple(keys), tuple(metadata)))


@lru_cache(maxsize=1024)  # nodes of one parser have the same
def _excluding(keys: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    own = [name for name in names if name in _HIDDEN]
    return tuple(dict.fromkeys([*keys, *own]))


def hit_of(scored: NodeWithScore, rescore: str | None = None) -> Hit:
    """Return the core what it needs of a retrieved node."""
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


class _Place(NamedTuple):
    """Where the text of a passage is from."""

    nodes: Sequence[BaseNode]
    """Its nodes in reading order."""
    spans: Sequence[tuple[int, int]]
    """As `Passage.spans`."""
    part: int | None = None
    """As `Passage.part`."""
    whole: bool = True
    """Whether all of each node is in it, and not a slice."""


def _output(
    passage: Passage, text: str, rescore: str | None, value: float
) -> NodeWithScore:
    chunks = passage.chunks
    first: NodeWithScore = chunks[0].source
    if rescore is None and len(chunks) == 1 and text == _text(first.node):
        return first
    # A slice has metadata of its own.
    whole = all(c.metadata is c.source.node.metadata for c in chunks)
    nodes = [chunk.source.node for chunk in chunks]
    place = _Place(nodes, passage.spans, passage.part, whole)
    best: NodeWithScore = min(chunks, key=lambda chunk: chunk.rank).source
    return _renewed(first, text, place, best.score, rescore=rescore, value=value)


def _renewed(
    first: NodeWithScore,
    text: str,
    place: _Place,
    score: float | None,
    *,
    rescore: str | None,
    value: float,
) -> NodeWithScore:
    """Copy of a passage's first node with another text, place or score.

    Args:
        first: Not written to.
        text: The passage's.
        place: Where it is from.
        score: The best of its nodes.
        rescore: See `arrange`.
        value: What `rescore` writes.
    """
    changed = len(place.nodes) > 1 or text != _text(first.node)
    metadata = _metadata(place, changed=changed)
    hidden: list[str] = []
    if rescore is not None:
        score, hidden = _write_score(metadata, rescore, value, score)
    node = _new_node(place, text, metadata, hidden, changed=changed)
    return _scored(first, node, score)


def _rescored(first: NodeWithScore, rescore: str, value: float) -> NodeWithScore:
    """What `_renewed` makes of a single chunk of the usual case, in less time."""
    metadata = dict(first.node.metadata)
    score, hidden = _write_score(metadata, rescore, value, first.score)
    changes = _excluded(first.node, hidden, metadata)
    changes["metadata"] = metadata
    changes["start_char_idx"] = metadata[CHAR_START]
    changes["end_char_idx"] = metadata[CHAR_END]
    return _scored(first, first.node.model_copy(update=changes), score)


def _scored(first: NodeWithScore, node: BaseNode, score: float | None) -> NodeWithScore:
    if type(first) is NodeWithScore:  # a third of the time that a copy takes
        return NodeWithScore(node=node, score=score)
    return first.model_copy(update={"node": node, "score": score})


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


def _metadata(place: _Place, *, changed: bool) -> dict[str, Any]:
    """Metadata of the first node, with the place of the whole passage."""
    metadata: dict[str, Any] = dict(place.nodes[0].metadata)
    if changed:
        metadata.pop(TOKEN_COUNT, None)
        metadata.pop(TOKEN_COUNTER, None)
    metadata.update(place_metadata(place.spans, place.part))
    return metadata


def _new_node(
    place: _Place,
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
    first = place.nodes[0]
    changes: dict[str, Any] = {"metadata": metadata}
    changes.update(_excluded(first, hidden, metadata))
    if changed:
        changes["embedding"] = None
    if len(place.nodes) > 1 or not place.whole:
        ids = [node.node_id for node in place.nodes]
        changes["id_"] = joined_id(ids, [] if place.whole else place.spans)
        changes["relationships"] = _relationships(place.nodes)
    start = getattr(first, "start_char_idx", None)
    # Without one, the offsets of a part are no offsets in the node's source.
    if place.spans and (start is not None or place.part is None):
        changes["start_char_idx"] = place.spans[0][0]
        changes["end_char_idx"] = place.spans[-1][1]
    return _copy(first, text, changes)


def _excluded(
    node: BaseNode, hidden: Sequence[str], metadata: dict[str, Any]
) -> dict[str, Any]:
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
