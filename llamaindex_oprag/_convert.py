"""Between LlamaIndex's nodes and the core's hits and passages.

The only place that builds nodes. `oprag.context` selects the nodes to keep, and decides
their order and their passages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any

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

from llamaindex_oprag._options import set_tokenizer
from llamaindex_oprag._relationships import (
    NEXT,
    PARENT,
    PREVIOUS,
    SOURCE,
    read_relationships,
)
from oprag import context
from oprag.agents import write_new_passages
from oprag.chunk import ChainedPlace, Chunk, Hit, Passage, Span
from oprag.context import (
    NO_NEIGHBOURS,
    CandidateTail,
    CitationNumbers,
    ContextOptions,
    Seen,
    headers,
    result_id,
    result_metadata,
)
from oprag.documents import check_entries
from oprag.marks import escape_marks
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CITATION,
    OWN_KEYS,
    PART_INDEX,
    RESULT_KEYS,
    as_number,
    make_named_id,
)
from oprag.result_key import is_result, read_written
from oprag.splitting import SourceText
from oprag.stores import StoredChunk

_ID = attrgetter("node.node_id")


def arrange(
    nodes: Sequence[NodeWithScore],
    options: ContextOptions,
    *,
    as_text: bool = False,
    seen: Seen | None = None,
    numbers: CitationNumbers | None = None,
    neighbours: CandidateTail = NO_NEIGHBOURS,
    places: Mapping[int, ChainedPlace] = MappingProxyType({}),
) -> context.OrderedContext[NodeWithScore]:
    """Select, order and join retrieved nodes.

    Args:
        nodes: Best first. Neither they nor their nodes are written to.
        options: See `ContextOptions`. The budget counts the text that LlamaIndex
            sends for a node: with the metadata that it shows to the model.
        as_text: Whether the texts are sent alone, as `format_nodes` writes them.
        seen: The text that the reader has read already; the result is then that of
            `write_new_passages`. None to leave nothing out.
        numbers: See `write_new_passages`.
        neighbours: See `oprag.context.arrange`.
        places: The places that other nodes of the index prove, by rank.

    Returns:
        One new object per passage: a copy of its best node, with its place in the
        metadata (see `_copy_best_node`).

    Raises:
        OpragError: As `oprag.context.arrange` does.
    """
    options = set_tokenizer(options)
    hits = [*hits_of(nodes)]
    for rank, place in places.items():
        hits[rank] = hits[rank]._replace(chained=place)
    if seen is not None:
        written = write_new_passages(hits, options, seen, neighbours, numbers)
        return written.map(partial(node_of, options=options))
    sent = None if as_text else partial(write_sent_text, cited=options.citations)
    arranged = context.arrange(hits, options, sent_text=sent, neighbours=neighbours)
    made = arranged.map(partial(node_of, options=options))
    if as_text or not options.citations:
        return made
    heads = headers(arranged.passages, separator=options.separator)
    return replace(made, passages=list(map(_add_citation, made.passages, heads)))


def _add_citation(scored: NodeWithScore, head: str) -> NodeWithScore:
    """Return a copy whose template puts the passage's number and place first."""
    node: Any = scored.node
    if not hasattr(node, "text_template"):
        return scored
    citation, shown = node.metadata[CITATION], node.excluded_llm_metadata_keys
    changes: dict[str, Any]
    if node.get_metadata_str(MetadataMode.LLM).strip():
        template = _escape_template(node, node.text_template)
        changes = {"text_template": _escape_braces(head) + template}
    else:
        # LlamaIndex skips the template if no metadata is shown, so show the citation
        # as the only metadata.
        number = head.removesuffix(f"{citation}\n")
        content = _escape_template(node, "{content}")
        changes = {
            "text_template": _escape_braces(number) + "{metadata_str}\n" + content,
            "metadata_template": "{value}",
            "excluded_llm_metadata_keys": [key for key in shown if key != CITATION],
        }
    return _attach_score(scored, _copy(node, None, changes), scored.score)


def _strip_citation(node: Any) -> dict[str, Any]:
    """Return the changes that undo `_add_citation`; empty if there are none."""
    if CITATION not in node.metadata or not hasattr(node, "text_template"):
        return {}
    if CITATION not in node.excluded_llm_metadata_keys:
        # The citation was shown as metadata: restore the templates of the class.
        fields = type(node).model_fields
        names = ("text_template", "metadata_template")
        return {name: fields[name].default for name in names} | {
            "excluded_llm_metadata_keys": hide_keys(node.excluded_llm_metadata_keys)
        }
    # It stands before the template: keep the rest.
    place = _escape_braces(f"{node.metadata[CITATION]}\n")
    _, found, template = node.text_template.partition(place)
    for name, written, escaped in _escape_values(node):
        if escaped != written:
            template = template.replace(_escape_braces(escaped), name)
    return {"text_template": template} if found else {}


