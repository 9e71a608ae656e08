"""LlamaIndex's nodes as the core's hits, put in order, and passages as nodes again.

The only place that builds nodes for passages. `oprag.context` selects the nodes to
keep, and decides their order and their passages. No given node is written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
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
from oprag.chunk import Chunk, Hit, Passage, Span
from oprag.context import (
    NO_NEIGHBOURS,
    CandidateTail,
    CitationNumbers,
    ContextOptions,
    OrderedContext,
    Seen,
    result_id,
    result_metadata,
)
from oprag.documents import check_entries
from oprag.metadata import CITATION, OWN_KEYS, RESULT_KEYS, make_named_id
from oprag.result_key import is_result, read_written

_NODE_ID = attrgetter("node.node_id")


class Arrange(Protocol):
    """Select, order and join hits of nodes, for one way of reading the nodes.

    `arrange_nodes` and `arrange_for_text` do; `arrange_unseen` does for one reader.
    """

    def __call__(
        self,
        hits: Sequence[Hit],
        options: ContextOptions,
        neighbours: CandidateTail = NO_NEIGHBOURS,
    ) -> OrderedContext[NodeWithScore]:
        """Return one new object per passage: a copy of its best node, with its place.

        Args:
            hits: From `make_hits`, best first.
            options: See `ContextOptions`.
            neighbours: See `oprag.context.arrange`.

        Raises:
            OpragError: As `oprag.context.arrange` does.
        """


def arrange_nodes(
    hits: Sequence[Hit],
    options: ContextOptions,
    neighbours: CandidateTail = NO_NEIGHBOURS,
) -> OrderedContext[NodeWithScore]:
    """Arrange nodes that LlamaIndex sends to a model.

    The budget counts the text that LlamaIndex sends for a node: with the metadata that
    it shows to the model, and with `citations=True` with its number and place.
    """
    options = set_tokenizer(options)
    ordered = context.arrange(
        hits,
        options,
        sent_text=write_cited_text if options.citations else write_sent_text,
        neighbours=neighbours,
    )
    arranged = ordered.map(partial(make_node, options=options))
    if not options.citations:
        return arranged
    headers = context.headers(ordered.passages, separator=options.separator)
    cited = list(map(write_citation, arranged.passages, headers))
    return replace(arranged, passages=cited)


def arrange_for_text(
    hits: Sequence[Hit],
    options: ContextOptions,
    neighbours: CandidateTail = NO_NEIGHBOURS,
) -> OrderedContext[NodeWithScore]:
    """Arrange nodes whose texts alone are sent, as `format_nodes` writes them."""
    options = set_tokenizer(options)
    ordered = context.arrange(hits, options, neighbours=neighbours)
    return ordered.map(partial(make_node, options=options))


def arrange_unseen(
    hits: Sequence[Hit],
    options: ContextOptions,
    neighbours: CandidateTail = NO_NEIGHBOURS,
    *,
    seen: Seen,
    numbers: CitationNumbers,
) -> ToolAnswer[NodeWithScore]:
    """Arrange nodes that a reader has not read, as `write_new_passages` writes them.

    Args:
        hits: See `Arrange`.
        options: See `Arrange`.
        neighbours: See `Arrange`.
        seen: The text that the reader has read already.
        numbers: Those of the conversation.
    """
    options = set_tokenizer(options)
    answer = write_new_passages(hits, options, seen, neighbours, numbers)
    return answer.map(partial(make_node, options=options))


def make_hits(
    nodes: Iterable[NodeWithScore | BaseNode], *other_classes: type
) -> list[Hit]:
    """Make hits of nodes, best first.

    Args:
        nodes: A list of nodes with scores.
        other_classes: Further classes that a node of the list may have.

    Raises:
        InvalidOptionError: It is no such list.
    """
    classes = (NodeWithScore, *other_classes)
    is_list = isinstance(nodes, (list, tuple))
    if not is_list or not all(isinstance(node, classes) for node in nodes):
        check_entries("nodes", nodes, *classes)  # raises, and says which is none
    return [_make_hit(node) for node in nodes]


def _make_hit(node_or_scored: NodeWithScore | BaseNode) -> Hit:
    scored = ensure_scored(node_or_scored)
    node = scored.node
    offsets = None
    if hasattr(node, "start_char_idx"):  # not on Document and Node
        offsets = (node.start_char_idx, getattr(node, "end_char_idx", None))
    relationships = read_relationships(node)
    return Hit(
        text=text_of(node),
        metadata=node.metadata,
        source=scored,
        subject=node,
        score=scored.score,
        document=relationships.document,
        offsets=offsets,
        frame=relationships.frame,
        id=node.node_id,
        links=relationships.links,
    )


def write_sent_text(chunk: Chunk, text: str) -> str:
    """Return the text that LlamaIndex sends for a chunk, after its metadata."""
    node = _copy_to_send(chunk, text)
    return node.get_content(metadata_mode=MetadataMode.LLM)


def write_cited_text(chunk: Chunk, text: str) -> str:
    """Return the text that LlamaIndex sends for a chunk behind a citation."""
    return fill_behind_citation(_copy_to_send(chunk, text), text)


def _copy_to_send(chunk: Chunk, text: str) -> BaseNode:
    """Return the node for the text and metadata of a chunk, without a citation."""
    node: BaseNode = chunk.source.node
    fields: Fields = {}
    if CITATION in node.metadata:
        fields = undo_citation(node)
    if chunk.metadata is not node.metadata:  # that of several chunks, joined
        fields["metadata"] = dict(chunk.metadata)
    # Keys that oprag added are hidden: a model would pay for them with its budget.
    added = list_added(node, chunk.metadata)
    hidden = node.excluded_llm_metadata_keys
    if not set(added).issubset(hidden):
        hidden = fields.get("excluded_llm_metadata_keys", hidden)
        fields["excluded_llm_metadata_keys"] = hide_keys(hidden, added)
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
    sources = [chunk.source for chunk in passage.chunks]
    if all(isinstance(source, NodeWithScore) for source in sources):
        return _copy_best_node(passage, options)
    metadata = result_metadata(passage, options, whole=len(sources) == 1)
    hidden_keys = [key for key in metadata if key in OWN_KEYS or key in RESULT_KEYS]
    own_id = make_named_id(f"{passage.citation}\n{passage.text}")
    node = make_text_node(own_id, passage.text, metadata, hidden_keys)
    return NodeWithScore(node=node, score=passage.chunks[0].score)


def _copy_best_node(passage: Passage, options: ContextOptions | None) -> NodeWithScore:
    """Copy the best node of a passage, in its class, with the passage's place and text.

    A joined node has its own id, made of the ids of its parts, because retrievers drop
    nodes whose id they have seen. The reserved keys are shown neither to the model nor
    to the embedding model; a result that is given back as it was stays as it is shown.
    """
    nodes: list[BaseNode] = [chunk.source.node for chunk in passage.chunks]
    scored: NodeWithScore = min(passage.chunks, key=attrgetter("rank")).source
    best = scored.node
    is_whole = len(nodes) == 1 and passage.text == text_of(best)
    fields: Fields = {}
    if options is not None and CITATION in best.metadata:
        fields = undo_citation(best)
    metadata = result_metadata(passage, options, whole=is_whole)
    fields["metadata"] = metadata
    is_given_back = options is None and is_result(best.metadata)
    if not is_given_back:
        own_keys = [*RESULT_KEYS, *list_added(best, metadata)]
        hidden = hide_keys(best.excluded_llm_metadata_keys, own_keys)
        fields["excluded_llm_metadata_keys"] = hidden
    hidden = hide_keys(best.excluded_embed_metadata_keys)
    fields["excluded_embed_metadata_keys"] = hidden
    fields |= offset_fields(nodes[0], passage.part, _read_extent(passage.spans))
    if is_whole:
        return replace_node(scored, copy_node(best, fields))
    fields["embedding"] = None
    fields["id_"] = result_id(passage, _NODE_ID, lambda source: text_of(source.node))
    fields["relationships"] = join_relationships(nodes)
    return replace_node(scored, copy_node(best, fields, passage.text))


def make_text_node(
    own_id: str,
    text: str,
    metadata: dict[str, Any],
    hidden_keys: Sequence[str],
    retrieved: Chunk | None = None,
) -> TextNode:
    """Make a node for a text, with its characters by the place in the metadata.

    Args:
        own_id: Its id.
        text: Its text.
        metadata: Its metadata, with the reserved keys of a result.
        hidden_keys: Keys that are shown to neither the model nor the embedding model.
        retrieved: A chunk of the same document, whose node names its source; None for a
            node without a source.
    """
    fields: Fields = {}
    written = read_written(metadata)
    if written is not None:
        fields = offset_fields(None, written.part, _read_extent(written.spans))
    node = TextNode(
        id_=own_id,
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=[*hidden_keys],
        excluded_embed_metadata_keys=[*hidden_keys],
        **fields,
    )
    source = None if retrieved is None else retrieved.source.node.source_node
    if source is not None:
        node.relationships[SOURCE] = source
    return node


def _read_extent(spans: Sequence[Span]) -> Span | None:
    """Return the characters from the first span to the last; None if not known."""
    if not spans or spans[-1].end <= spans[0].start:
        return None
    return Span(spans[0].start, spans[-1].end)
