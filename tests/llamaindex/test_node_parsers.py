"""Node parsers: exact offsets, documents of several parts, the places they fit."""

import pickle
import random

import pytest
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.ingestion.pipeline import get_transformation_hash
from llama_index.core.node_parser import MarkdownNodeParser, NodeParser
from llama_index.core.schema import BaseNode, ImageDocument, MetadataMode, NodeWithScore

from llamaindex_oprag import (
    OffsetSentenceNodeParser,
    OffsetTokenNodeParser,
    OrderPreservingPostprocessor,
)
from oprag.errors import InvalidOptionError, PositionError
from oprag.metadata import OWN_KEYS
from tests.kit.handed_out import ids_and_texts
from tests.kit.words import words
from tests.llamaindex.corpus import document, numbers

PARSERS = [
    OffsetTokenNodeParser(chunk_size=16),
    OffsetSentenceNodeParser(chunk_size=24),
]
MARKDOWN = "\n\n".join(
    f"{'#' * (1 + number % 3)} Head {number}\n\nText §{number}§ " + "and more " * number
    for number in range(12)
)


@pytest.fixture(params=PARSERS, ids=lambda parser: parser.class_name())
def parser(request) -> NodeParser:
    return request.param


def in_document_order(nodes: list[BaseNode]) -> list[BaseNode]:
    shuffled = [NodeWithScore(node=node) for node in nodes]
    random.Random(0).shuffle(shuffled)  # noqa: S311 -- a test's shuffle
    ordered = OrderPreservingPostprocessor().postprocess_nodes(shuffled)
    return [node.node for node in ordered]


def test_no_model_is_shown_our_keys(parser):
    source = document(title="A title", secret="x")
    source.excluded_llm_metadata_keys = ["secret"]

    (node, *_) = parser.get_nodes_from_documents([source])

    assert (
        node.get_content(MetadataMode.LLM) == f"title: A title\n\n{node.text}".strip()
    )
    embedded = node.get_content(MetadataMode.EMBED)
    assert embedded == f"title: A title\nsecret: x\n\n{node.text}".strip()
    assert source.excluded_llm_metadata_keys == ["secret"]


def test_the_documents_metadata_can_be_left_out():
    parser = OffsetTokenNodeParser(include_metadata=False)

    (node, *_) = parser.get_nodes_from_documents([document(title="A title")])

    assert set(node.metadata) <= set(OWN_KEYS)


def test_templates_and_classes_are_the_documents(parser):
    source = document(title="A title")
    source.text_template = "<{metadata_str}> {content}"
    (node, *_) = parser.get_nodes_from_documents([source])
    assert node.get_content(MetadataMode.LLM).startswith("<title: A title> ")

    image = ImageDocument(text="A caption.", image=b"00")
    (node,) = parser.get_nodes_from_documents([image])
    assert (node.class_name(), node.image) == ("ImageNode", "MDA=")


def test_relationships_are_source_and_neighbours_in_the_document(parser):
    nodes = parser.get_nodes_from_documents([document("a"), document("b")])

    for name in "ab":
        own = [node for node in nodes if node.ref_doc_id == name]
        ids = [node.node_id for node in own]
        assert [n.prev_node and n.prev_node.node_id for n in own] == [None, *ids[:-1]]
        assert [n.next_node and n.next_node.node_id for n in own] == [*ids[1:], None]


def test_sections_of_another_parser_keep_their_order(parser):
    """A second parser: LlamaIndex's own is wrong for nearly every node."""
    pipeline = IngestionPipeline(transformations=[MarkdownNodeParser(), parser])

    nodes = pipeline.run(documents=[document("a", MARKDOWN), document("b", MARKDOWN)])

    for name in "ab":
        own = [node for node in nodes if node.ref_doc_id == name]
        assert ids_and_texts(in_document_order(own)) == ids_and_texts(own)
        assert numbers("".join(node.text for node in own)) == list(range(12))
    assert len({node.node_id for node in nodes}) == len(nodes)
    # Where a section begins in the document is not known: nothing is claimed.
    assert {node.start_char_idx for node in nodes} == {None}
    scored = [NodeWithScore(node=node) for node in nodes]
    merged = OrderPreservingPostprocessor(merge=True).postprocess_nodes(scored)
    assert {node.node.start_char_idx for node in merged} == {None}
    assert len(merged) == 24  # sections are not joined


def test_a_section_without_the_others_is_an_error(parser):
    sections = MarkdownNodeParser().get_nodes_from_documents([document("a", MARKDOWN)])

    with pytest.raises(PositionError, match="together"):
        parser.get_nodes_from_documents([sections[3]])


def test_ingesting_twice_uses_the_cache_and_another_tokenizer_does_not():
    source = [document()]
    hashes = {
        get_transformation_hash(source, OffsetTokenNodeParser(tokenizer=tokenizer))
        for tokenizer in (None, "approximate", words, len)
    }
    assert len(hashes) == 4

    pipeline = IngestionPipeline(transformations=[OffsetTokenNodeParser()])
    first = pipeline.run(documents=source)
    assert pipeline.run(documents=source) == first


def test_an_id_function_does_not_come_back_unseen():
    parser = OffsetTokenNodeParser(id_func=lambda i, _: str(i))

    with pytest.raises(InvalidOptionError):
        OffsetTokenNodeParser.from_dict(parser.to_dict())


def test_a_pickle_that_would_lose_an_option_is_refused():
    parser = OffsetSentenceNodeParser(sentence_spans=lambda _: [])
    with pytest.raises(pickle.PicklingError, match="sentence_spans"):
        pickle.dumps(parser)
