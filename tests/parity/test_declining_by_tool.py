"""Refusals by a call of the tool, through Self-Route in both frameworks."""

from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessageChunk, message_chunk_to_message
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import RunnableLambda
from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, MockFunctionCallingLLM, MockLLM

from oprag.calls import SENTINEL
from oprag.errors import InvalidOptionError
from tests.kit.openai_server import Reply, ScriptedServer, ToolCall
from tests.langchain import routes
from tests.langchain.recording import RecordingChatModel
from tests.llamaindex import self_routing
from tests.parity.test_self_route_calls import EVERY_WAY, answering, asked

ignored = pytest.mark.filterwarnings("ignore:The model called a tool")


def call(reason: str = "", name: str = "decline") -> ToolCall:
    return ToolCall(name, {"reason": reason} if reason else {})


DECLINED = [
    Reply(blank, tool_calls=[call("It lacks it.")])
    for blank in (None, "", "\n\n", "<think>It lacks it.</think>\n")
]
"""Calls without text before them."""
ANSWERED = Reply("Not unanswerable.")
CALLED_OTHER = Reply("I will look.", tool_calls=[call(name="search")])
SAID_AND_DECLINED = Reply("It does not say when.", tool_calls=[call("No date.")])
FULL = {"step": "full", "answered": True}


@pytest.mark.slow
@ignored
@EVERY_WAY
@pytest.mark.parametrize("reply", [*DECLINED, ANSWERED, CALLED_OTHER])
async def test_replies_are_read_as_they_are_meant(framework, way, reply):
    with ScriptedServer(answering(reply, "In 1912.")) as server:
        found = await asked(framework, way, server, decline="tool")

    if reply in DECLINED:
        assert (found.answer, found.route) == ("In 1912.", FULL)
        return
    assert found.answer == reply.content
    called = {"finish": "call"} if reply is CALLED_OTHER else {}
    answered = reply is ANSWERED
    assert found.route == {"step": "retrieved", "answered": answered, **called}
    assert {each["finish"] for each in found.steps} == {called.get("finish")}


@EVERY_WAY
async def test_a_sentence_and_a_call_decline_and_what_a_stream_showed_stays(
    framework, way
):
    with ScriptedServer(answering(SAID_AND_DECLINED, "In 1912.")) as server:
        found = await asked(framework, way, server, decline="tool")

    decisions = [each["decision"] for each in found.steps]
    if way in ("stream", "astream"):
        assert found.answer == SAID_AND_DECLINED.content
        assert found.route == {"step": "retrieved", "answered": False}
        assert decisions == ["declined"]
    else:
        assert (found.answer, found.route) == ("In 1912.", FULL)
        assert decisions == ["declined", "answered"]


@EVERY_WAY
async def test_at_the_last_step_a_sentence_before_the_call_is_the_reply(framework, way):
    with ScriptedServer(answering(DECLINED[0], SAID_AND_DECLINED)) as server:
        found = await asked(framework, way, server, decline="tool")

    assert found.answer == SAID_AND_DECLINED.content
    assert found.route == {"step": "full", "answered": False}


@EVERY_WAY
async def test_the_last_step_may_decline_too(framework, way):
    with ScriptedServer([DECLINED[0], DECLINED[1]]) as server:
        found = await asked(framework, way, server, decline="tool")

    assert found.answer == SENTINEL
    assert found.route == {"step": "full", "answered": False}
    for request in server.requests:
        (tool,) = request.body["tools"]
        assert tool["function"]["name"] == "decline"
        assert "call the tool decline and write nothing" in request.prompt
        assert SENTINEL not in request.prompt


@EVERY_WAY
@pytest.mark.parametrize("decline", ["word", "tool"])
@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (Reply("In", finish_reason="length"), "length"),
        (Reply("", finish_reason="length"), "length"),
        (Reply("", finish_reason="content_filter"), "filter"),
        (Reply(""), "empty"),
        (Reply(" \n"), "empty"),
        (Reply("", tool_calls=[call(name="search")]), "call"),
        (
            Reply("So", tool_calls=CALLED_OTHER.tool_calls, finish_reason="length"),
            "call",
        ),
    ],
)
async def test_what_is_no_refusal_is_marked(framework, way, decline, reply, finish):
    with ScriptedServer([reply]) as server:
        found = await asked(framework, way, server, decline=decline)

    answered = bool((reply.content or "").strip()) and finish != "call"
    assert found.answer == reply.content
    assert found.route == {"step": "retrieved", "answered": answered, "finish": finish}
    assert found.steps[0]["finish"] == finish
    assert found.steps[0]["decision"] == ("answered" if answered else "failed")


# Recorded: what langchain-anthropic 1.7.10 and langchain-google-genai 4.4.3 make of
# their providers' replies.

