"""Streams: right from the first character, early, and drained after a refusal."""

import itertools
import random
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

from langchain_oprag import SelfRouteChain
from oprag.calls import without_reasoning
from oprag.routing import declines
from tests.kit.openai_server import Reply, scripted_server
from tests.langchain.corpus import ListRetriever, words
from tests.langchain.routes import (
    BOOK,
    QUESTION,
    REFUSAL,
    RETRIEVED,
    ask,
    chain_of,
    deltas,
    summed,
)
from tests.routing.replies import ANSWERS, REFUSALS

__all__ = ["scripted_server"]


class CutChatModel(BaseChatModel):
    """Streams each of its replies in pieces of up to a size, the same for one seed."""

    replies: list[str]
    seed: int
    largest: int = 6
    calls: list[int] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "cut"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        text = self.replies[len(self.calls)]
        self.calls.append(len(text))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

    def _stream(
        self, messages, stop=None, run_manager=None, **kwargs
    ) -> Iterator[ChatGenerationChunk]:
        text = self.replies[len(self.calls)]
        self.calls.append(len(text))
        chance = random.Random(f"{self.seed} {text}")  # noqa: S311 -- cuts, no secrets
        yield ChatGenerationChunk(message=AIMessageChunk(""))
        while text:
            size = chance.randint(1, self.largest)
            yield ChatGenerationChunk(message=AIMessageChunk(text[:size]))
            text = text[size:]

    async def _astream(
        self, messages, stop=None, run_manager=None, **kwargs
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages):
            yield chunk


REPLIES = [*itertools.chain(*REFUSALS.values(), *ANSWERS.values())]
WAYS = {"invoke": 0, "stream": 1, "astream": 6}
"""With the most characters of one piece."""


@pytest.mark.slow
@pytest.mark.parametrize(("way", "largest"), WAYS.items())
async def test_no_refusal_is_shown_and_no_answer_lost(way, largest):
    """How replies are judged, however they are cut, is tested in `tests/routing`."""
    for reply in REPLIES[list(WAYS).index(way) :: 4 * len(WAYS)]:
        model = CutChatModel(replies=[reply, "In 1912."], seed=7, largest=largest)
        chain = SelfRouteChain(
            llm=model,
            retriever=ListRetriever(documents=list(RETRIEVED)),
            documents={"book.txt": BOOK},
            token_counter=words,
        )

        result = await ask(chain, way=way)

        refused = declines(reply)
        answer = "In 1912." if refused else without_reasoning(reply)
        assert result["answer"] == answer, reply
        rung = "full" if refused else "retrieved"
        assert result["route"] == {"rung": rung, "answered": True}, reply


def test_the_pieces_come_in_the_order_of_the_output(scripted_server):
    server = scripted_server([REFUSAL, Reply(deltas=["In ", "19", "12."])])

    pieces = list(chain_of(server).stream(QUESTION))

    assert [list(piece) for piece in pieces] == [
        ["input"],
        ["context"],
        ["answer"],
        ["answer"],
        ["answer"],
        ["route"],
        ["usage"],
    ]
    assert deltas(pieces) == ["In ", "19", "12."]
    assert pieces[1]["context"][0].page_content == BOOK


async def test_so_it_does_when_awaited(scripted_server):
    gate = threading.Event()
    server = scripted_server([Reply(deltas=["It was. It", " is. ", gate, "In 1912."])])

    stream = chain_of(server).astream(QUESTION)
    seen = ""
    while seen != "It was. It is. ":
        seen += (await anext(stream)).get("answer", "")
    gate.set()

    rest = [piece async for piece in stream]
    assert seen + "".join(deltas(rest)) == "It was. It is. In 1912."


class Ends(BaseCallbackHandler):
    """Remembers how each model call ended, and the usage that it reported."""

    def __init__(self) -> None:
        self.ended: list[Any] = []

    def on_llm_end(self, response, **kwargs):
        message = response.generations[0][0].message
        self.ended.append(message.usage_metadata["total_tokens"])

    def on_llm_error(self, error, **kwargs):
        self.ended.append(type(error).__name__)


@pytest.mark.parametrize("awaited", [False, True])
async def test_after_a_refusal_the_reply_is_read_to_its_end(scripted_server, awaited):
    long_winded = REFUSAL + " It tells of the river" * 20
    server = scripted_server([long_winded, "In 1912."])
    ends = Ends()
    config = {"callbacks": [ends]}

    chain = chain_of(server)
    if awaited:
        pieces = [piece async for piece in chain.astream(QUESTION, config)]
    else:
        pieces = list(chain.stream(QUESTION, config))

    first, second = summed(pieces)["usage"]["rungs"]
    assert first["output_tokens"] == len(long_winded.split())
    assert not first["estimated"]
    assert ends.ended == [
        rung["input_tokens"] + rung["output_tokens"] for rung in (first, second)
    ]
