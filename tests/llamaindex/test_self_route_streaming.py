"""Streams: right from the first character, and complete at the end."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    StreamingResponse,
)

from tests.kit.openai_server import ScriptedServer
from tests.llamaindex.corpus import QUESTION, TEXT
from tests.llamaindex.self_routing import REFUSAL, engine_over


def stream(server: ScriptedServer, **options: Any) -> StreamingResponse:
    response = engine_over(server, streaming=True, **options).query(QUESTION)
    assert isinstance(response, StreamingResponse)
    return response


async def astream(server: ScriptedServer, **options: Any) -> AsyncStreamingResponse:
    response = await engine_over(server, streaming=True, **options).aquery(QUESTION)
    assert isinstance(response, AsyncStreamingResponse)
    return response


def test_metadata_and_nodes_are_known_when_the_answer_begins_and_complete_at_its_end():
    with ScriptedServer([REFUSAL, "In May."]) as server:
        response = stream(server)
        metadata, nodes = response.metadata, response.source_nodes

        assert metadata is not None
        assert "route" not in metadata
        assert [rung["rung"] for rung in metadata["usage"]["rungs"]] == ["retrieved"]
        assert nodes[0].get_content() == TEXT
        list(response.response_gen)

    assert metadata["route"] == {"rung": "full", "answered": True}
    assert metadata["usage"]["model_calls"] == 2


async def test_an_awaited_stream_names_what_was_retrieved_until_it_is_read():
    with ScriptedServer([REFUSAL, "In May."]) as server:
        response = await astream(server)
        nodes = response.source_nodes
        assert len(server.requests) == 0
        assert [len(node.get_content()) < len(TEXT) for node in nodes] == [True] * 3
        assert await response._async_str() == "In May."

    assert [node.get_content() for node in nodes] == [TEXT]
    assert response.metadata is not None
    assert response.metadata["route"] == {"rung": "full", "answered": True}
