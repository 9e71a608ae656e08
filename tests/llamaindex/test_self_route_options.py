"""The options of the engine, and those that it refuses at once."""

from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import ChatMessage, ChatResponse, MockLLM
from llama_index.llms.openai import OpenAI
from llama_index.llms.openai_like import OpenAILike

from llamaindex_oprag._llms import answer_tokens_of, name_of, read_usage, window_of
from llamaindex_oprag.self_route import SelfRouteQueryEngine
from oprag.calls import TokenUsage
from tests.kit.openai_server import ScriptedServer
from tests.llamaindex.corpus import QUESTION, index
from tests.llamaindex.self_routing import DOCUMENTS, scripted_llm


def test_the_llm_of_the_settings_is_the_default(monkeypatch):
    with ScriptedServer(["yes"]) as server:
        monkeypatch.setattr(Settings, "_llm", scripted_llm(server))
        engine = SelfRouteQueryEngine.from_args(
            index().as_retriever(), documents=DOCUMENTS
        )

        assert str(engine.query(QUESTION)) == "yes"


def test_callbacks_are_set_on_every_llm():
    manager, large = CallbackManager([]), MockLLM()
    engine = SelfRouteQueryEngine.from_args(
        index().as_retriever(),
        MockLLM(),
        documents=DOCUMENTS,
        step_llms={"full": large},
        callback_manager=manager,
    )

    assert engine.callback_manager is manager
    assert large.callback_manager is manager


def counted(read: int, written: int, **more: Any) -> dict[str, Any]:
    return {"input_tokens": read, "output_tokens": written, **more}


SPOKEN = {"prompt_tokens": 7, "completion_tokens": 2}
CACHED = SimpleNamespace(cached_tokens=4)
OBJECT = SimpleNamespace(**counted(7, 2), input_tokens_details=CACHED)
GOOGLE = {"prompt_token_count": 7, "candidates_token_count": 2}
GOOGLE |= {"thoughts_token_count": 3, "cached_content_token_count": 4}


@pytest.mark.parametrize(
    ("raw", "besides", "usage"),
    [
        (None, {}, None),
        ({"usage": None}, {}, None),
        ({"usage": dict.fromkeys(SPOKEN, 0)}, {}, None),
        ({"usage": SPOKEN}, {}, TokenUsage(7, 2)),
        (SimpleNamespace(usage=OBJECT), {}, TokenUsage(7, 2, 4)),
        (  # Anthropic: 7 fresh, 4 from the cache, 5 into it
            {
                "usage": counted(
                    7, 2, cache_read_input_tokens=4, cache_creation_input_tokens=5
                )
            },
            {},
            TokenUsage(16, 2, 4),
        ),
        # All of the prompt was in the cache.
        ({"usage": counted(0, 2, cache_read_input_tokens=4)}, {}, TokenUsage(4, 2, 4)),
        # Google: 3 tokens of reasoning besides
        ({"usage_metadata": GOOGLE}, {}, TokenUsage(7, 5, 4)),
        (None, SPOKEN, TokenUsage(7, 2)),
    ],
)
def test_tokens_are_read_as_providers_report_them(raw, besides, usage):
    message = ChatMessage("hi")
    response = ChatResponse(message=message, raw=raw, additional_kwargs=besides)
    assert read_usage(response) == usage


def like(**options: Any) -> OpenAILike:
    return OpenAILike(model="m", api_key="none", **options)


def test_the_window_that_an_llm_says_of_itself():
    assert window_of(like()) is None  # the default of its class
    assert window_of(MockLLM()) is None
    assert window_of(like(context_window=-1)) is None
    assert window_of(like(context_window=3900)) == 3900
    assert window_of(OpenAI(model="gpt-4o-mini", api_key="none")) == 128_000
    assert answer_tokens_of(like(max_tokens=700)) == 700
    assert answer_tokens_of(like()) is None
    assert (name_of(like()), name_of(MockLLM())) == ("m", None)
