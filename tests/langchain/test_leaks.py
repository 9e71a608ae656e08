"""A question that is broken off, cancelled or timed out leaves nothing open."""

import asyncio
import contextlib
import threading
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda

from langchain_oprag import LongReader, SelfRouteChain
from tests.langchain import routes
from tests.langchain.routes import BOOK, QUESTION, REFUSAL
from tests.support.leaks import Pieces, Runs, cancelled_after, settled, threads
from tests.support.openai_server import Reply, scripted_server

__all__ = ["scripted_server"]

pytestmark = pytest.mark.slow

ANSWER = ["In ", "19", "12."]
LONG = BOOK * 40
"""Its steps are done in threads."""


class Watched(BaseChatModel):
    """Streams its replies piece by piece, awaiting something before each."""

    pieces: Any

    @property
    def _llm_type(self) -> str:
        return "watched"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        with self.pieces.reply() as reply:
            return _result(reply)

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        with self.pieces.reply() as reply:
            await self.pieces.wait(0)
            return _result(reply)

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        with self.pieces.reply() as reply:
            for piece in reply:
                yield ChatGenerationChunk(message=AIMessageChunk(piece))

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        with self.pieces.reply() as reply:
            for number, piece in enumerate(reply):
                await self.pieces.wait(number)
                yield ChatGenerationChunk(message=AIMessageChunk(piece))


def _result(reply):
    message = AIMessage("".join(reply))
    return ChatResult(generations=[ChatGeneration(message=message)])


class Traced(BaseCallbackHandler):
    """Hears of chains, retrievers and models."""

    run_inline = True  # else LangChain may be cancelled between a start and its `try`

    def __init__(self) -> None:
        self.runs = Runs()

    def on_chain_start(self, *args, run_id, parent_run_id=None, **kwargs):
        self.runs.begun[run_id] += 1
        if parent_run_id is None:
            self.runs.ours.add(run_id)

    on_chat_model_start = on_retriever_start = on_chain_start

    def on_chain_end(self, *args, run_id, **kwargs):
        self.runs.ended[run_id] += 1

    on_chain_error = on_retriever_end = on_retriever_error = on_chain_end
    on_llm_end = on_llm_error = on_chain_end


class Asked:
    """A chain whose retriever, documents and model each may stall."""

    def __init__(self, kind: str, text: str, stalls: str | None = None) -> None:
        self.stalls = stalls
        self.text = text
        self.traced = Traced()
        if kind == "SelfRouteChain":
            self.pieces = Pieces(["Unans", "werable."], ANSWER)
            self.chain: Any = SelfRouteChain(
                llm=Watched(pieces=self.pieces),
                retriever=RunnableLambda(self._now, self._retrieve),
                documents=self._read,
            )
        else:
            self.pieces = Pieces(["In 1912", " by Ann."], ANSWER)
            self.chain = LongReader(
                llm=Watched(pieces=self.pieces),
                retriever=RunnableLambda(self._now, self._retrieve),
                one_call_below=0,
            )
        if stalls in STALLS_OF_THE_MODEL:
            self.pieces.stalls_at = STALLS_OF_THE_MODEL[stalls]

    async def ask(self, way: str) -> list[Any]:
        config: Any = {"callbacks": [self.traced]}
        if way == "ainvoke":
            return [await self.chain.ainvoke(QUESTION, config)]
        if way == "abatch":
            return await self.chain.abatch([QUESTION], config)
        return [piece async for piece in self.chain.astream(QUESTION, config)]

    def _now(self, query: str) -> list[Document]:
        return [Document(self.text[:50], metadata={"source": "a", "start_index": 0})]

    async def _retrieve(self, query: str) -> list[Document]:
        await self._wait("retriever")
        return self._now(query)

    async def _read(self, name: str) -> str:
        await self._wait("documents")
        return self.text

    async def _wait(self, name: str) -> None:
        await (asyncio.Event().wait() if self.stalls == name else asyncio.sleep(0))


STALLS_OF_THE_MODEL = {
    "first call": (0, 0),
    "in a reply": (0, 1),
    "second call": (1, 0),
    "in the answer": (1, 2),
}
KINDS = ["SelfRouteChain", "LongReader"]
WAYS = ["ainvoke", "astream", "abatch"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", [BOOK, LONG], ids=["short", "long"])
async def test_cancelling_at_any_await_leaves_nothing_behind(kind, way, text):
    before = threads()
    beats = 0
    while True:
        asked = Asked(kind, text)
        running = await cancelled_after(asked.ask(way), beats)
        await settled(None, asked.pieces)
        if asked.traced.runs.begun:  # else it did not begin
            asked.traced.runs.check()
        if not running:
            break
        beats += 1 if text is BOOK else max(1, beats // 4)

    assert beats > 10
    assert threads() <= before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("text", [BOOK, LONG], ids=["short", "long"])
async def test_breaking_off_after_any_piece_leaves_nothing_behind(kind, awaited, text):
    before = threads()
    left, more = 0, True
    while more:
        asked = Asked(kind, text)
        config: Any = {"callbacks": [asked.traced]}
        if awaited:
            stream = asked.chain.astream(QUESTION, config)
            for _ in range(left):
                more = more and await anext(stream, None) is not None
            await stream.aclose()
        else:
            if kind == "SelfRouteChain":
                asked.chain.documents = {"a": text}
            stream = asked.chain.stream(QUESTION, config)
            for _ in range(left):
                more = more and next(stream, None) is not None
            stream.close()
        await settled(None, asked.pieces)
        if left:
            asked.traced.runs.check()
        left += 1

    assert left > 5
    assert threads() <= before


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("refuses", [False, True])
async def test_breaking_off_closes_the_connection(scripted_server, awaited, refuses):
    gate = threading.Event()
    first = [REFUSAL] if refuses else []
    held = Reply(deltas=["It is. It was.", " Built", " in", gate, " 1912."])
    server = scripted_server([*first, held])
    chain = routes.chain_of(server)

    seen = ""
    if awaited:
        async with contextlib.aclosing(chain.astream(QUESTION)) as stream:
            async for piece in stream:
                seen += piece.get("answer", "")
                if seen == "It is. It was. Built in":
                    break
    else:
        with contextlib.closing(chain.stream(QUESTION)) as stream:
            for piece in stream:
                seen += piece.get("answer", "")
                if seen == "It is. It was. Built in":
                    break

    await settled(server)
    gate.set()
