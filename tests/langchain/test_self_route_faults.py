"""What goes wrong is said, with what was spent; it never looks like an answer."""

import asyncio

import openai
import pytest
from langchain_core.runnables import RunnableLambda

from oprag.errors import ContextWindowError, DocumentNotFoundError, ModelCallError
from tests.langchain.routes import QUESTION, REFUSAL, WAYS, ask, chain_of, chat_model
from tests.support.openai_server import (
    Reply,
    context_overflow,
    rate_limited,
    scripted_server,
    server_error,
)

pytestmark = pytest.mark.slow

__all__ = ["scripted_server"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_failure_of_the_last_rung_carries_what_came_before(
    scripted_server, way
):
    server = scripted_server([REFUSAL, server_error()])

    with pytest.raises(ModelCallError, match="refusing at 'retrieved'") as caught:
        await ask(chain_of(server), way=way)

    error = caught.value
    assert error.call == "full"
    assert isinstance(error.__cause__, openai.InternalServerError)
    declined, failed = error.usage["rungs"]
    assert (declined["decision"], failed["decision"]) == ("declined", "failed")
    assert declined["input_tokens"] == len(server.requests[0].prompt.split())
    assert len(server.requests) == 2


@pytest.mark.parametrize("way", WAYS)
async def test_the_client_retries_as_it_was_told(scripted_server, way):
    server = scripted_server(
        [rate_limited(0.001), REFUSAL, server_error(503), "In 1912."]
    )

    result = await ask(chain_of(server, llm=chat_model(server, max_retries=2)), way=way)

    assert result["answer"] == "In 1912."
    assert len(server.requests) == 4
    assert result["usage"]["model_calls"] == 2


async def test_a_model_wrapped_in_retries_is_retried(scripted_server):
    server = scripted_server([server_error(), "In 1912."])
    model = chat_model(server).with_retry(
        retry_if_exception_type=(openai.InternalServerError,),
        wait_exponential_jitter=False,
    )

    result = await ask(chain_of(server, llm=model))

    assert result["answer"] == "In 1912."
    assert result["usage"]["rungs"][0]["model"] == "cheap"


@pytest.mark.parametrize("way", ["invoke", "astream"])
@pytest.mark.parametrize("before", [[], [REFUSAL]])
async def test_a_timeout_fails_the_rung(scripted_server, way, before):
    server = scripted_server([*before, Reply("too late", delay=5.0)])
    chain = chain_of(server, llm=chat_model(server, timeout=0.3))

    with pytest.raises(ModelCallError) as caught:
        await ask(chain, way=way)

    assert isinstance(caught.value.__cause__, openai.APITimeoutError)
    assert len(caught.value.usage["rungs"]) == len(before) + 1


@pytest.mark.parametrize("way", ["stream", "astream"])
@pytest.mark.parametrize(
    "script",
    [
        [Reply(deltas=["In", " M"], unfinished=True)],
        [Reply(deltas=["Unanswer"], unfinished=True)],
        [Reply(unfinished=True)],
        [REFUSAL, Reply(deltas=["In", " M"], unfinished=True)],
    ],
)
async def test_a_stream_that_is_closed_without_a_reason_fails_the_rung(
    scripted_server, way, script
):
    server = scripted_server(script)

    with pytest.raises(ModelCallError, match="broken off") as caught:
        await ask(chain_of(server), way=way)

    assert isinstance(caught.value.__cause__, ConnectionError)
    assert caught.value.usage["rungs"][-1]["decision"] == "failed"
    assert len(server.requests) == len(script)


async def streamed(chain, *, awaited):
    if awaited:
        async for piece in chain.astream(QUESTION):
            yield piece
    else:
        for piece in chain.stream(QUESTION):
            yield piece


@pytest.mark.parametrize("awaited", [False, True])
async def test_a_stream_that_breaks_off_is_an_error_after_what_was_shown(
    scripted_server, awaited
):
    server = scripted_server([Reply(deltas=["It was. It is.", " Built"], broken=True)])
    pieces = streamed(chain_of(server), awaited=awaited)

    answer = ""
    while answer != "It was. It is. Built":
        answer += (await anext(pieces)).get("answer", "")

    with pytest.raises(ModelCallError):
        await anext(pieces)


@pytest.mark.parametrize("way", WAYS)
async def test_an_overflow_of_an_unknown_window_names_the_option(scripted_server, way):
    server = scripted_server([REFUSAL, context_overflow(100, 200)])

    with pytest.raises(ContextWindowError, match="max_context_tokens=") as caught:
        await ask(chain_of(server), way=way)

    assert caught.value.window is None
    failed = caught.value.__cause__
    assert isinstance(failed, ModelCallError)
    assert failed.usage["rungs"][0]["decision"] == "declined"
    assert isinstance(failed.__cause__, openai.BadRequestError)


@pytest.mark.parametrize("way", WAYS)
async def test_a_document_that_is_missing_is_named(scripted_server, way):
    server = scripted_server([REFUSAL])

    with pytest.raises(DocumentNotFoundError, match=r"'book\.txt'"):
        await ask(chain_of(server, documents={"a": "1", "b": "2"}), way=way)

    assert len(server.requests) == 1


async def test_an_error_of_the_retriever_is_its_own(scripted_server):
    server = scripted_server([])

    def fail(query):
        message = "the store is gone"
        raise ConnectionError(message)

    with pytest.raises(ConnectionError, match="the store is gone"):
        await ask(chain_of(server, retriever=RunnableLambda(fail)))


async def test_a_question_that_takes_too_long_can_be_cancelled(scripted_server):
    server = scripted_server([REFUSAL, Reply("too late", delay=5.0)])

    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(chain_of(server).ainvoke(QUESTION), 0.5)

    assert len(server.requests) == 2
