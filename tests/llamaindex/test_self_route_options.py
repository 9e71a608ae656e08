"""What the engine can be told, and what it refuses at once."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import ChatMessage, ChatResponse, MockLLM

from llamaindex_oprag._metering import reported_usage
from llamaindex_oprag.self_route import SelfRouteQueryEngine
from oprag.calls import TokenUsage
from oprag.errors import InvalidOptionError, RoutingError
from oprag.routing import DeclineRules
from tests.llamaindex.corpus import QUESTION, index
from tests.llamaindex.self_routing import (
    DOCUMENTS,
    ask_engine,
    engine_over,
    scripted_llm,
)
from tests.support.openai_server import Reply, ScriptedServer, ToolCall, count_words


def make(**options: Any) -> SelfRouteQueryEngine:
    settings: dict[str, Any] = {"llm": MockLLM(), "documents": DOCUMENTS, **options}
    retriever = settings.pop("retriever", None) or index().as_retriever()
    return SelfRouteQueryEngine.from_args(retriever, **settings)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"rungs": []}, "a list of one or more"),
        ({"rungs": ["all"]}, "'all'"),
        ({"rungs": ["full", "retrieved"]}, "ascend|nothing|no more"),
        ({"documents": None}, "documents="),
        ({"documents": 7}, "documents="),
        ({"rung_llms": {"long": MockLLM()}}, "'long'"),
        ({"rung_llms": {"full": "gpt"}}, "takes an LLM"),
        ({"llm": "gpt"}, "takes an LLM"),
        ({"sentinel": ""}, "sentinel"),
        ({"max_context_tokens": 0}, "max_context_tokens"),
        ({"max_context_tokens": {"long": 9}}, "'long'"),
        ({"max_context_tokens": {"full": 0}}, "max_context_tokens"),
        ({"answer_tokens": -1}, "answer_tokens"),
        ({"answer_tokens": True}, "answer_tokens"),
        ({"max_documents": 0}, "max_documents"),
        ({"window_overflow": "drop"}, "window_overflow"),
        ({"prices": {"m": (1, 2)}}, "'m'"),
        ({"order": "rank"}, "order"),
        ({"oder": "score"}, "Did you mean 'order'"),
        ({"token_budget": 100}, "no option"),
        ({"retriever": "query"}, "retriever"),
        ({"retriever": index()}, "as_retriever"),
    ],
)
def test_what_is_not_possible_is_refused_at_construction(options, fault):
    with pytest.raises(InvalidOptionError, match=fault):
        make(**options)


def test_nothing_is_asked_or_read_at_construction():
    with ScriptedServer([]) as server:
        engine_over(server, documents=lambda _: pytest.fail("read"))

    assert server.requests == []


def test_the_llm_of_the_settings_is_the_default(monkeypatch):
    with ScriptedServer(["yes"]) as server:
        monkeypatch.setattr(Settings, "_llm", scripted_llm(server))
        engine = SelfRouteQueryEngine.from_args(
            index().as_retriever(), documents=DOCUMENTS
        )

        assert str(engine.query(QUESTION)) == "yes"


def test_callbacks_are_set_on_every_llm():
    manager, large = CallbackManager([]), MockLLM()
    engine = make(rung_llms={"full": large}, callback_manager=manager)

    assert engine.callback_manager is manager
    assert large.callback_manager is manager


def test_a_few_nodes_of_an_index_become_as_many_as_a_rung_holds():
    with ScriptedServer(["yes", "yes"]) as server:
        store = index()
        default = engine_over(
            server, retriever=store.as_retriever(), rungs=[300, "full"]
        )
        default.query(QUESTION)
        chosen = engine_over(server, k=4, rungs=[300, "full"])
        chosen.query(QUESTION)

    first, second = (request.prompt.count("Clause") for request in server.requests)
    assert first > 20
    assert second == 4


def test_an_llm_that_parses_its_output_is_refused():
    from llama_index.core.output_parsers import PydanticOutputParser

    llm = MockLLM()
    llm.output_parser = PydanticOutputParser(output_cls=ChatMessage)
    with pytest.raises(InvalidOptionError, match="output_parser"):
        make(llm=llm)


def test_a_sentinel_of_another_language():
    rules = DeclineRules(sentinels=("keine antwort",))
    with ScriptedServer(["„Keine Antwort.“", "Im Mai."]) as server:
        response = engine_over(server, decline_rules=rules).query(QUESTION)

    assert str(response) == "Im Mai."


def test_rules_that_there_are_not_are_refused():
    with pytest.raises(InvalidOptionError, match='"lenient" or None') as caught:
        make(decline_rules="strict")

    assert (caught.value.option, caught.value.value) == ("decline_rules", "strict")


def test_bare_texts_say_nothing_of_their_documents():
    engine = make()

    with pytest.raises(RoutingError, match="nodes"):
        engine._response_synthesizer.get_response("?", ["text"])


async def test_nor_do_they_when_awaited():
    with pytest.raises(RoutingError, match="nodes"):
        await make()._response_synthesizer.aget_response("?", ["text"])


@pytest.mark.parametrize("way", ["query", "aquery", "stream", "astream"])
async def test_a_model_that_calls_functions_fills_in_the_fields(way):
    replies = [
        Reply(tool_calls=[ToolCall("DeclinableAnswer", {"answerable": False})]),
        Reply(
            tool_calls=[
                ToolCall("DeclinableAnswer", {"answerable": True, "answer": "In May."})
            ]
        ),
    ]
    with ScriptedServer(replies) as server:
        llm = scripted_llm(server, is_function_calling_model=True)
        engine = engine_over(server, llm=llm, structured_output=True)
        asked = await ask_engine(engine, way)

    assert asked.answer == "In May."
    assert asked.decisions == [("retrieved", "declined"), ("full", "answered")]
    words = [count_words(request.prompt) for request in server.requests]
    assert [rung["input_tokens"] for rung in asked.usage["rungs"]] == words


def test_a_structured_prompt_need_not_name_the_sentinel():
    reply = '{"answerable": true, "answer": "yes"}'
    with ScriptedServer([reply]) as server:
        engine = engine_over(
            server, structured_output=True, rag_prompt="{context_str} {query_str}"
        )
        assert str(engine.query(QUESTION)) == "yes"

        before = engine.get_prompts()["rag_prompt"]
        assert before.output_parser is None  # LlamaIndex's programs set one


@pytest.mark.slow
def test_an_engine_is_collected_when_it_is_left():
    engine = make()
    reference = weakref.ref(engine)
    del engine
    gc.collect()

    assert reference() is None


def chat_response(raw: Any = None, **additional: Any) -> ChatResponse:
    return ChatResponse(
        message=ChatMessage("hi"), raw=raw, additional_kwargs=additional
    )


@pytest.mark.parametrize(
    ("response", "usage"),
    [
        (chat_response(), None),
        (chat_response({"usage": None}), None),
        (chat_response({"usage": {"prompt_tokens": 0, "completion_tokens": 0}}), None),
        (
            chat_response({"usage": {"prompt_tokens": 7, "completion_tokens": 2}}),
            TokenUsage(7, 2),
        ),
        (
            chat_response(
                SimpleNamespace(
                    usage=SimpleNamespace(
                        input_tokens=7,
                        output_tokens=2,
                        input_tokens_details=SimpleNamespace(cached_tokens=4),
                    )
                )
            ),
            TokenUsage(7, 2, 4),
        ),
        (  # Anthropic: 7 fresh, 4 from the cache, 5 into it
            chat_response(
                {
                    "usage": {
                        "input_tokens": 7,
                        "output_tokens": 2,
                        "cache_read_input_tokens": 4,
                        "cache_creation_input_tokens": 5,
                    }
                }
            ),
            TokenUsage(16, 2, 4),
        ),
        (  # Google: 3 tokens of reasoning besides
            chat_response(
                {
                    "usage_metadata": {
                        "prompt_token_count": 7,
                        "candidates_token_count": 2,
                        "thoughts_token_count": 3,
                        "cached_content_token_count": 4,
                    }
                }
            ),
            TokenUsage(7, 5, 4),
        ),
        (chat_response(prompt_tokens=7, completion_tokens=2), TokenUsage(7, 2)),
    ],
)
def test_tokens_are_read_as_providers_report_them(response, usage):
    assert reported_usage(response) == usage