WHY = {"reason": "No word of it."}
ANTHROPIC = {"type": "tool_use", "id": "toolu_1", "name": "decline", "input": WHY}
JSON = ['{"reason": "No', ' word of it."}']
PART: Any = {"name": "decline", "args": "", "id": "toolu_1", "index": 0}
MORE: list[Any] = [
    {"name": None, "args": part, "id": None, "index": 0} for part in JSON
]
GOOGLE = {"function_call": {"name": "decline", "arguments": "".join(JSON)}}
CHUNKS = {
    "anthropic": [
        AIMessageChunk([]),
        AIMessageChunk(
            [{**ANTHROPIC, "input": {}, "toolset_name": None, "index": 0}],
            tool_call_chunks=[PART],
        ),
        *(
            AIMessageChunk(
                [
                    {
                        "partial_json": more["args"],
                        "type": "input_json_delta",
                        "index": 0,
                    }
                ],
                tool_call_chunks=[more],
            )
            for more in MORE
        ),
        AIMessageChunk([], response_metadata={"stop_reason": "tool_use"}),
    ],
    "google": [
        AIMessageChunk(
            "",
            additional_kwargs=GOOGLE,
            tool_call_chunks=[{**PART, "args": "".join(JSON)}],
            response_metadata={"finish_reason": "STOP"},
        ),
        AIMessageChunk(""),
    ],
}
NODES = {
    "anthropic": [{**ANTHROPIC, "input": "{}"}],
    "google": [{"name": "decline", "args": WHY}],
}


SAID = "I see no date."
TEXT: dict[str, Any] = {"type": "text", "text": SAID, "index": 0}
BEFORE = {"anthropic": AIMessageChunk([TEXT]), "google": AIMessageChunk(SAID)}
"""A sentence that is said before the call."""


class Recorded(RecordingChatModel):
    """Declines in a provider's form, and then answers."""

    provider: str
    says: bool = False
    """Whether it says a sentence before."""

    def chunks(self, messages: Any) -> list[AIMessageChunk]:
        self.calls.append(messages)
        if len(self.calls) > 1:
            return [AIMessageChunk("In 1912.")]
        before = [BEFORE[self.provider]] if self.says else []
        return [*before, *CHUNKS[self.provider]]

    def reply(self, messages: Any) -> Any:
        first, *others = self.chunks(messages)
        return message_chunk_to_message(sum(others, first))

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        for chunk in self.chunks(messages):
            yield ChatGenerationChunk(message=chunk)


@EVERY_WAY
@pytest.mark.parametrize("provider", ["anthropic", "google"])
@pytest.mark.parametrize("says", [False, True])
async def test_the_forms_of_other_providers_decline_too(framework, way, provider, says):
    if framework == "c":
        llm = Recorded(provider=provider, says=says)
        with ScriptedServer([]) as server:
            chain = routes.chain_of(server, llm=llm, decline="tool")
        found = await routes.ask(chain, way=way)
        if says and way in ("stream", "astream"):
            assert found["answer"] == SAID
            assert found["route"] == {"step": "retrieved", "answered": False}
        else:
            assert (found["answer"], found["route"]) == ("In 1912.", FULL)
        return
    text = [TextBlock(text=SAID)] if says else []
    call_block = ToolCallBlock(tool_name="decline", tool_kwargs=WHY)
    block = ChatMessage(blocks=[*text, call_block])
    kept = ChatMessage(blocks=text, additional_kwargs={"tool_calls": NODES[provider]})
    for message in (kept, block):
        replies = iter([message, ChatMessage("In 1912.")])
        mock = MockFunctionCallingLLM(
            is_chat_model=True,
            response_generator=lambda *_, left=replies, **__: next(left),
        )
        with ScriptedServer([]) as server:
            response = await self_routing.ask(server, way, llm=mock, decline="tool")
        assert (response.answer, response.route["step"]) == ("In 1912.", "full")


# Models that cannot.


def test_a_model_without_tools_is_an_error_that_names_the_word():
    bare = FakeListChatModel(responses=["x"])
    with ScriptedServer([]) as server:
        able = routes.chat_model(server)
        for option, llm in [
            ("llm", {"llm": bare}),
            ("llm", {"llm": bare.with_retry()}),
            ("llm", {"llm": able.with_fallbacks([bare])}),
            ("llm", {"llm": able | RunnableLambda(lambda message: message.text)}),
            (r"step_llms\['full'\]", {"step_llms": {"full": bare}}),
        ]:
            with pytest.raises(InvalidOptionError, match=option) as caught:
                routes.chain_of(server, decline="tool", **llm)
            assert 'decline="word"' in str(caught.value)
        for llm in (MockLLM(), self_routing.scripted_llm(server)):
            with pytest.raises(InvalidOptionError, match='decline="word"'):
                self_routing.engine_over(server, llm=llm, decline="tool")


@pytest.mark.parametrize("way", ["invoke", "stream"])
async def test_tools_that_were_bound_before_are_not_sent(way):
    with ScriptedServer([DECLINED[0], "In 1912."]) as server:
        llm: Any = routes.chat_model(server).bind_tools(
            [{"type": "function", "function": {"name": "search", "parameters": {}}}]
        )
        chain = routes.chain_of(server, llm=llm.with_retry(), decline="tool")
        found = await routes.ask(chain, way=way)

    assert found["route"]["step"] == "full"
    tools = [request.body["tools"] for request in server.requests]
    assert [tool["function"]["name"] for (tool,) in tools] == ["decline"] * 2


def test_the_tool_counts_in_the_window():
    with ScriptedServer([Reply("In 1912.", reports_usage=False)] * 2) as server:
        first, second = (
            routes.chain_of(server, decline=decline).invoke("Q?")["usage"]
            for decline in ("word", "tool")
        )

    sent = [len(request.prompt.split()) for request in server.requests]
    apart = second["input_tokens"] - first["input_tokens"]
    assert apart > sent[1] - sent[0] + 20
