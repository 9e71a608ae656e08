"""The scripted server, seen through the real clients it is made for."""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable
from typing import Any

import openai
import pytest
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from pydantic import SecretStr

from tests.support.openai_server import (
    Failure,
    Reply,
    Request,
    Script,
    ScriptedServer,
    ToolCall,
    Usage,
    context_overflow,
    rate_limited,
    scripted_server,
    server_error,
)

pytestmark = pytest.mark.slow

__all__ = ["scripted_server"]

QUESTION = "two words"
StartServer = Callable[[Script], ScriptedServer]


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


def test_answers_come_in_script_order_and_requests_are_recorded() -> None:
    with ScriptedServer(["first", Reply("second")]) as server:
        model = chat_openai(server)
        answers = [model.invoke("one").content, model.invoke("two").content]

    assert answers == ["first", "second"]
    assert [request.prompt for request in server.requests] == ["one", "two"]
    assert server.requests[0].headers["authorization"] == "Bearer none"
    assert server.requests[0].body["model"] == "scripted"
    assert not server.requests[0].streaming


def test_usage_is_the_word_count_of_prompt_and_reply() -> None:
    with ScriptedServer([Reply("a b c", cached_tokens=1)]) as server:
        usage = chat_openai(server).invoke(QUESTION).usage_metadata

    assert usage is not None
    assert (usage["input_tokens"], usage["output_tokens"]) == (2, 3)
    assert usage["input_token_details"]["cache_read"] == 1


def test_usage_can_be_scripted_or_withheld() -> None:
    script = [Reply("a", usage=Usage(900, 70, 512)), Reply("a", reports_usage=False)]
    with ScriptedServer(script) as server:
        model = chat_openai(server)
        scripted, withheld = model.invoke("q"), model.invoke("q")

    assert scripted.usage_metadata is not None
    assert scripted.usage_metadata["total_tokens"] == 970
    assert withheld.usage_metadata is None


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


def test_a_gate_holds_the_stream_until_the_test_opens_it() -> None:
    gate = threading.Event()
    with ScriptedServer([Reply(deltas=["early", gate, " late"])]) as server:
        stream = (chunk.content for chunk in chat_openai(server).stream("q"))
        texts = iter([text for text in [next(stream), next(stream)] if text])
        assert next(texts) == "early"
        gate.set()
        assert "".join(str(text) for text in stream) == " late"


async def test_async_stream_gives_the_same_text() -> None:
    with ScriptedServer(["one two three"]) as server:
        texts = [chunk.content async for chunk in chat_openai(server).astream("q")]

    assert [text for text in texts if text] == ["one", " two", " three"]


def test_tool_calls_reach_the_client() -> None:
    @tool
    def look_up(title: str) -> str:
        """Look a title up."""
        return title

    call = ToolCall("look_up", {"title": "Emma"})
    with ScriptedServer([Reply(tool_calls=[call]), Reply(tool_calls=[call])]) as server:
        model = chat_openai(server).bind_tools([look_up])
        whole = model.invoke("q")
        streamed: Any = functools.reduce(operator.add, model.stream("q"))

    assert whole.tool_calls[0]["args"] == {"title": "Emma"}
    assert streamed.tool_calls[0]["args"] == {"title": "Emma"}


def test_reasoning_is_sent_apart_from_the_text() -> None:
    with ScriptedServer([Reply("yes", reasoning="let me think")] * 2) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="none")
        messages: Any = [{"role": "user", "content": "q"}]
        whole = client.chat.completions.create(model="m", messages=messages)
        stream = client.chat.completions.create(
            model="m", messages=messages, stream=True
        )
        deltas = [chunk.choices[0].delta.model_dump() for chunk in stream]
        client.close()

    message = whole.choices[0].message.model_dump()
    assert message["reasoning_content"] == "let me think"
    assert message["content"] == "yes"
    thoughts = [delta.get("reasoning_content") for delta in deltas]
    assert [thought for thought in thoughts if thought] == ["let", " me", " think"]
    assert whole.usage is not None
    assert whole.usage.completion_tokens_details is not None
    assert whole.usage.completion_tokens_details.reasoning_tokens == 3


