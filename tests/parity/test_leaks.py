"""A question broken off or cancelled leaves nothing open, in either framework."""

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager, CBEventType
from llama_index.core.callbacks.base_handler import (
    BaseCallbackHandler as LlamaCallbackHandler,
)
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_oprag
import llamaindex_oprag
from tests.langchain.routes import BOOK


class Pieces:
    """The pieces of a model's replies, and how many streams of them are open."""

    def __init__(self, *replies: Sequence[str]) -> None:
        self.replies = list(replies)
        self.calls = 0
        self.open = 0

    @contextlib.contextmanager
    def reply(self) -> Iterator[Sequence[str]]:
        number = self.calls
        self.calls += 1
        self.open += 1
        try:
            yield self.replies[number]
        finally:
            self.open -= 1


class Runs:
    """Counts beginnings and ends of what is traced, by its id."""

    def __init__(self) -> None:
        self.begun: Counter[Any] = Counter()
        self.ended: Counter[Any] = Counter()
        self.ours: set[Any] = set()
        """Those that are ours to end; of others the framework may lose sight."""

    def check(self) -> None:
        """Ours ended once, and nothing ended twice."""
        assert self.ours
        assert set(self.begun.values()) == {1}
        assert {self.ended[run] for run in self.ours} == {1}
        assert set(self.ended.values()) == {1}
        assert set(self.ended) <= set(self.begun)


def threads() -> set[threading.Thread]:
    """All but the workers that event loops own and those that serve connections."""
    own = ("asyncio_", "ThreadPoolExecutor")
    return {
        thread
        for thread in threading.enumerate()
        if not thread.name.startswith(own)
        and "process_request_thread" not in thread.name
    }


async def settled(stream: Pieces) -> None:
    """Wait until everything is closed; fail if something stays open."""
    until = time.monotonic() + 15  # of a busy machine
    while stream.open:
        assert time.monotonic() < until, "a stream is still open"
        await asyncio.sleep(0.005)


async def cancelled_after(work: Any, beats: int) -> bool:
    """Cancel a task after so many rounds of the event loop.

    Returns:
        Whether it was still running then.
    """
    task = asyncio.ensure_future(work)
    for _ in range(beats):
        await asyncio.sleep(0)
    if task.done():
        await task
        return False
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return True


pytestmark = pytest.mark.once

QUESTION = "When was the bridge built?"
LONG = BOOK * 40
"""Its steps are done in threads."""
REFUSAL = ["Unans", "werable."]
ANSWER = ["In ", "19", "12."]


