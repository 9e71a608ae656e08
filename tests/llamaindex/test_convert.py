"""Nodes in, nodes out: what is the caller's own object, and what a copy holds."""

from typing import Any

import pytest
from llama_index.core.bridge.pydantic import ConfigDict
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    IndexNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from llamaindex_oprag import OrderPreservingPostprocessor
from llamaindex_oprag._convert import arrange_nodes, make_hits
from oprag import place_of
from oprag.context import ContextOptions
from oprag.metadata import drop_reserved_keys


def order(nodes: list[NodeWithScore], **options: Any) -> list[NodeWithScore]:
    return OrderPreservingPostprocessor(**options).postprocess_nodes(nodes)


def in_source(
    text: str, start: int, *, cls: type[TextNode] = TextNode, **fields: Any
) -> TextNode:
    """A node of document `d` as LlamaIndex's own parsers make it."""
    source = RelatedNodeInfo(node_id="d")
    relationships = fields.pop("relationships", {})
    return cls(
        text=text,
        start_char_idx=start,
        end_char_idx=start + len(text),
        relationships={NodeRelationship.SOURCE: source, **relationships},
        **fields,
    )


def with_scores(*nodes: BaseNode) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=node, score=0.9 - i / 10) for i, node in enumerate(nodes)
    ]


def test_text_of_a_merged_node_is_of_the_whole_and_the_rest_of_the_best():
    first = in_source("one ", 3, metadata={"author": "A", "token_count": 1})
    first.metadata |= {"token_counter": "words", "section_summary": "A"}
    second = in_source("two", 7, metadata={"author": "A", "section_summary": "B"})
    first.embedding = second.embedding = [1.0]

    (merged,) = order(with_scores(second, first), merge=True)

    node = merged.node
    assert (node.start_char_idx, node.end_char_idx) == (3, 10)
    assert (place_of(node).start, place_of(node).end) == (3, 10)
    assert merged.score == 0.9  # of its best-ranked part
    assert drop_reserved_keys(node.metadata) == {"author": "A", "section_summary": "B"}
    assert node.embedding is None
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert node.get_content(mode) == "author: A\nsection_summary: B\n\none two"


def test_a_budget_counts_the_metadata_that_a_merged_node_shows():
    plain = in_source("one ", 3, metadata={"note": ""})
    best = in_source("two", 7, metadata={"note": "x" * 30})
    options = ContextOptions(merge=True, token_budget=100, token_counter=len)

    made = arrange_nodes(make_hits(with_scores(best, plain)), options)

    (merged,) = made.passages
    shown = merged.node.get_content(MetadataMode.LLM)
    assert shown == f"note: {'x' * 30}\n\none two"
    assert made.why["tokens"] == len(shown)


def test_relationships_of_a_merged_node_that_still_hold_are_kept():
    def info(name):
        return RelatedNodeInfo(node_id=name)

    first = in_source("one ", 4, id_="1")
    first.relationships[NodeRelationship.PREVIOUS] = info("0")
    first.relationships[NodeRelationship.NEXT] = info("2")
    first.relationships[NodeRelationship.CHILD] = [info("child")]
    last = in_source("two", 8, id_="2")
    last.relationships[NodeRelationship.PREVIOUS] = info("1")
    last.relationships[NodeRelationship.NEXT] = info("3")

    (merged,) = order(with_scores(first, last), merge=True)

    assert merged.node.relationships == {
        NodeRelationship.SOURCE: info("d"),
        NodeRelationship.PREVIOUS: info("0"),
        NodeRelationship.NEXT: info("3"),
    }


@pytest.mark.parametrize("same", [True, False])
def test_a_parent_is_kept_when_all_share_it(same):
    nodes = [
        in_source(text, start, metadata={"char_start": start, "char_end": start + 2})
        for text, start in (("ab", 0), ("cd", 2))
    ]
    for i, node in enumerate(nodes):
        info = RelatedNodeInfo(node_id="p" if same else f"p{i}")
        node.relationships[NodeRelationship.PARENT] = info

    (merged,) = order(with_scores(*nodes), merge=True)
    assert (merged.node.parent_node is not None) == same


class Frozen(TextNode):
    model_config = ConfigDict(frozen=True)


class Clipping(TextNode):
    """An application's own class with a field of its own."""

    newspaper: str = "Times"


class Foreign(BaseNode):
    """An application's class that keeps its text under another name."""

    content: str = ""

    @classmethod
    def get_type(cls):
        return "foreign"

    def get_content(self, metadata_mode=MetadataMode.ALL):
        return self.content

    def get_content_blocks(self, metadata_mode=MetadataMode.ALL):
        return []

    def set_content(self, value):
        self.content = value

    @property
    def hash(self):
        return self.content


@pytest.mark.parametrize("cls", [TextNode, ImageNode, Frozen, Clipping])
def test_a_merged_node_is_of_the_class_of_its_parts(cls):
    nodes = with_scores(in_source("b", 1, cls=cls), in_source("a", 0, cls=cls))

    (merged,) = order(nodes, merge=True)

    assert type(merged.node) is cls
    assert merged.node.get_content() == "ab"


def test_an_index_node_keeps_what_it_stands_for():
    node = in_source("a", 0, cls=IndexNode, index_id="table")

    (ordered,) = order(with_scores(node))

    assert ordered.node.index_id == "table"


@pytest.mark.parametrize(
    ("cls", "text"),
    [
        (Node, lambda text: {"text_resource": MediaResource(text=text)}),
        (Document, lambda text: {"text": text}),
        (Foreign, lambda text: {"content": text}),
    ],
)
def test_classes_without_offsets_are_placed_by_their_metadata(cls, text):
    nodes = [
        cls(**text(word), metadata={"source": "s", "start_index": start})
        for word, start in (("two", 4), ("one ", 0))
    ]

    (merged,) = order(with_scores(*nodes), merge=True)

    assert type(merged.node) is cls
    assert merged.node.get_content(MetadataMode.NONE) == "one two"
    assert [node.get_content(MetadataMode.NONE) for node in nodes] == ["two", "one "]


def test_a_plain_document_can_be_named_by_its_id():
    nodes = with_scores(Document(text="b", id_="2"), Document(text="a", id_="1"))

    ordered = order(nodes, document_key="node_id")

    assert [each.node_id for each in ordered] == ["2", "1"]
    assert [place_of(each).document_key for each in ordered] == ["2", "1"]


def test_a_subclass_of_the_scored_node_stays_one():
    class Ranked(NodeWithScore):
        reason: str = ""

    node = Ranked(node=in_source("a", 0), score=0.5, reason="why")

    (ordered,) = order([node])
    assert (type(ordered), ordered.reason) == (Ranked, "why")
