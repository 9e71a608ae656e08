"""Nodes without offsets that their links put in order: of HTML, of JSON."""

import json
import random

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.node_parser import JSONNodeParser
from llama_index.core.schema import BaseNode, NodeRelationship
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from llamaindex_oprag import (
    OrderPreservingPostprocessor,
    OrderPreservingRetriever,
    diagnose,
    order_nodes,
)
from oprag import place_of
from oprag.errors import PositionError
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding

ROWS = [{"row": number, "about": f"subject {number * 7 % 40}"} for number in range(30)]


def parsed(name: str = "a.json") -> list[BaseNode]:
    document = Document(text=json.dumps(ROWS), id_=name, metadata={"file_name": name})
    return JSONNodeParser().get_nodes_from_documents([document])


def shuffled(nodes: list[BaseNode]) -> list[BaseNode]:
    return random.Random(4).sample(nodes, len(nodes))  # noqa: S311 -- an order


def index_of(nodes: list[BaseNode]) -> VectorStoreIndex:
    return VectorStoreIndex(shuffled(nodes), embed_model=ChecksumEmbedding())


def rows(found) -> list[int]:
    return [int(each.node.get_content().split()[1]) for each in found]


def test_all_nodes_of_a_document_are_in_the_order_of_their_links():
    found = order_nodes(shuffled(parsed()))

    assert rows(found) == [*range(30)]
    places = [place_of(each) for each in found]
    assert {(place.proof, place.exact, place.start) for place in places} == {
        ("chained", False, None)
    }
    assert places[7].citation == "a.json, chunk 7"


@pytest.mark.parametrize("k", [2, 5, 30])
async def test_some_of_them_are_as_the_index_links_them(k):
    retriever = OrderPreservingRetriever(index_of(parsed()), similarity_top_k=k)
    for question in ("?", "another", "a third"):
        found = retriever.retrieve(question)
        assert rows(found) == sorted(rows(found))
        assert len(found) == k
        assert rows(await retriever.aretrieve(question)) == rows(found)


def test_twice_in_order_they_are_as_once():
    found = OrderPreservingRetriever(index_of(parsed()), similarity_top_k=6)
    found = found.retrieve("?")
    again = OrderPreservingPostprocessor().postprocess_nodes(found)
    assert rows(again) == rows(found)
    places, before = [[place_of(each) for each in some] for some in (again, found)]
    assert places == before


def test_without_the_index_a_part_of_the_chain_proves_nothing():
    with pytest.raises(PositionError, match="no position"):
        order_nodes([parsed()[n] for n in (9, 3)])
    nodes = parsed()
    assert rows(order_nodes([nodes[n] for n in (2, 0, 1)])) == [0, 1, 2]


def test_behind_a_node_that_was_deleted_nothing_is_proved():
    nodes = parsed()
    index = index_of([*nodes[:10], *nodes[11:]])
    everything = OrderPreservingRetriever(index, similarity_top_k=40)
    with pytest.raises(PositionError, match="documents="):
        everything.retrieve("?")


def test_a_node_that_a_filter_hides_breaks_the_chain():
    nodes = parsed()
    for number, node in enumerate(nodes):
        node.metadata["team"] = "b" if number >= 20 else "a"
    where = MetadataFilters(filters=[MetadataFilter(key="team", value="a")])
    retriever = index_of(nodes).as_retriever(similarity_top_k=40, filters=where)
    assert rows(OrderPreservingRetriever(retriever).retrieve("?")) == [*range(20)]

    nodes[5].metadata["team"] = "b"
    retriever = index_of(nodes).as_retriever(similarity_top_k=40, filters=where)
    with pytest.raises(PositionError):
        OrderPreservingRetriever(retriever).retrieve("?")


def test_links_that_do_not_agree_prove_nothing():
    nodes = parsed()
    nodes[3].relationships[NodeRelationship.PREVIOUS] = nodes[7].as_related_node_info()
    with pytest.raises(PositionError):
        order_nodes(nodes)


def test_two_documents_of_one_name_are_two_chains():
    ids = [
        "5f1c5d1e-7d0b-4f6e-9a55-0d6a3c1f2b34",
        "a3b1c2d4-1111-4222-8333-944455566677",
    ]
    nodes = [node for each in ids for node in parsed(each)]
    for node in nodes:
        node.metadata["file_name"] = "same.json"
    assert rows(order_nodes(nodes)) == [*range(30), *range(30)]


def test_the_doctor_and_verify_read_the_links():
    index = index_of(parsed())
    assert diagnose(index).verdict == "ordered"
    assert OrderPreservingRetriever(index).verify().verdict == "ordered"
