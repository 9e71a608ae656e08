"""The scripted server, seen through the real clients it is made for."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from langchain_openai import ChatOpenAI
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from pydantic import SecretStr

from tests.kit.openai_server import Reply, ScriptedServer, scripted_server

pytestmark = pytest.mark.slow

__all__ = ["scripted_server"]

QUESTION = "two words"


def chat_openai(server: ScriptedServer, **options: Any) -> ChatOpenAI:
    settings = {"stream_usage": True, "max_retries": 0, **options}
    return ChatOpenAI(
        base_url=server.base_url,
        api_key=SecretStr("none"),
        model="scripted",
        **settings,
    )


def openai_like(server: ScriptedServer, **options: Any) -> OpenAILike:
    settings = {"max_retries": 0, **options}
    return OpenAILike(
        model="scripted",
        api_base=server.base_url,
        api_key="none",
        is_chat_model=True,
        **settings,
    )


def test_usage_is_the_word_count_of_prompt_and_reply() -> None:
    with ScriptedServer([Reply("a b c", cached_tokens=1)]) as server:
        usage = chat_openai(server).invoke(QUESTION).usage_metadata

    assert usage is not None
    assert (usage["input_tokens"], usage["output_tokens"]) == (2, 3)
    assert usage["input_token_details"]["cache_read"] == 1


def test_stream_gives_the_deltas_as_scripted_and_then_usage() -> None:
    with ScriptedServer([Reply(deltas=["un", 0.001, "answer", "able"])]) as server:
        chunks = list(chat_openai(server).stream(QUESTION))

    assert [chunk.content for chunk in chunks if chunk.content] == [
        "un",
        "answer",
        "able",
    ]
    usages = [chunk.usage_metadata for chunk in chunks if chunk.usage_metadata]
    assert [(usage["input_tokens"], usage["output_tokens"]) for usage in usages] == [
        (2, 1)
    ]
    assert server.requests[0].streaming


def test_a_broken_stream_fails_after_its_deltas() -> None:
    texts: list[Any] = []
    with (
        ScriptedServer([Reply(deltas=["half"], broken=True)]) as server,
        pytest.raises(Exception, match="incomplete chunked read"),
    ):
        texts.extend(chunk.content for chunk in chat_openai(server).stream("q"))

    assert "".join(texts) == "half"


def test_a_request_past_the_script_is_not_retried_and_fails_the_test() -> None:
    server = ScriptedServer([]).__enter__()
    with pytest.raises(openai.BadRequestError, match="no answer to request 1"):
        chat_openai(server, max_retries=2).invoke("q")
    with pytest.raises(AssertionError, match="no answer to request 1"):
        server.__exit__(None, None, None)

    assert len(server.requests) == 1


def test_llamaindex_chat_and_stream_chat() -> None:
    with ScriptedServer(["whole reply", "cut into parts"]) as server:
        llm = openai_like(
            server, additional_kwargs={"stream_options": {"include_usage": True}}
        )
        whole = openai_like(server).chat([ChatMessage(content=QUESTION)])
        parts = list(llm.stream_chat([ChatMessage(content=QUESTION)]))

    assert whole.message.content == "whole reply"
    assert whole.raw is not None
    assert whole.raw.usage.prompt_tokens == 2
    assert [part.delta for part in parts if part.delta] == ["cut", " into", " parts"]
    assert parts[-1].raw is not None
    assert parts[-1].raw.usage.completion_tokens == 3
