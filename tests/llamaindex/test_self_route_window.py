"""No request is longer than the window; the answer has room."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.llms import CustomLLM, LLMMetadata, MockLLM
from llama_index.llms.openai import OpenAI
from llama_index.llms.openai_like import OpenAILike

from llamaindex_oprag._llms import answer_tokens_of, name_of, window_of
from oprag.errors import ContextWindowError
from tests.llamaindex.corpus import CLAUSES, QUESTION, TEXT, index, numbers
from tests.llamaindex.self_routing import REFUSAL, WAYS, ask, scripted_llm
from tests.support.openai_server import ScriptedServer, count_words

pytestmark = pytest.mark.slow

every_way = pytest.mark.parametrize("way", WAYS)
PROMPT = 86
"""Words of the built-in prompt with the question, without a context."""


def like(**options: Any) -> OpenAILike:
    return OpenAILike(model="m", api_key="none", **options)


class TestWhatAnLLMSays:
    def test_a_class_default_is_no_window(self):
        assert window_of(like()) is None
        assert window_of(MockLLM()) is None

    def test_what_the_user_wrote_is(self):
        assert window_of(like(context_window=3900)) == 3900
        assert window_of(like(context_window=64_000)) == 64_000

    def test_what_is_known_of_a_model_is(self):
        assert window_of(OpenAI(model="gpt-4o-mini", api_key="none")) == 128_000

    def test_nonsense_is_not(self):
        assert window_of(like(context_window=-1)) is None

    def test_room_for_the_answer(self):
        assert answer_tokens_of(like(max_tokens=700)) == 700
        assert answer_tokens_of(like()) is None
        assert answer_tokens_of(MockLLM()) is None

    def test_name(self):
        assert name_of(like()) == "m"
        assert name_of(MockLLM()) is None


@every_way
class TestUnknownWindow:
    async def test_the_whole_document_is_sent_and_the_usage_says_so(self, way):
        with ScriptedServer([REFUSAL, "yes"]) as server:
            asked = await ask(server, way)

        assert TEXT in server.requests[1].prompt
        assert [rung["note"] for rung in asked.usage["rungs"]] == [
            None,
            "window unknown",
        ]


@every_way
class TestKnownWindow:
    @pytest.mark.parametrize("window", [200, 300, 450])
    async def test_the_largest_selection_that_fits_is_read_in_order(self, way, window):
        with ScriptedServer([REFUSAL, "yes"]) as server:
            asked = await ask(server, way, max_context_tokens=window, answer_tokens=10)

        first, second = server.requests
        for request in server.requests:
            assert count_words(request.prompt) <= window - 10
        read = numbers(second.prompt)
        assert read == sorted(read)
        assert set(numbers(first.prompt)) <= set(read)
        # Nothing that would still have fitted is left out: a piece is 16 words.
        assert count_words(second.prompt) > window - 10 - 8 - 2 * 16
        assert "order_preserving" in asked.usage["rungs"][1]["note"]

    async def test_a_document_that_fits_is_sent_whole(self, way):
        with ScriptedServer([REFUSAL, "yes"]) as server:
            asked = await ask(server, way, max_context_tokens=2000)

        assert TEXT in server.requests[1].prompt
        assert asked.usage["rungs"][1]["note"] is None

    async def test_the_middle_can_be_cut_out(self, way):
        with ScriptedServer([REFUSAL, "yes"]) as server:
            asked = await ask(
                server,
                way,
                max_context_tokens=300,
                answer_tokens=10,
                window_overflow="truncate_middle",
            )

        prompt = server.requests[1].prompt
        read = numbers(prompt)
        assert count_words(prompt) <= 290
        assert read[0] == 0
        assert read[-1] == CLAUSES - 1
        spans = [(n.node.start_char_idx, n.node.end_char_idx) for n in asked.nodes]
        assert [TEXT[a:b] for a, b in spans] == [n.get_content() for n in asked.nodes]

    async def test_or_it_is_an_error(self, way):
        with (
            ScriptedServer([REFUSAL]) as server,
            pytest.raises(ContextWindowError, match="window_overflow") as error,
        ):
            await ask(server, way, max_context_tokens=300, window_overflow="error")

        assert error.value.window == 300

    async def test_a_window_without_room_is_an_error(self, way):
        with ScriptedServer([]) as server, pytest.raises(ContextWindowError):
            await ask(server, way, max_context_tokens=PROMPT)

    async def test_chunks_are_cut_to_it_too_the_worst_first(self, way):
        best = numbers(
            index().as_retriever(similarity_top_k=1).retrieve(QUESTION)[0].get_content()
        )
        with ScriptedServer(["yes"]) as server:
            asked = await ask(
                server, way, k=20, max_context_tokens=130, answer_tokens=10
            )

        (request,) = server.requests
        assert count_words(request.prompt) <= 120
        assert set(best) <= set(numbers(request.prompt))
        assert 0 < len(numbers(request.prompt)) < 20
        assert asked.usage["rungs"][0]["note"] == "cut to the window"

    async def test_the_llm_says_its_own(self, way):
        with ScriptedServer([REFUSAL, "yes"]) as server:
            llm = scripted_llm(
                server,
                streaming=way.endswith("stream"),
                context_window=300,
                max_tokens=20,
            )
            await ask(server, way, llm=llm)

        assert 200 < count_words(server.requests[1].prompt) <= 280

    async def test_each_rung_may_have_its_own(self, way):
        with ScriptedServer([REFUSAL, "yes"]) as server:
            await ask(server, way, k=20, max_context_tokens={"retrieved": 150})

        first, second = server.requests
        assert count_words(first.prompt) < 150
        assert TEXT in second.prompt


def test_a_class_of_ones_own_is_believed():
    class Own(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(context_window=32_000, num_output=50, model_name="own")

        def complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any: ...

        def stream_complete(
            self, prompt: str, formatted: bool = False, **_: Any
        ) -> Any: ...

    assert window_of(Own()) == 32_000
    assert answer_tokens_of(Own()) == 50
    assert name_of(Own()) == "own"
