"""Nodes without offsets: the order of a page is what its overlaps prove."""

import random

import pytest
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from llamaindex_oprag import OrderPreservingRetriever
from oprag import place_of
from oprag.errors import PositionError
from tests.kit.pages import page_text
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding

PAGES = {str(n): page_text(n) for n in range(1, 6)}


def nodes_of(pages: dict[str, str], **more: str) -> list[TextNode]:
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    nodes = [
        TextNode(
            text=text, metadata={"file_name": "report.pdf", "page_label": label, **more}
        )
        for label, page in pages.items()
        for text in splitter.split_text(page)
    ]
    random.Random(5).shuffle(nodes)  # noqa: S311 -- an order, no secret
    return nodes


@pytest.fixture
def index() -> VectorStoreIndex:
    return VectorStoreIndex(nodes_of(PAGES), embed_model=ChecksumEmbedding())


def found_at(found: list[NodeWithScore]) -> list[tuple[str, int]]:
    labels = [each.node.metadata["page_label"] for each in found]
    return [
        (label, PAGES[label].index(each.node.get_content()))
        for label, each in zip(labels, found, strict=True)
    ]


@pytest.mark.parametrize("k", [2, 8, 15])
def test_nodes_without_offsets_are_in_order(index, k):
    retriever = OrderPreservingRetriever(index, similarity_top_k=k)
    for question in range(5):
        found = retriever.retrieve(f"question {question}")
        assert len(found) == k
        assert found_at(found) == sorted(found_at(found))
        if k > len(PAGES):
            assert {place_of(each).proof for each in found} == {"chained"}
        assert not any(place_of(each).exact for each in found)


async def test_awaited_they_are_the_same(index):
    retriever = OrderPreservingRetriever(index, similarity_top_k=8)
    awaited = found_at(await retriever.aretrieve("question"))
    assert awaited == found_at(retriever.retrieve("question"))


def test_merged_they_are_their_pages(index):
    retriever = OrderPreservingRetriever(index, similarity_top_k=50, merge=True)
    texts = [each.node.get_content() for each in retriever.retrieve("question")]
    assert texts == [*PAGES.values()]


def test_what_a_filter_hides_is_not_read(index):
    hidden = nodes_of({"1": page_text(70)}, team="b")
    index.insert_nodes(hidden)
    index.insert_nodes(nodes_of({"6": page_text(71)}, team="a"))
    where = MetadataFilters(filters=[MetadataFilter(key="team", value="a")])
    retriever = OrderPreservingRetriever(
        index.as_retriever(filters=where), similarity_top_k=50
    )
    try:
        texts = [each.node.get_content() for each in retriever.retrieve("question")]
    except PositionError as error:
        texts = [str(error)]
    assert not any(node.text in text for node in hidden for text in texts)
