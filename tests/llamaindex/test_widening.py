"""Nodes beside those that were found, through LlamaIndex."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from llamaindex_oprag import OrderPreservingRetriever
from oprag.errors import InvalidOptionError
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.support.tenants import Tenants

TENANTS = Tenants("ab" * 20)
TEXT = " ".join(f"w{number:03}." for number in range(300))


@pytest.fixture(scope="module")
def index() -> VectorStoreIndex:
    return VectorStoreIndex(TENANTS.nodes(), embed_model=ChecksumEmbedding())


@pytest.fixture(scope="module")
def theirs() -> VectorStoreIndex:
    """Nodes of LlamaIndex's own parser, with links."""
    return VectorStoreIndex.from_documents(
        [Document(text=TEXT, metadata={"source": "a"})],
        transformations=[SentenceSplitter(chunk_size=50, chunk_overlap=0)],
        embed_model=ChecksumEmbedding(),
    )


async def found(retriever: Any) -> list[Any]:
    nodes = retriever.retrieve("?")
    again = await retriever.aretrieve("?")
    assert [(n.node.text, n.metadata) for n in nodes] == [
        (n.node.text, n.metadata) for n in again
    ]
    return nodes


async def test_a_neighbour_is_sent_as_its_hit_is(index):
    nodes = await found(
        OrderPreservingRetriever(index.as_retriever(similarity_top_k=2), widen=1)
    )

    assert len(nodes) > 2
    assert len({tuple(n.node.excluded_llm_metadata_keys) for n in nodes}) == 1
    assert {n.node.get_content("llm") == n.node.text for n in nodes} == {True}
    assert len({n.node.node_id for n in nodes}) == len(nodes)
    assert {n.node.ref_doc_id is None for n in nodes} == {False}


async def test_links_tell_neighbours_where_keys_do_not(theirs):
    base = theirs.as_retriever(similarity_top_k=2)
    before = [node.to_dict() for node in base.retrieve("?")]
    for widen, least in ((1, 3), (2, 4)):
        retriever = OrderPreservingRetriever(base, widen=widen)

        nodes = await found(retriever)

        assert least <= len(nodes) <= 2 + 4 * widen
        for node in nodes:
            start, end = node.metadata["oprag_start"], node.metadata["oprag_end"]
            assert TEXT[start:end] == node.node.text
    assert [node.to_dict() for node in base.retrieve("?")] == before


async def test_links_fill_a_budget(theirs):
    retriever = OrderPreservingRetriever(
        theirs.as_retriever(similarity_top_k=1), widen="fill", token_budget=600
    )

    nodes = await found(retriever)

    assert len(nodes) > 5


def test_a_filter_that_cannot_be_applied_to_links_is_refused(theirs):
    inner = MetadataFilters(filters=[MetadataFilter(key="source", value="a")])
    nested = MetadataFilters(filters=[inner])
    with pytest.raises(InvalidOptionError, match="cannot be read through") as caught:
        OrderPreservingRetriever(theirs.as_retriever(filters=nested), widen=1)
    assert caught.value.option == "widen"
