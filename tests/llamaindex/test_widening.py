"""Nodes beside those that were found, through LlamaIndex."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from llamaindex_oprag import OrderPreservingRetriever, SelfRouteQueryEngine
from oprag.errors import InvalidOptionError, PositionWarning, UnfilledBudgetWarning
from tests.llamaindex.recording import RecordingLLM
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.support.tenants import SIZE, Tenants, words

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


async def test_a_budget_is_filled_with_hits_and_their_neighbours(index):
    for widen in (1, "fill"):
        retriever = OrderPreservingRetriever(
            index.as_retriever(),
            widen=widen,
            token_budget=21 * SIZE,
            token_counter=words,
            separator=" ",
        )
        nodes = await found(retriever)

        assert 18 * SIZE <= sum(words(n.node.text) for n in nodes) <= 21 * SIZE


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


async def test_a_document_of_one_node_has_no_neighbours_and_that_is_fine(recwarn):
    short = VectorStoreIndex.from_documents(
        [Document(text=f"A note, number {n}.", id_=f"note{n}") for n in range(3)],
        embed_model=ChecksumEmbedding(),
    )
    retriever = OrderPreservingRetriever(
        short.as_retriever(similarity_top_k=1), widen=1
    )

    assert len(await found(retriever)) == 1
    assert retriever.verify().chunks == 3
    assert not recwarn.list


async def test_nodes_that_tell_no_neighbours_are_warned_of_once():
    nodes = [TextNode(text="a", metadata={"source": "a", "start_index": 0})]
    bare = VectorStoreIndex(nodes, embed_model=ChecksumEmbedding())
    retriever = OrderPreservingRetriever(bare.as_retriever(), widen=1)

    with pytest.warns(PositionWarning, match="nothing beside .* doc_key") as caught:
        assert len(await found(retriever)) == 1
    assert len(caught) == 1


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


def test_filling_without_a_budget_is_refused(index):
    with pytest.raises(InvalidOptionError, match="none is given"):
        OrderPreservingRetriever(index.as_retriever(), widen="fill")


async def test_the_first_rung_ranks_neighbours_as_the_retriever_does(index):
    base = index.as_retriever()
    retriever = OrderPreservingRetriever(base, similarity_top_k=3, widen=2)
    engine = SelfRouteQueryEngine.from_args(
        retriever,
        RecordingLLM(replies=["An answer."] * 2),
        rungs=["retrieved"],
        token_counter=words,
    )

    read = engine.query("?").source_nodes

    again = (await engine.aquery("?")).source_nodes
    ranked = [
        [(n.node.text, n.metadata["oprag_rank"]) for n in nodes]
        for nodes in (read, again, retriever.retrieve("?"))
    ]
    assert ranked[0] == ranked[1] == ranked[2]
    assert len(read) > 3


async def test_the_first_rung_reads_neighbours(index):
    read = []
    for options in ({}, {"widen": 2}):
        base = index.as_retriever()
        llm = RecordingLLM(replies=["An answer."] * 2)
        engine = SelfRouteQueryEngine.from_args(
            OrderPreservingRetriever(base, **options),
            llm,
            rungs=[24 * SIZE],
            token_counter=words,
        )
        nodes = engine.query("?").source_nodes
        assert len((await engine.aquery("?")).source_nodes) == len(nodes)
        read.append(
            [(n.metadata["oprag_start"], n.metadata["oprag_end"]) for n in nodes]
        )
    gaps = [
        sum(after[0] - before[1] > 1 for before, after in pairwise(s)) for s in read
    ]
    assert gaps[1] < gaps[0]


async def test_a_budget_that_only_self_route_set_is_not_said_to_be_unfilled(
    index, recwarn
):
    base = index.as_retriever(similarity_top_k=3)
    engine = SelfRouteQueryEngine.from_args(
        OrderPreservingRetriever(base, widen=1),
        RecordingLLM(replies=["An answer."] * 2),
        rungs=[400 * SIZE],
        token_counter=words,
    )

    engine.query("?")
    await engine.aquery("?")

    assert not [w for w in recwarn if w.category is UnfilledBudgetWarning]
