"""`OrderPreservingRetriever`: how much it fetches, and what it passes through."""

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle, TextNode

from llamaindex_oprag import OrderPreservingRetriever
from oprag.errors import InvalidOptionError
from tests.llamaindex.components import Retrieved
from tests.llamaindex.corpus import QUESTION, index, numbers_of


async def test_async_awaits_the_retriever_underneath(hits):
    base = Retrieved(hits)

    nodes = await OrderPreservingRetriever(base).aretrieve(QUESTION)

    assert (base.sync_calls, base.async_calls) == (0, 1)
    assert numbers_of(nodes) == sorted(numbers_of(hits))


def test_it_can_be_assigned_and_read(lease):
    base = lease.as_retriever(similarity_top_k=5)
    retriever = OrderPreservingRetriever(base)
    assert retriever.similarity_top_k == 5

    retriever.similarity_top_k = 3

    assert retriever.similarity_top_k == 3
    assert base.similarity_top_k == 5
    assert len(retriever.retrieve(QUESTION)) == 3
    with pytest.raises(InvalidOptionError):
        retriever.similarity_top_k = 0


@pytest.mark.parametrize("option", [{"widen": 1}, {"bm25": True}, {"documents": {}}])
def test_an_option_that_is_assigned_does_what_it_does_when_given(lease, option):
    base = lease.as_retriever(similarity_top_k=3)
    ((name, value),) = option.items()
    retriever = OrderPreservingRetriever(base)
    given = OrderPreservingRetriever(base, **option) if value else None

    setattr(retriever, name, value)

    assert getattr(retriever, name) is not None
    if given is not None:
        found = retriever.retrieve(QUESTION)
        assert [each.text for each in found] == [
            each.text for each in given.retrieve(QUESTION)
        ]
    with pytest.raises(InvalidOptionError):
        setattr(retriever, name, 0.5)


async def test_a_query_is_embedded_once_when_awaited():
    lease = index()
    retriever = OrderPreservingRetriever(
        lease.as_retriever(), token_budget=50_000, selection="recall"
    )
    query = QueryBundle(QUESTION)

    found = await retriever.aretrieve(query)

    assert lease._embed_model.calls == [QUESTION]
    assert query.embedding is None
    assert found == retriever.retrieve(QUESTION)


async def test_our_own_map_of_index_nodes_is_used_too():
    rows = {
        name: TextNode(
            text=f"row {name}", metadata={"doc_id": "d", "start_index": start}
        )
        for name, start in (("x", 50), ("y", 0))
    }
    found = [
        NodeWithScore(node=IndexNode(text=name, index_id=name), score=0.5)
        for name in "xy"
    ]
    retriever = OrderPreservingRetriever(Retrieved(found), object_map=rows)

    nodes = retriever.retrieve(QUESTION)

    assert [node.text for node in nodes] == ["row y", "row x"]
    assert await retriever.aretrieve(QUESTION) == nodes


def test_prompts_are_those_of_the_base(lease, llm):
    fusion = QueryFusionRetriever([lease.as_retriever()], llm=llm)
    retriever = OrderPreservingRetriever(fusion)

    assert set(retriever.get_prompts()) == {"base_retriever:query_gen_prompt"}
    template = PromptTemplate("Another way to ask: {query}")
    retriever.update_prompts({"base_retriever:query_gen_prompt": template})

    assert fusion.query_gen_prompt == "Another way to ask: {query}"