def _escape_template(node: Any, template: str) -> str:
    """Return a template in which no line of the node looks like one of our marks.

    A template inserts a text unchanged. A text with such lines is therefore escaped and
    written into the template itself.
    """
    for name, written, escaped in _escape_values(node):
        if escaped != written:
            template = template.replace(name, _escape_braces(escaped))
    return template


def _escape_values(node: Any) -> Iterator[tuple[str, str, str]]:
    """Yield each variable of a template, its text, and that text behind a place."""
    metadata = node.get_metadata_str(MetadataMode.LLM).strip()
    for name, text in (("{content}", text_of(node)), ("{metadata_str}", metadata)):
        yield name, text, escape_marks(text)


def _escape_braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def node_of(passage: Passage, options: ContextOptions | None = None) -> NodeWithScore:
    """Return the node for a passage, whatever the passage was made of."""
    objects = [chunk.source for chunk in passage.chunks]
    if all(isinstance(each, NodeWithScore) for each in objects):
        return _copy_best_node(passage, objects, options)
    metadata = result_metadata(passage, options, whole=len(objects) == 1)
    hidden_keys = [key for key in metadata if key in OWN_KEYS or key in RESULT_KEYS]
    own_id = make_named_id(f"{passage.citation}\n{passage.text}")
    node = new_node(own_id, passage.text, metadata, hidden_keys)
    return NodeWithScore(node=node, score=passage.chunks[0].score)


def new_node(
    own_id: str,
    text: str,
    metadata: dict[str, Any],
    hidden_keys: Sequence[str],
    beside: Chunk | None = None,
) -> TextNode:
    """Return a node for a text, with its characters by the place in the metadata.

    Args:
        own_id: Its id.
        text: Its text.
        metadata: Its metadata, with the reserved keys of a result.
        hidden_keys: Keys that are shown to neither the model nor the embedding model.
        beside: A retrieved chunk of the same document, which knows its source.
    """
    node = TextNode(
        id_=own_id,
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=[*hidden_keys],
        excluded_embed_metadata_keys=[*hidden_keys],
        **_write_offsets(metadata),
    )
    source = beside and beside.source.node.source_node
    if source is not None:
        node.relationships[SOURCE] = source
    return node


def neighbour_of(hit: NodeWithScore, chunk: StoredChunk) -> NodeWithScore:
    """Return the node for a chunk beside a hit, with the hit's class and settings."""
    node: BaseNode = hit.node
    metadata = dict(chunk.metadata)
    source = node.relationships.get(SOURCE)
    # The first chunk of a document has keys that the hit need not hide.
    added = [key for key in OWN_KEYS if key in metadata and key not in node.metadata]
    keys = (PART_INDEX, CHAR_START, CHAR_END)
    part, start, end = [as_number(metadata.get(key)) for key in keys]
    changes: dict[str, Any] = {
        "id_": chunk.id or make_named_id(f"{metadata}\n{chunk.text}"),
        "metadata": metadata,
        "excluded_llm_metadata_keys": hide_keys(node.excluded_llm_metadata_keys, added),
        "excluded_embed_metadata_keys": hide_keys(
            node.excluded_embed_metadata_keys, added
        ),
        "embedding": None,
        "relationships": {} if source is None else {SOURCE: source},
        **_write_range_offsets(node, part, start, end),
    }
    return NodeWithScore(node=_copy(node, chunk.text, changes))


def hide_keys(keys: Sequence[str], added: Sequence[str] = RESULT_KEYS) -> list[str]:
    """Add metadata keys to the keys that a node does not show."""
    return [*_merge_keys(tuple(keys), tuple(added))]


@lru_cache(maxsize=1024)  # nodes of one parser have the same
def _merge_keys(keys: tuple[str, ...], added: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*keys, *added]))


def hits_of(nodes: Iterable[NodeWithScore | BaseNode], *others: type) -> list[Hit]:
    """Make hits of nodes, best first.

    Raises:
        InvalidOptionError: `nodes` is no list of nodes with scores, or of `others`.
    """
    kinds = (NodeWithScore, *others)
    is_list = isinstance(nodes, (list, tuple))
    if not is_list or not all(isinstance(node, kinds) for node in nodes):
        check_entries("nodes", nodes, *kinds)
    return [_make_hit(node) for node in nodes]


