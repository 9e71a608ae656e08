"""Where LlamaIndex applications put a query engine, and what they do to it there."""

from typing import Any

import pytest
from llama_index.core.callbacks import (
    CallbackManager,
    CBEventType,
    LlamaDebugHandler,
    TokenCountingHandler,
)
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import ChatPromptTemplate, PromptTemplate
from llama_index.core.tools import QueryEngineTool

from oprag.errors import InvalidOptionError
from tests.kit.openai_server import Reply, ScriptedServer
from tests.kit.words import words
from tests.llamaindex.corpus import QUESTION, TEXT, index, numbers, numbers_of
from tests.llamaindex.self_routing import (
    REFUSAL,
    WAYS,
    ask,
    ask_engine,
    engine_over,
    scripted_llm,
)

pytestmark = pytest.mark.slow

every_way = pytest.mark.parametrize("way", WAYS)


class KeepTwo(BaseNodePostprocessor):
    """Keeps the best two nodes, as a reranker would."""

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
        return nodes[:2]


@every_way
async def test_postprocessors_appended_later_are_honoured(way):
    with ScriptedServer(["yes"]) as server:
        engine = engine_over(server, k=6, streaming=way.endswith("stream"))
        engine._node_postprocessors.append(KeepTwo())
        asked = await ask_engine(engine, way)

    best = numbers_of(index().as_retriever(similarity_top_k=6).retrieve(QUESTION))
    assert numbers(server.requests[0].prompt) == numbers_of(asked.nodes)
    assert numbers_of(asked.nodes) == sorted(best[:2])


@pytest.mark.parametrize("streaming", [False, True])
def test_a_chat_asks_and_streams_through_one_engine(streaming):
    script = [REFUSAL, "In May.", "Who pays then?", "The tenant.", "And who?", "She."]
    with ScriptedServer(script) as server:
        engine = engine_over(server, streaming=streaming)
        llm = scripted_llm(server)
        chat = CondenseQuestionChatEngine.from_defaults(engine, llm=llm)
        chat.chat("When?")
        assert list(chat.stream_chat("And who?").response_gen)
        chat.chat("Really?")

    answers = [message.content for message in chat.chat_history][1::2]
    assert answers == ["In May.", "The tenant.", "She."]
    assert "Question: Who pays then?" in server.requests[3].prompt
    assert [r.streaming for r in server.requests] == [n == 3 for n in range(6)]
    assert engine._response_synthesizer._streaming == streaming


@pytest.mark.parametrize("streaming", [False, True])
async def test_as_an_awaited_tool_asked_again_and_again(streaming):
    answer = Reply(deltas=["In ", "May", "."])
    with ScriptedServer([REFUSAL, answer] * 3) as server:
        tool = QueryEngineTool.from_defaults(
            engine_over(server, streaming=streaming), name="lease", description="…"
        )
        called = [await tool.acall(input="When?") for _ in range(3)]

    assert [output.content for output in called] == ["In May."] * 3
    assert len(server.requests) == 6


@every_way
async def test_old_handlers_see_the_query_the_retrieval_and_the_synthesis(way):
    debug = LlamaDebugHandler(print_trace_on_end=False)
    counter = TokenCountingHandler(tokenizer=str.split)
    manager = CallbackManager([debug, counter])
    retriever = index().as_retriever(similarity_top_k=3)
    retriever.callback_manager = manager
    with ScriptedServer([REFUSAL, "In May."]) as server:
        await ask(server, way, callback_manager=manager, retriever=retriever)

    for kind, times in (
        (CBEventType.QUERY, 1),
        (CBEventType.RETRIEVE, 1),
        (CBEventType.SYNTHESIZE, 1),
        (CBEventType.LLM, 2),
    ):
        assert len(debug.get_event_pairs(kind)) == times, kind
    assert counter.prompt_llm_token_count == sum(
        words(request.prompt) for request in server.requests
    )


OWN = "Say unanswerable or answer.\n{context_str}\n{query_str}"


@every_way
async def test_prompts_can_be_shown_replaced_and_put_back(way):
    with ScriptedServer([REFUSAL, "In May."] * 2) as server:
        engine = engine_over(server, streaming=way.endswith("stream"))
        shown = engine.get_prompts()
        engine.update_prompts({"retrieved": PromptTemplate(OWN)})
        await ask_engine(engine, way)
        engine.update_prompts(shown)
        engine.update_prompts(
            {n: PromptTemplate(p.get_template()) for n, p in shown.items()}
        )
        await ask_engine(engine, way)

    assert sorted(shown) == ["full", "retrieved"]
    first, second, third, _ = (request.prompt for request in server.requests)
    assert first.startswith("Say unanswerable or answer.\nClause")
    assert second.startswith("Read the text")
    assert third.startswith("Read the text")


def test_prompts_are_replaced_all_or_none_and_of_one_engine():
    own = {"full": PromptTemplate(OWN)}
    with ScriptedServer([]) as server:
        engine = engine_over(server)
        before = engine.get_prompts()
        with pytest.raises(InvalidOptionError):
            engine.update_prompts(own | {"retrieved": PromptTemplate("No question.")})
        engine.with_retriever(engine.retriever).update_prompts(own)

    assert engine.get_prompts() == before


@every_way
async def test_chat_prompts_and_plain_texts_are_taken(way):
    chat = ChatPromptTemplate.from_messages(
        [("system", "Else say unanswerable. {context_str}"), ("user", "{query_str}")]
    )
    own = "{context} Unless it is UNANSWERABLE: {question}"
    with ScriptedServer([REFUSAL, "In May."] * 2) as server:
        await ask(server, way, prompts={"retrieved": chat, "full": own})
        await ask(server, way, prompts=own)

    first, second, third, _ = server.requests
    assert [m["role"] for m in first.messages] == ["system", "user"]
    named = f"Document: lease.txt\n\n{TEXT}"
    assert second.prompt == own.format(context=named, question=QUESTION)
    assert " Unless it is UNANSWERABLE: " in third.prompt
