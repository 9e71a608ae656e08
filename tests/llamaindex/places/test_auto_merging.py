"""`AutoMergingRetriever`: what it brings is a mixture of leaves and parents."""

from llama_index.core.node_parser import HierarchicalNodeParser
from llama_index.core.retrievers import AutoMergingRetriever

from llamaindex_oprag import OrderPreservingRetriever, PositionAnnotator
from tests.llamaindex.corpus import QUESTION, TEXT, document, numbers_of
from tests.llamaindex.places.ingredients import hierarchy, ingredients
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import build


def test_leaves_and_parents_come_in_one_order():
    names = ingredients(oprag=True)
    (place,) = [p for p in places_of("retrievers") if p.id == "around-auto-merging"]

    nodes = [found.node for found in build(place.how, names).retrieve(QUESTION)]

    starts = [node.metadata["char_start"] for node in nodes]
    assert starts == sorted(starts)
    assert {bool(node.child_nodes) for node in nodes} == {True, False}


def test_a_leaf_beside_a_parent_that_holds_it_is_sent_once_when_merging():
    documents = [document()]
    parser = HierarchicalNodeParser.from_defaults(
        chunk_sizes=[300, 100, 50], chunk_overlap=0
    )
    nodes = parser.get_nodes_from_documents(documents)
    leaves, storage = hierarchy(PositionAnnotator(documents)(nodes), 10)
    merging = AutoMergingRetriever(leaves, storage)

    plain = numbers_of(merging.retrieve(QUESTION))
    ordered = OrderPreservingRetriever(
        merging, merge=True, documents={"lease.txt": TEXT}
    )
    passages = ordered.retrieve(QUESTION)

    assert len(plain) > len(set(plain))
    assert numbers_of(passages) == sorted(set(plain))
    assert all(
        found.text == TEXT[found.metadata["oprag_start"] : found.metadata["oprag_end"]]
        for found in passages
    )
