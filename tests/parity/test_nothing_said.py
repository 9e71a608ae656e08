"""Replies in which nothing is said, in every form of them, are no answers."""

from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from llama_index.core.llms import ChatMessage, ChatResponse, MockFunctionCallingLLM

from tests.kit.openai_server import ScriptedServer
from tests.langchain import routes
from tests.langchain.recording import RecordingChatModel
from tests.llamaindex import self_routing
from tests.parity.test_self_route_calls import EVERY_WAY

PIECES = {"no piece": [], "an empty piece": [""], "blanks": [" ", "\n"]}


class Silent(RecordingChatModel):
    """Says nothing."""

    pieces: list[str]

    def reply(self, messages: Any) -> Any:
        self.calls.append(messages)
        return AIMessageChunk("".join(self.pieces))

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        self.calls.append(messages)
        for piece in self.pieces:
            yield ChatGenerationChunk(message=AIMessageChunk(piece))


class SilentLLM(MockFunctionCallingLLM):
    """Says nothing."""

    pieces: list[str]

    def _reply(self, text: str, delta: str | None = None) -> ChatResponse:
        message = ChatMessage(content=text, role="assistant")
        return ChatResponse(message=message, delta=delta)

    def chat(self, messages: Any, **_: Any) -> Any:
        return self._reply("".join(self.pieces))

    async def achat(self, messages: Any, **_: Any) -> Any:
        return self._reply("".join(self.pieces))

    def stream_chat(self, messages: Any, **_: Any) -> Any:
        return iter([self._reply(piece, piece) for piece in self.pieces])

    async def astream_chat(self, messages: Any, **_: Any) -> Any:
        async def pieces():
            for piece in self.pieces:
                yield self._reply(piece, piece)

        return pieces()


@EVERY_WAY
@pytest.mark.parametrize("decline", ["word", "tool", bool])
@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
async def test_it_is_final_marked_and_no_answer(framework, way, decline, pieces):
    if decline is bool and any(pieces):
        pytest.skip("the function declares all text a refusal")
    with ScriptedServer([]) as server:
        if framework == "c":
            chain = routes.chain_of(server, llm=Silent(pieces=pieces), decline=decline)
            found = await routes.ask(chain, way=way)
            answer, route, usage = found["answer"], found["route"], found["usage"]
        else:
            llm = SilentLLM(is_chat_model=True, pieces=pieces)
            asked = await self_routing.ask(server, way, llm=llm, decline=decline)
            answer, route, usage = asked.answer or "", asked.route, asked.usage

    assert answer == "".join(pieces)
    assert route == {"step": "retrieved", "answered": False, "finish": "empty"}
    assert [step["decision"] for step in usage["steps"]] == ["failed"]


async def test_a_token_stream_of_langchain_gets_no_error_either():
    with ScriptedServer([]) as server:
        chain = routes.chain_of(server, llm=Silent(pieces=[]))
        events = [event async for event in chain.astream_events("Q?", version="v2")]

    assert events[-1]["data"]["output"]["route"]["finish"] == "empty"


def test_other_errors_of_a_stream_fail_the_step():
    class Broken(Silent):
        def _stream(self, *_: Any, **__: Any):
            raise ValueError("No generation of ours can read this.")
            yield

    with ScriptedServer([]) as server:
        chain = routes.chain_of(server, llm=Broken(pieces=[]))
        with pytest.raises(Exception, match="No generation of ours"):
            [*chain.stream("Q?")]