def _make_hit(scored: NodeWithScore | BaseNode) -> Hit:
    scored = ensure_scored(scored)
    node = scored.node
    offsets = None
    if hasattr(node, "start_char_idx"):  # not on Document and Node
        offsets = (node.start_char_idx, getattr(node, "end_char_idx", None))
    source, frame, links = read_relationships(node)
    return Hit(
        text=text_of(node),
        metadata=node.metadata,
        source=scored,
        subject=node,
        score=scored.score,
        document=source,
        offsets=offsets,
        frame=frame,
        id=node.node_id,
        links=links,
    )


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


def source_of(node: BaseNode) -> SourceText:
    """Return a document, or an earlier parser's node, in the form the core takes."""
    return SourceText(
        text_of(node),
        node.metadata,
        node.ref_doc_id or node.node_id,
        cut=node.source_node is not None,
        has_neighbours=bool(node.prev_node or node.next_node),
    )


def write_sent_text(chunk: Chunk, text: str, *, cited: bool = False) -> str:
    """Return the text that LlamaIndex sends for a chunk, after its metadata."""
    node: BaseNode = chunk.source.node
    changes = _strip_citation(node)
    if chunk.metadata is not node.metadata:  # several, joined
        changes["metadata"] = dict(chunk.metadata)
    if changes or text != text_of(node):
        node = _copy(node, text, changes)
    template = getattr(node, "text_template", "")
    if cited and template:
        if not node.get_metadata_str(MetadataMode.LLM).strip():
            return escape_marks(text)
        escaped = _escape_template(node, template)
        if escaped != template:
            node = _copy(node, None, {"text_template": escaped})
    sent = node.get_content(metadata_mode=MetadataMode.LLM)
    if cited and template.startswith("{content}"):
        # Behind a place white space is not stripped.
        return text[: len(text) - len(text.lstrip())] + sent.lstrip()
    return sent


def _copy_best_node(
    passage: Passage, nodes: Sequence[NodeWithScore], options: ContextOptions | None
) -> NodeWithScore:
    """Copy the best node of a passage, in its class, with the passage's place and text.

    A merged node has its own id, made of the ids of its parts, because retrievers drop
    nodes whose id they have seen. The reserved keys are shown neither to the model nor
    to the embedding model.
    """
    scored = min(passage.chunks, key=attrgetter("rank")).source
    best: BaseNode = scored.node
    whole = len(nodes) == 1 and passage.text == text_of(best)
    metadata = result_metadata(passage, options, whole=whole)
    shown = best.excluded_llm_metadata_keys
    if options is not None or not is_result(best.metadata):
        shown = hide_keys(shown)
    changes: dict[str, Any] = {
        **({} if options is None else _strip_citation(best)),
        "metadata": metadata,
        "excluded_llm_metadata_keys": shown,
        "excluded_embed_metadata_keys": hide_keys(best.excluded_embed_metadata_keys),
        **_write_span_offsets(nodes[0].node, passage.part, passage.spans),
    }
    if whole:
        return _attach_score(scored, _copy(best, None, changes), scored.score)
    changes["embedding"] = None
    changes["id_"] = result_id(passage, _ID, lambda each: text_of(each.node))
    changes["relationships"] = _join_relationships([each.node for each in nodes])
    return _attach_score(scored, _copy(best, passage.text, changes), scored.score)


def _write_offsets(metadata: Mapping[str, Any]) -> dict[str, int]:
    """Return the characters of a result as those of a new node."""
    written = read_written(metadata)
    if written is None:
        return {}
    return _write_span_offsets(None, written.part, written.spans)


def _write_span_offsets(
    node: BaseNode | None, part: int | None, spans: Sequence[Span]
) -> dict[str, int]:
    """Return `start_char_idx` and `end_char_idx` over the spans; empty if unknown."""
    if not spans:
        return {}
    start, end = spans[0].start, spans[-1].end
    return _write_range_offsets(node, part, start, end if end > start else None)


def _write_range_offsets(
    node: BaseNode | None, part: int | None, start: int | None, end: int | None
) -> dict[str, int]:
    """Return characters as the fields of a node, or of a new node if there is none.

    Offsets in a part are written only if the node had offsets. Otherwise they would be
    taken for offsets in its source.
    """
    has_own = getattr(node, "start_char_idx", None) is not None
    if start is None or end is None or (part is not None and not has_own):
        return {}
    return {"start_char_idx": start, "end_char_idx": end}


def _attach_score(
    first: NodeWithScore, node: BaseNode, score: float | None
) -> NodeWithScore:
    if type(first) is NodeWithScore:  # a third of the time that a copy takes
        return NodeWithScore(node=node, score=score)
    return first.model_copy(update={"node": node, "score": score})


def _join_relationships(
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


def _copy(node: BaseNode, text: str | None, changes: dict[str, Any]) -> BaseNode:
    """Copy a node shallowly, with the text if given; also frozen or foreign classes."""
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