def test_null_content_is_sent_as_null() -> None:
    with ScriptedServer([Reply(None)]) as server:
        response = openai_like(server).chat([ChatMessage(content="q")])

    assert response.message.content is None


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (rate_limited(), openai.RateLimitError),
        (server_error(), openai.InternalServerError),
        (Failure(403, "not allowed"), openai.PermissionDeniedError),
    ],
)
def test_failures_raise_the_clients_errors(
    failure: Failure, error: type[Exception]
) -> None:
    with ScriptedServer([failure]) as server, pytest.raises(error):
        chat_openai(server).invoke("q")


def test_context_overflow_has_openais_error_code() -> None:
    with (
        ScriptedServer([context_overflow(10, 12)]) as server,
        pytest.raises(openai.BadRequestError) as caught,
    ):
        chat_openai(server).invoke("q")

    assert caught.value.code == "context_length_exceeded"
    assert "10 tokens" in str(caught.value)


@pytest.mark.slow
def test_a_client_that_retries_gets_the_next_answer() -> None:
    with ScriptedServer([rate_limited(0.001), server_error(), "fine"]) as server:
        model = chat_openai(server, max_retries=2)
        assert model.invoke("q").content == "fine"

    assert len(server.requests) == 3


def test_a_delayed_reply_is_a_timeout() -> None:
    with (
        ScriptedServer([Reply("late", delay=5.0)]) as server,
        pytest.raises(openai.APITimeoutError),
    ):
        chat_openai(server, timeout=0.1).invoke("q")


def test_a_broken_stream_fails_after_its_deltas() -> None:
    texts: list[Any] = []
    with (
        ScriptedServer([Reply(deltas=["half"], broken=True)]) as server,
        pytest.raises(Exception, match="incomplete chunked read"),
    ):
        texts.extend(chunk.content for chunk in chat_openai(server).stream("q"))

    assert "".join(texts) == "half"


def test_a_broken_whole_reply_fails() -> None:
    with (
        ScriptedServer([Reply("never whole", broken=True)]) as server,
        pytest.raises(openai.APIConnectionError),
    ):
        chat_openai(server).invoke("q")


def test_a_function_answers_concurrent_requests_by_their_content() -> None:
    def echo(request: Request) -> str:
        return f"re: {request.prompt}"

    with ScriptedServer(echo) as server:
        replies = chat_openai(server).batch(["a", "b", "c", "d"])

    assert [reply.content for reply in replies] == ["re: a", "re: b", "re: c", "re: d"]
    assert sorted(request.prompt for request in server.requests) == ["a", "b", "c", "d"]


def test_a_request_past_the_script_is_not_retried_and_fails_the_test() -> None:
    server = ScriptedServer([]).__enter__()
    with pytest.raises(openai.BadRequestError, match="no answer to request 1"):
        chat_openai(server, max_retries=2).invoke("q")
    with pytest.raises(AssertionError, match="no answer to request 1"):
        server.__exit__(None, None, None)

    assert len(server.requests) == 1


def test_one_string_is_no_script() -> None:
    with pytest.raises(TypeError, match="list of answers"):
        ScriptedServer("text")


def test_fixture_starts_several_servers(scripted_server: StartServer) -> None:
    cheap, large = scripted_server(["cheap"]), scripted_server(["large"])

    assert chat_openai(cheap).invoke("q").content == "cheap"
    assert chat_openai(large).invoke("q").content == "large"


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


async def test_llamaindex_achat() -> None:
    with ScriptedServer(["async reply"]) as server:
        response = await openai_like(server).achat([ChatMessage(content="q")])

    assert response.message.content == "async reply"


def test_texts_with_words_in_common_are_embedded_alike_and_need_no_script() -> None:
    with ScriptedServer([]) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="none")
        texts: list[str] = ["the rent is late", "rent that is late", "a red roof"]
        made = client.embeddings.create(model="m", input=texts, encoding_format="float")
        alone = client.embeddings.create(model="m", input=[1, 2, 3])
        listed = client.models.list()
        client.close()

    late, rent, roof = (one.embedding for one in made.data)
    likeness = [sum(map(operator.mul, late, other)) for other in (rent, roof)]
    assert likeness[0] > 0.5
    assert likeness[1] < 0.1
    assert len(alone.data) == 1
    assert [model.id for model in listed.data] == ["scripted"]
    assert server.requests == []
