"""What a chat model's client may do: be slow, talk long, count its tokens."""

from __future__ import annotations

import pytest
from langchain_openai import ChatOpenAI

from oprag.cli.chat_models import load_chat_model, stream_answer
from oprag.errors import ModelCallError
from tests.kit.openai_server import Failure, Reply, ScriptedServer, Usage


def client(server: ScriptedServer, **options) -> ChatOpenAI:
    return ChatOpenAI(
        **{"base_url": server.base_url, "api_key": "none", "model": "m", **options},
        max_retries=0,
        stream_usage=True,
    )


def test_pieces_are_handed_on_and_add_up_to_the_answer():
    pieces: list[str] = []
    with ScriptedServer([Reply(deltas=["a", "b ", "c"], usage=Usage(7, 3))]) as server:
        answer = stream_answer(client(server), "openai:m", "?", pieces.append)

    assert pieces == ["a", "b ", "c"]
    assert answer.text == "ab c"
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (7, 3)
    assert not answer.usage.estimated
    assert not answer.cut


def test_a_server_that_is_too_slow_is_told():
    with (
        ScriptedServer([Reply("late", delay=5)]) as server,
        pytest.raises(ModelCallError, match=r"did not answer.*Check that") as told,
    ):
        stream_answer(client(server, timeout=0.1), "openai:m", "?", print)

    assert told.value.model == "openai:m"
    assert told.value.__cause__ is not None


def test_what_a_client_says_is_one_short_line():
    with (
        ScriptedServer([Failure(400, "no\n" * 500)]) as server,
        pytest.raises(ModelCallError) as told,
    ):
        stream_answer(client(server), "openai:m", "?", print)

    assert "\n" not in told.value.message
    assert len(told.value.message) < 300


def test_openai_is_asked_to_report_its_tokens(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    loaded = load_chat_model("openai:gpt-4o-mini")

    assert isinstance(loaded, ChatOpenAI)
    assert loaded.stream_usage is True
