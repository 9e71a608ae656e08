"""Chunks first, documents when the model declines: the same in all four ways."""

import pytest
from llama_index.core.schema import QueryBundle

from tests.kit.openai_server import ScriptedServer
from tests.kit.words import words
from tests.llamaindex.corpus import QUESTION, TEXT, document, index
from tests.llamaindex.self_routing import REFUSAL, WAYS, ask, engine_over, scripted_llm

pytestmark = pytest.mark.slow
every_way = pytest.mark.parametrize("way", WAYS)


@every_way
async def test_metadata_that_the_model_may_see_are_sent(way):
    store = index(document(author="Ada"))
    with ScriptedServer(["yes"]) as server:
        await ask(server, way, retriever=store.as_retriever(similarity_top_k=1))

    assert "author: Ada\n\nClause" in server.requests[0].prompt


@every_way
async def test_source_nodes_of_the_documents_are_what_was_read(way):
    store = index(document(author="Ada"))
    with ScriptedServer([REFUSAL, "yes"]) as server:
        asked = await ask(server, way, retriever=store.as_retriever(similarity_top_k=3))

    (node,) = asked.nodes
    assert node.node.get_content() == TEXT
    assert (node.node.start_char_idx, node.node.end_char_idx) == (0, len(TEXT))
    assert node.node.ref_doc_id == "lease.txt"
    assert node.node.metadata["author"] == "Ada"
    assert "chunk_index" not in node.node.metadata


@every_way
async def test_a_bundle_is_retrieved_by_its_own_strings(way):
    bundle = QueryBundle("What is due?", custom_embedding_strs=["heating"])
    with ScriptedServer(["yes"]) as server:
        asked = await ask(server, way, bundle, k=5)

    assert all("heating" in node.get_content() for node in asked.nodes)
    assert "Question: What is due?" in server.requests[0].prompt


@every_way
async def test_the_llm_says_its_window_and_its_longest_answer(way):
    with ScriptedServer([REFUSAL, "yes"]) as server:
        limits = {"context_window": 300, "max_tokens": 20}
        llm = scripted_llm(server, streaming=way.endswith("stream"), **limits)
        await ask(server, way, llm=llm)

    assert 200 < words(server.requests[1].prompt) <= 280


def test_metadata_and_nodes_are_known_when_the_answer_begins_and_complete_at_its_end():
    with ScriptedServer([REFUSAL, "In May."]) as server:
        response = engine_over(server, streaming=True).query(QUESTION)
        metadata, nodes = response.metadata, response.source_nodes

        assert "route" not in metadata
        assert [step["step"] for step in metadata["usage"]["steps"]] == ["retrieved"]
        assert nodes[0].get_content() == TEXT
        list(response.response_gen)

    assert metadata["route"] == {"step": "full", "answered": True}
    assert metadata["usage"]["model_calls"] == 2


async def test_an_awaited_stream_names_what_was_retrieved_until_it_is_read():
    with ScriptedServer([REFUSAL, "In May."]) as server:
        response = await engine_over(server, streaming=True).aquery(QUESTION)
        nodes = response.source_nodes
        assert len(server.requests) == 0
        assert [len(node.get_content()) < len(TEXT) for node in nodes] == [True] * 3
        assert await response._async_str() == "In May."

    assert [node.get_content() for node in nodes] == [TEXT]
    assert response.metadata["route"] == {"step": "full", "answered": True}
