"""A question that is broken off, cancelled or timed out leaves nothing open."""

import asyncio
import threading
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager, CBEventType
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from llamaindex_oprag import (
    LongReaderSynthesizer,
    SelfRouteQueryEngine,
    document_source,
)
from tests.llamaindex.corpus import QUESTION, TEXT
from tests.llamaindex.self_routing import REFUSAL, engine_over
from tests.support.leaks import Pieces, Runs, cancelled_after, settled, threads
from tests.support.openai_server import Reply, ScriptedServer

pytestmark = pytest.mark.slow

ANSWER = ["In ", "19", "12."]
LONG = TEXT * 200
"""Its steps are done in threads."""


class Watched(CustomLLM):
    """Streams its replies piece by piece, awaiting something before each."""

    pieces: Any

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=10**7, num_output=256)

    def complete(self, prompt, formatted=False, **kwargs):
        with self.pieces.reply() as reply:
            return CompletionResponse(text="".join(reply))

    def stream_complete(self, prompt, formatted=False, **kwargs):
        with self.pieces.reply() as reply:
            for piece in reply:
                yield CompletionResponse(text=piece, delta=piece)

    async def acomplete(self, prompt, formatted=False, **kwargs):
        with self.pieces.reply() as reply:
            await self.pieces.wait(0)
            return CompletionResponse(text="".join(reply))

    async def astream_complete(self, prompt, formatted=False, **kwargs):
        async def pieces():
            with self.pieces.reply() as reply:
                for number, piece in enumerate(reply):
                    await self.pieces.wait(number)
                    yield CompletionResponse(text=piece, delta=piece)

        return pieces()


class Traced(BaseCallbackHandler):
    """Hears of what LlamaIndex's components begin and end."""

    def __init__(self) -> None:
        super().__init__([], [])
        self.runs = Runs()

    def on_event_start(self, event_type, payload=None, event_id="", **kwargs):
        self.runs.begun[event_id] += 1
        if event_type in {CBEventType.SYNTHESIZE, CBEventType.QUERY}:
            self.runs.ours.add(event_id)
        return event_id

    def on_event_end(self, event_type, payload=None, event_id="", **kwargs):
        self.runs.ended[event_id] += 1

    def start_trace(self, trace_id=None):
        pass

    def end_trace(self, trace_id=None, trace_map=None):
        pass


class Found(BaseRetriever):
    """Finds the beginning of a text, after a while or never."""

    def __init__(self, asked: Any) -> None:
        self.asked = asked
        super().__init__()

    def _retrieve(self, query_bundle):
        node = TextNode(text=self.asked.text[:50], start_char_idx=0, end_char_idx=50)
        node.metadata["source"] = "a"
        return [NodeWithScore(node=node)]

    async def _aretrieve(self, query_bundle):
        await self.asked.wait("retriever")
        return self._retrieve(query_bundle)


class Asked:
    """An engine whose retriever, documents and model each may stall."""

    def __init__(
        self, kind: str, text: str, stalls: str | None = None, *, streaming: bool
    ) -> None:
        self.stalls, self.text, self.streaming = stalls, text, streaming
        self.traced = Traced()
        manager = CallbackManager([self.traced])
        first = ["Unans", "werable."] if kind == ROUTE else ["In 1912", " by Ann."]
        self.pieces = Pieces(first, ANSWER)
        llm = Watched(pieces=self.pieces)
        if stalls in STALLS_OF_THE_MODEL:
            self.pieces.stalls_at = STALLS_OF_THE_MODEL[stalls]
        if kind == ROUTE:
            self.engine: Any = SelfRouteQueryEngine.from_args(
                Found(self),
                llm,
                documents=self._read,
                callback_manager=manager,
                streaming=streaming,
            )
        else:
            self.engine = RetrieverQueryEngine(
                Found(self),
                LongReaderSynthesizer(
                    llm, callback_manager=manager, streaming=streaming, one_call_below=0
                ),
                callback_manager=manager,
            )

    async def ask(self) -> list[str]:
        response = await self.engine.aquery(QUESTION)
        if not self.streaming:
            return [str(response)]
        return [piece async for piece in response.async_response_gen()]

    def now(self, name: str) -> str:
        return self.text

    async def _read(self, name: str) -> str:
        await self.wait("documents")
        return self.text

    async def wait(self, name: str) -> None:
        await (asyncio.Event().wait() if self.stalls == name else asyncio.sleep(0))