class Asked:
    """A Self-Route whose retriever, documents and model each await something."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces, self.runs = Pieces(REFUSAL, ANSWER), Runs()

    async def read(self, _name: str) -> str:
        await asyncio.sleep(0)
        return self.text


class ChatModel(BaseChatModel):
    """Streams its replies piece by piece, awaiting something before each."""

    pieces: Any

    @property
    def _llm_type(self) -> str:
        return "watched"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        with self.pieces.reply() as reply:
            message = AIMessage("".join(reply))
            return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        await asyncio.sleep(0)
        return self._generate(messages)

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        with self.pieces.reply() as reply:
            for piece in reply:
                yield ChatGenerationChunk(message=AIMessageChunk(piece))

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        with self.pieces.reply() as reply:
            for piece in reply:
                await asyncio.sleep(0)
                yield ChatGenerationChunk(message=AIMessageChunk(piece))


class Traced(BaseCallbackHandler):
    """Hears of chains, retrievers and models."""

    run_inline = True  # else LangChain may be cancelled between a start and its `try`

    def __init__(self, runs: Runs) -> None:
        self.runs = runs

    def on_chain_start(self, *args, run_id, parent_run_id=None, **kwargs):
        self.runs.begun[run_id] += 1
        if parent_run_id is None:
            self.runs.ours.add(run_id)

    on_chat_model_start = on_retriever_start = on_chain_start

    def on_chain_end(self, *args, run_id, **kwargs):
        self.runs.ended[run_id] += 1

    on_chain_error = on_retriever_end = on_retriever_error = on_chain_end
    on_llm_end = on_llm_error = on_chain_end


class InLangChain(Asked):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.component: Any = langchain_oprag.SelfRouteChain(
            llm=ChatModel(pieces=self.pieces),
            retriever=RunnableLambda(self._now, self._retrieve),
            documents=self.read,
        )
        self.config: Any = {"callbacks": [Traced(self.runs)]}

    def _now(self, query: str) -> list[Document]:
        return [Document(self.text[:50], metadata={"source": "a", "start_index": 0})]

    async def _retrieve(self, query: str) -> list[Document]:
        await asyncio.sleep(0)
        return self._now(query)

    async def ask(self) -> Any:
        return await self.component.ainvoke(QUESTION, self.config)

    def stream(self) -> Iterator[Any]:
        self.component.documents = {"a": self.text}
        return self.component.stream(QUESTION, self.config)

    async def astream(self) -> Any:
        return self.component.astream(QUESTION, self.config)


class Model(CustomLLM):
    """The same for LlamaIndex."""

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
        await asyncio.sleep(0)
        return self.complete(prompt)

    async def astream_complete(self, prompt, formatted=False, **kwargs):
        async def pieces():
            with self.pieces.reply() as reply:
                for piece in reply:
                    await asyncio.sleep(0)
                    yield CompletionResponse(text=piece, delta=piece)

        return pieces()


class Events(LlamaCallbackHandler):
    """Hears of what LlamaIndex's components begin and end."""

    def __init__(self, runs: Runs) -> None:
        super().__init__([], [])
        self.runs = runs

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
    """Finds the beginning of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__()

    def _retrieve(self, query_bundle):
        node = TextNode(text=self.text[:50], start_char_idx=0, end_char_idx=50)
        node.metadata["source"] = "a"
        return [NodeWithScore(node=node)]

    async def _aretrieve(self, query_bundle):
        await asyncio.sleep(0)
        return self._retrieve(query_bundle)


class InLlamaIndex(Asked):
    def engine(self, *, streaming: bool) -> Any:
        return llamaindex_oprag.SelfRouteQueryEngine.from_args(
            Found(self.text),
            Model(pieces=self.pieces),
            documents=self.read,
            callback_manager=CallbackManager([Events(self.runs)]),
            streaming=streaming,
        )

    async def ask(self) -> Any:
        return str(await self.engine(streaming=False).aquery(QUESTION))

    def stream(self) -> Iterator[Any]:
        engine = self.engine(streaming=True)
        source = llamaindex_oprag.document_source({"a": self.text})
        engine._self_route.options.source = source
        return engine.query(QUESTION).response_gen

    async def astream(self) -> Any:
        response = await self.engine(streaming=True).aquery(QUESTION)
        return response.async_response_gen()


async def read_all(asked: Any) -> list[Any]:
    return [piece async for piece in await asked.astream()]


FRAMEWORKS = pytest.mark.parametrize("framework", [InLangChain, InLlamaIndex])
TEXTS = pytest.mark.parametrize("text", [BOOK, LONG], ids=["short", "long"])


@FRAMEWORKS
@TEXTS
@pytest.mark.parametrize("streamed", [False, True])
async def test_cancelling_at_any_await_leaves_nothing_behind(framework, text, streamed):
    before = threads()
    beats, running = 0, True
    while running:
        asked = framework(text)
        work = read_all(asked) if streamed else asked.ask()
        running = await cancelled_after(work, beats)
        await settled(asked.pieces)
        if asked.runs.begun:  # else it did not begin
            asked.runs.check()
        beats += 1 if text is BOOK else max(1, beats // 4)

    assert beats > 3
    assert threads() <= before


@FRAMEWORKS
@TEXTS
@pytest.mark.parametrize("awaited", [False, True])
async def test_breaking_off_after_any_piece_leaves_nothing_behind(
    framework, text, awaited
):
    before = threads()
    left, more = 0, True
    while more:
        asked = framework(text)
        if awaited:
            pieces = await asked.astream()
            for _ in range(left):
                more = more and await anext(pieces, None) is not None
            await pieces.aclose()
            assert asked.runs.begun == asked.runs.ended  # by now
            del pieces  # the rest could be read from it
        else:
            pieces = asked.stream()
            for _ in range(left):
                more = more and next(pieces, None) is not None
            pieces.close()
        await settled(asked.pieces)
        if left:
            asked.runs.check()
        left += 1

    assert left > 2
    assert threads() <= before
