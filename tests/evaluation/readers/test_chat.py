"""A real client against a server that fails and thinks as providers do."""

import asyncio
from dataclasses import replace

import pytest
from langchain_openai import ChatOpenAI

from oprag.errors import ModelCallError
from oprag_eval.models import Call, Completion
from oprag_eval.readers.chat import ChatModel
from oprag_eval.requests import read_reply
from oprag_eval.running.limits import CappedModel, Spending
from tests.kit.openai_server import (
    CONTEXT_OVERFLOW,
    SERVER_ERROR,
    Failure,
    Reply,
    ScriptedServer,
    Usage,
)

KEY = "sk-this-is-a-secret-key"
CALL = Call("answer", "When did it open?", max_output_tokens=30)


def model(server: ScriptedServer, *, retries: int = 0) -> ChatModel:
    settings = {"base_url": server.base_url, "api_key": KEY, "model": "m"}
    return ChatModel(ChatOpenAI(**settings, max_retries=retries), "openai:m")


def ask(script, call: Call = CALL, **options) -> tuple[Completion, list]:
    with ScriptedServer(script) as server:
        completion = asyncio.run(model(server, **options).complete(call))
    return completion, server.requests


def fail(script, **options) -> tuple[ModelCallError, list]:
    with ScriptedServer(script) as server, pytest.raises(ModelCallError) as caught:
        asyncio.run(model(server, **options).complete(CALL))
    return caught.value, server.requests


@pytest.mark.slow
def test_the_reply_and_what_the_provider_reports():
    completion, (request,) = ask([Reply("In May.", usage=Usage(120, 3, 64))])

    assert completion.text == "In May."
    assert completion.usage.to_dict() == {
        "input_tokens": 120,
        "cached_tokens": 64,
        "output_tokens": 3,
        "estimated": False,
    }
    assert request.prompt == CALL.prompt
    assert request.body["max_completion_tokens"] == 30


@pytest.mark.slow
def test_what_is_not_reported_is_counted_and_said_to_be():
    completion, _ = ask([Reply("In May.", reports_usage=False)])
    declining, _ = ask([Reply("", reports_usage=False)], replace(CALL, tool=True))

    assert declining.usage.input_tokens > completion.usage.input_tokens + 20
    assert completion.usage.estimated
    assert completion.usage.input_tokens == 5  # When| did| it| open|?
    assert completion.usage.output_tokens == 3  # In| May|.


def test_what_fails_in_passing_is_for_the_client_to_ask_again():
    completion, requests = ask([SERVER_ERROR, "In May."], retries=1)

    assert completion.text == "In May."
    assert len(requests) == 2
    error, requests = fail([Failure(429, "Rate limit reached.")])
    assert len(requests) == 1
    assert error.model == "openai:m"
    assert "'openai:m' did not answer. Rate limit reached." in error.message
    assert error.__cause__ is not None


def test_a_prompt_over_the_window_is_said_to_be():
    error, _ = fail([CONTEXT_OVERFLOW])

    assert "too long for its window" in error.message


def test_an_empty_reply_is_given_as_it_is_and_declines():
    completion, requests = ask([Reply("")])

    assert (completion.text, len(requests)) == ("", 1)
    assert not read_reply(completion.text)


def test_reasoning_is_not_part_of_the_reply_and_costs_what_it_costs():
    completion, _ = ask([Reply("<think>May or June?</think>\nIn May.")])

    assert completion.text.strip() == "In May."
    assert completion.usage.output_tokens == 5


def test_a_reply_that_was_cut_within_its_reasoning_is_an_error_and_no_refusal():
    cut = Reply("<think>May or June or", finish_reason="length")

    error, _ = fail([cut])

    assert "reached its 30 tokens before its reply began" in error.message
    assert error.usage["output_tokens"] > 0


def test_a_call_that_failed_after_it_was_answered_is_paid_for():
    spending = Spending(lambda text: len(text.split()))
    cut = Reply("", finish_reason="length", usage=Usage(120, 30))
    with ScriptedServer([cut]) as server, pytest.raises(ModelCallError):
        asyncio.run(CappedModel(model(server), spending).complete(CALL))

    assert spending.tokens == 150
