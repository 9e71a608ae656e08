"""LlamaIndex's nodes as the core's hits, put in order, and passages as nodes again.

The only place that builds nodes for passages. `oprag.context` selects the nodes to
keep, and decides their order and their passages. No given node is written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Protocol

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode

from llamaindex_oprag._cited_templates import (
    fill_behind_citation,
    undo_citation,
    write_citation,
)
from llamaindex_oprag._nodes import (
    SOURCE,
    Fields,
    copy_node,
    ensure_scored,
    hide_keys,
    join_relationships,
    list_added,
    offset_fields,
    read_relationships,
    replace_node,
    text_of,
)
from llamaindex_oprag._options import set_tokenizer
from oprag import context
from oprag.agents import ToolAnswer, write_new_passages
from oprag.chunk import ChainedPlace, Chunk, Hit, Passage, Span
from oprag.context import (
    NO_NEIGHBOURS,
    CandidateTail,
    CitationNumbers,
    ContextOptions,
    OrderedContext,
    Seen,
    headers,
    result_id,
    result_metadata,
)
from oprag.documents import check_entries
from oprag.metadata import CITATION, OWN_KEYS, RESULT_KEYS, make_named_id
from oprag.result_key import is_result, read_written

_ID = attrgetter("node.node_id")
_NO_PLACES: Mapping[int, ChainedPlace] = MappingProxyType({})


class Arrange(Protocol):
    """Select, order and join retrieved nodes, for one way of reading them."""

    def __call__(
        self,
        nodes: Sequence[NodeWithScore],
        options: ContextOptions,
        *,
        neighbours: CandidateTail = NO_NEIGHBOURS,
        places: Mapping[int, ChainedPlace] = _NO_PLACES,
    ) -> OrderedContext[NodeWithScore]:
        """Return one new object per passage: a copy of its best node, with its place.

        Args:
            nodes: Best first. Neither they nor their nodes are written to.
            options: See `ContextOptions`.
            neighbours: See `oprag.context.arrange`.
            places: The places that other nodes of the index prove, by rank.

        Raises:
            OpragError: As `oprag.context.arrange` does.
        """


def arrange_nodes(
    nodes: Sequence[NodeWithScore],
    options: ContextOptions,
    *,
    neighbours: CandidateTail = NO_NEIGHBOURS,
    places: Mapping[int, ChainedPlace] = _NO_PLACES,
) -> OrderedContext[NodeWithScore]:
    """Arrange nodes that LlamaIndex sends to a model.

    The budget counts the text that LlamaIndex sends for a node: with the metadata that
    it shows to the model, and with `citations=True` with its number and place.
    """
    options = set_tokenizer(options)
    ordered = context.arrange(
        _make_placed_hits(nodes, places),
        options,
        sent_text=write_cited_text if options.citations else write_sent_text,
        neighbours=neighbours,
    )
    made = ordered.map(partial(make_node, options=options))
    if not options.citations:
        return made
    heads = headers(ordered.passages, separator=options.separator)
    return replace(made, passages=list(map(write_citation, made.passages, heads)))


def arrange_for_text(
    nodes: Sequence[NodeWithScore],
    options: ContextOptions,
    *,
    neighbours: CandidateTail = NO_NEIGHBOURS,
    places: Mapping[int, ChainedPlace] = _NO_PLACES,
) -> OrderedContext[NodeWithScore]:
    """Arrange nodes whose texts alone are sent, as `format_nodes` writes them."""
    options = set_tokenizer(options)
    hits = _make_placed_hits(nodes, places)
    ordered = context.arrange(hits, options, neighbours=neighbours)
    return ordered.map(partial(make_node, options=options))


def arrange_unseen(
    nodes: Sequence[NodeWithScore],
    options: ContextOptions,
    *,
    neighbours: CandidateTail = NO_NEIGHBOURS,
    places: Mapping[int, ChainedPlace] = _NO_PLACES,
    seen: Seen,
    numbers: CitationNumbers,
) -> ToolAnswer[NodeWithScore]:
    """Arrange what a reader has not read, as `write_new_passages` writes it.

    Args:
        nodes: See `Arrange`.
        options: See `Arrange`.
        neighbours: See `Arrange`.
        places: See `Arrange`.
        seen: The text that the reader has read already.
        numbers: Those of the conversation.
    """
    options = set_tokenizer(options)
    hits = _make_placed_hits(nodes, places)
    answer = write_new_passages(hits, options, seen, neighbours, numbers)
    return answer.map(partial(make_node, options=options))


def make_hits(nodes: Iterable[NodeWithScore | BaseNode], *others: type) -> list[Hit]:
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


def _make_placed_hits(
    nodes: Sequence[NodeWithScore], places: Mapping[int, ChainedPlace]
) -> list[Hit]:
    hits = make_hits(nodes)
    for rank, place in places.items():
        hits[rank] = hits[rank]._replace(chained=place)
    return hits


def write_sent_text(chunk: Chunk, text: str) -> str:
    """Return the text that LlamaIndex sends for a chunk, after its metadata."""
    node = _copy_to_send(chunk, text)
    return node.get_content(metadata_mode=MetadataMode.LLM)


def write_cited_text(chunk: Chunk, text: str) -> str:
    """Return the same text as it stands behind a citation."""
    return fill_behind_citation(_copy_to_send(chunk, text), text)


def _copy_to_send(chunk: Chunk, text: str) -> BaseNode:
    """Return the node for the text and metadata of a chunk, without a citation."""
    node: BaseNode = chunk.source.node
    fields: Fields = {}
    if CITATION in node.metadata:
        fields = undo_citation(node)
    if chunk.metadata is not node.metadata:  # several, joined
        fields["metadata"] = dict(chunk.metadata)
    # Keys that only we wrote are for us: a model would pay for them with its budget.
    excluded = node.excluded_llm_metadata_keys
    added = list_added(node, chunk.metadata)
    if not {*added} <= {*excluded}:
        excluded = fields.get("excluded_llm_metadata_keys", excluded)
        fields["excluded_llm_metadata_keys"] = hide_keys(excluded, added)
    if not fields and text == text_of(node):
        return node
    return copy_node(node, fields, text)


def make_node(passage: Passage, options: ContextOptions | None = None) -> NodeWithScore:
    """Make the node for a passage, whatever the passage was made of.

    Args:
        passage: A passage of nodes, documents or texts.
        options: The options that it was chosen by. None to give a result back as it
            was.
    """
    objects = [chunk.source for chunk in passage.chunks]
    if all(isinstance(each, NodeWithScore) for each in objects):
        return _copy_best_node(passage, objects, options)
    metadata = result_metadata(passage, options, whole=len(objects) == 1)
    hidden_keys = [key for key in metadata if key in OWN_KEYS or key in RESULT_KEYS]
    own_id = make_named_id(f"{passage.citation}\n{passage.text}")
    node = make_text_node(own_id, passage.text, metadata, hidden_keys)
    return NodeWithScore(node=node, score=passage.chunks[0].score)


def _copy_best_node(
    passage: Passage, nodes: Sequence[NodeWithScore], options: ContextOptions | None
) -> NodeWithScore:
    """Copy the best node of a passage, in its class, with the passage's place and text.

    A merged node has its own id, made of the ids of its parts, because retrievers drop
    nodes whose id they have seen. The reserved keys are shown neither to the model nor
    to the embedding model; a result that is given back as it was stays as it is shown.
    """
    scored = min(passage.chunks, key=attrgetter("rank")).source
    best: BaseNode = scored.node
    is_whole = len(nodes) == 1 and passage.text == text_of(best)
    fields: Fields = {}
    if options is not None and CITATION in best.metadata:
        fields = undo_citation(best)
    fields["metadata"] = result_metadata(passage, options, whole=is_whole)
    # A result that is given back as it was keeps its keys as they are shown.
    if options is not None or not is_result(best.metadata):
        excluded = best.excluded_llm_metadata_keys
        added = list_added(best, fields["metadata"])
        hidden = hide_keys(excluded, [*RESULT_KEYS, *added])
        fields["excluded_llm_metadata_keys"] = hidden
    excluded = best.excluded_embed_metadata_keys
    fields["excluded_embed_metadata_keys"] = hide_keys(excluded)
    start, end = _read_ends(passage.spans)
    fields |= offset_fields(nodes[0].node, passage.part, start, end)
    if is_whole:
        return replace_node(scored, copy_node(best, fields))
    fields["embedding"] = None
    fields["id_"] = result_id(passage, _ID, lambda each: text_of(each.node))
    fields["relationships"] = join_relationships([each.node for each in nodes])
    return replace_node(scored, copy_node(best, fields, passage.text))


def make_text_node(
    own_id: str,
    text: str,
    metadata: dict[str, Any],
    hidden_keys: Sequence[str],
    beside: Chunk | None = None,
) -> TextNode:
    """Make a node for a text, with its characters by the place in the metadata.

    Args:
        own_id: Its id.
        text: Its text.
        metadata: Its metadata, with the reserved keys of a result.
        hidden_keys: Keys that are shown to neither the model nor the embedding model.
        beside: A retrieved chunk of the same document, which knows its source.
    """
    fields: Fields = {}
    written = read_written(metadata)
    if written is not None:
        fields = offset_fields(None, written.part, *_read_ends(written.spans))
    node = TextNode(
        id_=own_id,
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=[*hidden_keys],
        excluded_embed_metadata_keys=[*hidden_keys],
        **fields,
    )
    source = None if beside is None else beside.source.node.source_node
    if source is not None:
        node.relationships[SOURCE] = source
    return node


def _read_ends(spans: Sequence[Span]) -> tuple[int | None, int | None]:
    """Return the first character and the end of spans, None if they are not known."""
    if not spans:
        return None, None
    start, end = spans[0].start, spans[-1].end
    if end <= start:
        return start, None
    return start, end
