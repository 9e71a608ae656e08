"""Streams: right from the first character, early, and drained after a refusal."""

import asyncio
import itertools
import random
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

from langchain_oprag import SelfRouteChain
from oprag.calls import without_reasoning
from oprag.routing import declines
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
from tests.support.openai_server import Reply, scripted_server

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


def test_the_answer_streams_while_the_model_is_still_writing(scripted_server):
    gate = threading.Event()
    server = scripted_server([Reply(deltas=["It was. It", " is. ", gate, "In 1912."])])

    stream = chain_of(server).stream(QUESTION)
    seen = ""
    while seen != "It was. It is. ":
        seen += next(stream).get("answer", "")
    gate.set()

    assert seen + "".join(deltas(list(stream))) == "It was. It is. In 1912."


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


def test_a_refusal_of_the_last_rung_is_streamed_as_it_comes(scripted_server):
    server = scripted_server([REFUSAL, Reply(deltas=["Un", "answer", "able."])])

    pieces = list(chain_of(server).stream(QUESTION))

    assert deltas(pieces) == ["Un", "answer", "able."]
    assert summed(pieces)["route"] == {"rung": "full", "answered": False}


async def test_events_show_the_answer_alone_and_every_piece(scripted_server):
    server = scripted_server([REFUSAL, Reply(deltas=["In ", "1912."])])

    events = [
        event async for event in chain_of(server).astream_events(QUESTION, version="v2")
    ]

    chains = [e for e in events if e["event"].startswith("on_chain")]
    ours = [e for e in chains if e["name"] == "SelfRouteChain"]
    streamed = [e["data"]["chunk"] for e in ours if e["event"] == "on_chain_stream"]
    assert deltas(streamed) == ["In ", "1912."]
    assert ours[-1]["data"]["output"]["answer"] == "In 1912."
    models = [e for e in events if e["event"] == "on_chat_model_end"]
    assert [e["tags"] for e in models] == [["rung:full"]]
    assert {e["parent_ids"][0] for e in models} == {ours[0]["run_id"]}
    assert "on_retriever_end" in [e["event"] for e in events]


async def test_a_stream_that_is_left_asks_nothing_more(scripted_server):
    gate = threading.Event()
    server = scripted_server([Reply(deltas=["It was. It", " is. ", gate, "In 1912."])])
    ends = Ends()

    stream = chain_of(server).astream(QUESTION, {"callbacks": [ends]})
    while "answer" not in await anext(stream):
        pass
    await stream.aclose()
    gate.set()

    assert len(server.requests) == 1


async def test_a_cancelled_question_asks_nothing_more(scripted_server):
    gate = threading.Event()
    server = scripted_server([Reply(deltas=["Unans", gate, "werable."])])

    stream = chain_of(server).astream(QUESTION)
    assert await anext(stream) == {"input": QUESTION}
    # The reply hangs after "Unans", which is held back.
    task = asyncio.create_task(anext(stream))
    await asyncio.wait([task], timeout=0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()

    assert [piece async for piece in stream] == []
    assert len(server.requests) == 1


class Noted(Document):
    """Notes in which threads it was copied."""

    threads: set[int] = Field(default_factory=set)

    def model_copy(self, **kwargs: Any) -> "Noted":
        self.threads.add(threading.get_ident())
        return super().model_copy(**kwargs)


def long_chain(answer: str) -> tuple[SelfRouteChain, list[Noted]]:
    """A chain that reads a long text, and streams an answer by character."""
    pages = [
        Noted(page_content="word " * 400, metadata={"source": f"{n}.txt"})
        for n in range(40)
    ]
    chain = SelfRouteChain(
        llm=CutChatModel(replies=[answer], seed=1, largest=1),
        retriever=ListRetriever(documents=list(pages)),
        documents={"0.txt": "word " * 400},
        rungs=["retrieved"],
        max_context_tokens=10**6,
        token_counter=words,
    )
    return chain, pages


async def test_documents_of_a_long_text_are_made_in_a_thread():
    chain, pages = long_chain("In 1912.")
    result = await ask(chain, way="astream")
    made_in = {thread for page in pages for thread in page.threads}
    assert len(result["context"]) == len(pages)
    assert made_in
    assert threading.get_ident() not in made_in


async def test_behind_its_first_piece_an_answer_waits_for_no_thread():
    """Whatever else has the threads of the event loop."""
    answer = "In 1912, by Ann."
    chain, _ = long_chain(answer)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(1))
    gate = threading.Event()

    async def read() -> str:
        said = ""
        async for piece in chain.astream("Who?"):
            if text := piece.get("answer"):
                if not said:
                    loop.run_in_executor(None, gate.wait, 30)
                said += text
            if said == answer:
                gate.set()
        return said

    try:
        assert await asyncio.wait_for(read(), 15) == answer
    finally:
        gate.set()
