"""The Self-Route examples with the real clients, against a scripted server."""

from __future__ import annotations

import pytest
from langchain_openai import ChatOpenAI
from llama_index.llms.openai_like import OpenAILike

from tests.examples import load_example
from tests.kit.openai_server import ScriptedServer


def _chat_openai(server):
    return ChatOpenAI(
        model="scripted",
        base_url=server.base_url,
        api_key="none",
        max_retries=0,
        stream_usage=True,
    )


def _openai_like(server):
    return OpenAILike(
        model="scripted",
        api_base=server.base_url,
        api_key="none",
        max_retries=0,
        is_chat_model=True,
        additional_kwargs={"stream_options": {"include_usage": True}},
    )


CLIENTS = {"langchain_self_route": _chat_openai, "llamaindex_self_route": _openai_like}


@pytest.mark.parametrize("name", CLIENTS)
def test_the_whole_contract_is_sent_only_after_the_model_declined(name, capsys):
    example, contract = load_example(name), load_example("contract")
    with ScriptedServer(example.REPLIES) as server:
        usage = example.ask(CLIENTS[name](server))

    first, second = (request.prompt for request in server.requests)
    shown = contract.clause_numbers(first)
    assert 1 < len(shown) < len(contract.CLAUSES)
    assert shown == sorted(shown)
    assert contract.CONTRACT in second
    printed = capsys.readouterr().out
    assert example.REPLIES[1] in printed
    assert "Unanswerable" not in printed
    decisions = [(rung["rung"], rung["decision"]) for rung in usage["rungs"]]
    assert decisions == [("retrieved", "declined"), ("full", "answered")]


@pytest.mark.parametrize("name", CLIENTS)
def test_an_answer_from_the_chunks_takes_one_call(name):
    example = load_example(name)
    with ScriptedServer(example.REPLIES[1:]) as server:
        usage = example.ask(CLIENTS[name](server))

    assert len(server.requests) == 1
    assert not usage["estimated"]