STALLS_OF_THE_MODEL = {
    "first call": (0, 0),
    "in a reply": (0, 1),
    "second call": (1, 0),
    "in the answer": (1, 2),
}
ROUTE = "SelfRouteQueryEngine"
KINDS = [ROUTE, "LongReaderSynthesizer"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("text", [TEXT, LONG], ids=["short", "long"])
async def test_cancelling_at_any_await_leaves_nothing_behind(kind, streaming, text):
    before = threads()
    beats, running = 0, True
    while running:
        asked = Asked(kind, text, streaming=streaming)
        running = await cancelled_after(asked.ask(), beats)
        await settled(None, asked.pieces)
        if asked.traced.runs.begun:  # else it did not begin
            asked.traced.runs.check()
        beats += 1 if text is TEXT else max(1, beats // 4)

    assert beats > 3
    assert threads() <= before


@pytest.mark.parametrize(
    ("kind", "stalls"),
    [
        *((kind, "retriever") for kind in KINDS),
        (ROUTE, "documents"),
        *((kind, stalls) for kind in KINDS for stalls in STALLS_OF_THE_MODEL),
    ],
)
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_time_out_at_any_step_leaves_nothing_behind(kind, stalls, streaming):
    whole = not streaming or (kind != ROUTE and stalls == "in a reply")
    if whole and stalls in {"in a reply", "in the answer"}:
        return  # these come whole
    before = threads()
    asked = Asked(kind, TEXT, stalls, streaming=streaming)

    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(asked.ask(), 0.2)

    await settled(None, asked.pieces)
    asked.traced.runs.check()
    assert threads() <= before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["next", "anext", "async_response_gen"])
@pytest.mark.parametrize("text", [TEXT, LONG], ids=["short", "long"])
async def test_breaking_off_after_any_piece_leaves_nothing_behind(kind, how, text):
    before = threads()
    left, more = 0, True
    while more:
        asked = Asked(kind, text, streaming=True)
        if how == "next":
            if kind == ROUTE:
                asked.engine._self_route.options.source = document_source(asked.now)
            pieces = asked.engine.query(QUESTION).response_gen
            for _ in range(left):
                more = more and next(pieces, None) is not None
            pieces.close()
        else:
            response = await asked.engine.aquery(QUESTION)
            named = how == "async_response_gen"
            pieces = response.async_response_gen() if named else response.response_gen
            for _ in range(left):
                more = more and await anext(pieces, None) is not None
            await pieces.aclose()
            del response, pieces  # the rest could be read from it
        await settled(None, asked.pieces)
        asked.traced.runs.check()
        left += 1

    assert left > 2
    assert threads() <= before


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("refuses", [False, True])
async def test_breaking_off_closes_the_connection(awaited, refuses):
    gate = threading.Event()
    first = [REFUSAL] if refuses else []
    held = Reply(deltas=["It is. Last May.", " ", "Or", gate, " so."])
    shown = ["It is. Last May.", " ", "Or"] if refuses else ["It is. Last May. ", "Or"]
    with ScriptedServer([*first, held]) as server:
        engine = engine_over(server, streaming=True)
        if awaited:
            pieces = (await engine.aquery(QUESTION)).response_gen
            seen = [await anext(pieces) for _ in shown]
            await pieces.aclose()
        else:
            pieces = engine.query(QUESTION).response_gen
            seen = [next(pieces) for _ in shown]
            pieces.close()

        assert seen == shown
        # LlamaIndex's client closes its stream when that is collected, not before.
        await settled(server, collect=True)
        gate.set()


@pytest.mark.parametrize("streamed", [None, 0, 1, 2])
async def test_a_time_out_closes_the_connection(streamed):
    gate = threading.Event()
    words = ["Last", " May", " or so."]
    late = Reply("Last May.", delay=5)
    held = Reply(deltas=[*words[:streamed], gate, *words[streamed or 0 :]])
    with ScriptedServer([late if streamed is None else held]) as server:
        engine = engine_over(server, streaming=streamed is not None)

        async def ask() -> None:
            response = await engine.aquery(QUESTION)
            if streamed is not None:
                async for _ in response.async_response_gen():
                    pass

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(ask(), 0.5)
        await settled(server)
        gate.set()
