"""A synthesizer from outside reads the first rung, if it can decline."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.prompts import PromptTemplate
from llama_index.core.response_synthesizers import (
    BaseSynthesizer,
    ResponseMode,
    get_response_synthesizer,
)

from oprag.errors import InvalidOptionError, RungFailedError
from tests.llamaindex.corpus import TEXT, index, numbers
from tests.llamaindex.self_routing import (
    DOCUMENTS,
    REFUSAL,
    WAYS,
    ask,
    ask_engine,
    engine_over,
    scripted_llm,
)
from tests.support.openai_server import Failure, ScriptedServer, count_words

every_way = pytest.mark.parametrize("way", WAYS)
QA = PromptTemplate("OURS\n{context_str}\nOr unanswerable.\n{query_str}")
REFINE = PromptTemplate(
    "{existing_answer}\n{context_msg}\nOr unanswerable.\n{query_str}"
)
MODES = {
    ResponseMode.COMPACT: {"text_qa_template": QA, "refine_template": REFINE},
    ResponseMode.REFINE: {"text_qa_template": QA, "refine_template": REFINE},
    ResponseMode.TREE_SUMMARIZE: {"summary_template": QA},
    ResponseMode.COMPACT_ACCUMULATE: {"text_qa_template": QA},
}


def synthesizer(
    server: ScriptedServer, mode: ResponseMode = ResponseMode.COMPACT, **options: Any
) -> BaseSynthesizer:
    llm = scripted_llm(server, streaming=options.get("streaming", False))
    settings: dict[str, Any] = {**MODES.get(mode, {}), **options}
    return get_response_synthesizer(llm=llm, response_mode=mode, **settings)


@every_way
class TestFirstRung:
    @pytest.mark.parametrize("mode", MODES)
    async def test_reads_through_it_in_one_call(self, way, mode):
        """Not more where its LLM says 3,900 tokens of every model."""
        with ScriptedServer(["It is 12."]) as server:
            outside = synthesizer(server, mode)
            asked = await ask(server, way, k=6, response_synthesizer=outside)

        assert "12" in asked.answer
        assert asked.route == {"rung": "retrieved", "answered": True}
        (request,) = server.requests
        assert request.prompt.startswith("OURS\nClause")
        assert len(numbers(request.prompt)) == 6
        assert numbers(request.prompt) == sorted(numbers(request.prompt))

    async def test_declines_and_the_documents_are_read_by_the_llm(self, way):
        with ScriptedServer([REFUSAL]) as cheap, ScriptedServer(["In May."]) as large:
            outside = synthesizer(cheap)
            asked = await ask(large, way, response_synthesizer=outside)

        assert asked.answer == "In May."
        assert large.requests[0].prompt.startswith("Read the text")
        assert TEXT in large.requests[0].prompt
        assert asked.decisions == [("retrieved", "declined"), ("full", "answered")]

    async def test_is_in_the_ledger_as_the_server_reported(self, way):
        with ScriptedServer([REFUSAL, "In May."]) as server:
            outside = synthesizer(server, streaming=way.endswith("stream"))
            asked = await ask(server, way, response_synthesizer=outside)

        words = [count_words(request.prompt) for request in server.requests]
        assert [rung["input_tokens"] for rung in asked.usage["rungs"]] == words
        assert asked.usage["estimated"] is False
        assert asked.usage["model_calls"] == 2

    async def test_a_long_context_stays_in_one_piece(self, way):
        with ScriptedServer(["yes"]) as server:
            outside = synthesizer(server)
            outside._llm.context_window = 700  # type: ignore[attr-defined]  # an OpenAILike
            await ask(server, way, k=40, response_synthesizer=outside)

        assert len(server.requests) == 1
        assert numbers(server.requests[0].prompt) == list(range(40))

    async def test_fits_the_window_of_its_llm(self, way):
        with ScriptedServer(["yes"]) as server:
            llm = scripted_llm(server, context_window=150, max_tokens=20)
            outside = get_response_synthesizer(
                llm=llm, text_qa_template=QA, refine_template=REFINE
            )
            await ask(server, way, k=40, response_synthesizer=outside)

        assert count_words(server.requests[0].prompt) <= 130

    async def test_an_empty_reply_declines(self, way):
        with ScriptedServer(["", "In May."]) as server:
            asked = await ask(server, way, response_synthesizer=synthesizer(server))

        assert asked.decisions == [("retrieved", "declined"), ("full", "answered")]

    async def test_a_failure_is_one_of_the_rung(self, way):
        with (
            ScriptedServer([Failure(403, "not allowed")]) as server,
            pytest.raises(RungFailedError, match="'retrieved'"),
        ):
            await ask(server, way, response_synthesizer=synthesizer(server))


@every_way
async def test_the_rungs_between_are_read_by_the_llm(way):
    with ScriptedServer([REFUSAL, REFUSAL, "yes"]) as server:
        await ask(
            server,
            way,
            k=12,
            rungs=[60, 120, "full"],
            response_synthesizer=synthesizer(server),
        )

    beginnings = [request.prompt.split()[0] for request in server.requests]
    assert beginnings == ["OURS", "Read", "Read"]


def test_its_llm_reads_the_rest_where_no_other_is_given():
    from llamaindex_oprag import SelfRouteQueryEngine

    with ScriptedServer([REFUSAL, "In May."]) as server:
        engine = SelfRouteQueryEngine.from_args(
            index().as_retriever(),
            response_synthesizer=synthesizer(server),
            documents=DOCUMENTS,
        )
        assert str(engine.query("When?")) == "In May."


def test_it_is_not_written_to():
    with ScriptedServer(["yes"] * 2) as server:
        outside = synthesizer(server)
        before = dict(vars(outside))
        engine = engine_over(server, response_synthesizer=outside)
        engine.query("?")
        engine.streaming = True
        str(engine.query("?"))

        assert vars(outside) == before


async def test_its_prompts_are_seen_and_replaced_through_the_engine():
    own = PromptTemplate("NEW {context_str} unanswerable {query_str}")
    with ScriptedServer(["yes"]) as server:
        engine = engine_over(server, response_synthesizer=synthesizer(server))
        assert "response_synthesizer:text_qa_template" in engine.get_prompts()
        engine.update_prompts({"response_synthesizer:text_qa_template": own})
        await ask_engine(engine, "query")

        assert server.requests[0].prompt.startswith("NEW Clause")
        mute = PromptTemplate("{context_str} {query_str}")
        engine.update_prompts({"response_synthesizer:text_qa_template": mute})
        with pytest.raises(InvalidOptionError, match="text_qa_template"):
            engine.query("?")


@pytest.mark.parametrize(
    ("mode", "options", "fault"),
    [
        (ResponseMode.COMPACT, {"text_qa_template": None}, "text_qa_template"),
        (ResponseMode.COMPACT, {"refine_template": None}, "refine_template"),
        (ResponseMode.TREE_SUMMARIZE, {"summary_template": None}, "summary_template"),
        (ResponseMode.SIMPLE_SUMMARIZE, {"text_qa_template": QA}, "Python list"),
        (ResponseMode.GENERATION, {}, "none of the prompts"),
    ],
)
def test_one_that_cannot_decline_is_refused(mode, options, fault):
    with ScriptedServer([]) as server:
        outside = synthesizer(server, mode, **options)
        with pytest.raises(InvalidOptionError, match=fault):
            engine_over(server, response_synthesizer=outside)


def test_one_that_filters_by_a_field_can_decline():
    with ScriptedServer([]) as server:
        outside = synthesizer(
            server,
            structured_answer_filtering=True,
            text_qa_template=None,
            refine_template=None,
        )
        engine_over(server, response_synthesizer=outside)


def test_there_is_no_rung_for_it():
    with ScriptedServer([]) as server, pytest.raises(InvalidOptionError, match="rung"):
        engine_over(server, rungs=["full"], response_synthesizer=synthesizer(server))


def test_something_else_is_refused():
    with ScriptedServer([]) as server, pytest.raises(InvalidOptionError, match="str"):
        engine_over(server, response_synthesizer="compact")
