"""What a client says of a failure is told without its key, in both frameworks."""

from __future__ import annotations

import traceback
from typing import Any

import llama_index.core.instrumentation as instrument
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document as LangChainDocument
from langchain_core.embeddings import Embeddings as LangChainEmbeddings
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from llama_index.core import Document as LlamaDocument
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.span import SpanDropEvent
from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.llms.openai_like import OpenAILike
from pydantic import Field, SecretStr

import langchain_oprag
import llamaindex_oprag
from llamaindex_oprag import LongReaderSynthesizer, LongUnitRetriever
from oprag.calls.client_errors import errors_behind
from oprag.errors import (
    IndexingError,
    LongReadingError,
    OpragError,
    RedactedError,
    RungFailedError,
)
from tests.langchain import routes
from tests.langchain.test_long_reader import reader_of
from tests.llamaindex import self_routing
from tests.llamaindex.test_long_reader import CHUNK, TEXTS, UNITS, Fixed
from tests.support.openai_server import Failure, Request, ScriptedServer

KEY = "the-very-secret-of-anna"
"""Nothing in its form says that it is a key."""


def repeat(request: Request) -> Failure:
    assert request.headers["authorization"] == f"Bearer {KEY}"
    return Failure(401, f"{KEY} is wrong", KEY, {"X-Key": KEY})


def shown(error: BaseException) -> str:
    """All that a traceback prints, and what loggers find that look behind errors."""
    behind = [f"{one} {one!r} {vars(one)}" for one in errors_behind(error)]
    return "".join([*traceback.format_exception(error), *behind])


def langchain_model(server: ScriptedServer) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=server.base_url, api_key=SecretStr(KEY), model="m", max_retries=0
    )


async def by_langchain(server: ScriptedServer, way: str, *, long: bool) -> Any:
    llm = langchain_model(server)
    chain = reader_of(server, llm=llm) if long else routes.chain_of(server, llm=llm)
    return await routes.ask(chain, way=way)


async def by_llamaindex(server: ScriptedServer, way: str, *, long: bool) -> Any:
    settings: dict[str, Any] = {"is_chat_model": True, "max_retries": 0}
    llm = OpenAILike(model="m", api_base=server.base_url, api_key=KEY, **settings)
    if not long:
        return await self_routing.ask(server, way, llm=llm)
    retriever = LongUnitRetriever(Fixed(CHUNK), units=UNITS, documents=TEXTS)
    streaming = way.endswith("stream")
    reader = LongReaderSynthesizer(llm, streaming=streaming)
    engine: Any = RetrieverQueryEngine(retriever, reader)
    response = await engine.aquery("?") if way[0] == "a" else engine.query("?")
    if way == "astream":
        return [piece async for piece in response.response_gen]
    return list(response.response_gen) if streaming else response


@pytest.mark.parametrize(
    ("ask", "way"),
    [
        *((by_langchain, way) for way in routes.WAYS),
        *((by_llamaindex, way) for way in self_routing.WAYS),
    ],
)
@pytest.mark.parametrize("long", [False, True])
async def test_a_key_that_the_server_repeats_is_in_no_message_of_ours(ask, way, long):
    with ScriptedServer(repeat) as server, pytest.raises(OpragError) as caught:
        await ask(server, way, long=long)

    assert isinstance(caught.value, LongReadingError if long else RungFailedError)
    assert "AuthenticationError: *** is wrong" in caught.value.message
    assert KEY not in shown(caught.value)
    cause = caught.value.__cause__
    assert isinstance(cause, RedactedError)
    assert "AuthenticationError" in cause.kinds
    assert cause.status_code == 401
    assert cause.said == "*** is wrong."
    # Where the client was asked is no secret, and is what a developer looks for.
    assert "_base_client.py" in shown(caught.value)


class Errors(BaseCallbackHandler):
    """What callbacks are told of runs that are not inside of others."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_chain_error(self, error, *, parent_run_id=None, **kwargs):
        if parent_run_id is None:
            self.told.append(shown(error))


@pytest.mark.parametrize("way", routes.WAYS)
async def test_nor_in_what_callbacks_and_tracers_of_langchain_are_told(way):
    errors, runs = Errors(), RunCollectorCallbackHandler()
    with ScriptedServer(repeat) as server:
        chain = routes.chain_of(server, llm=langchain_model(server))
        with pytest.raises(RungFailedError):
            await routes.ask(chain, way=way, callbacks=[errors, runs])

    (run,) = runs.traced_runs
    assert "*** is wrong" in str(run.error)
    for told in (*errors.told, str(run.error)):
        assert KEY not in told
    assert len(errors.told) == 1
    # The client tells them itself what it raised. That is not ours to change.
    (model,) = [child for child in run.child_runs if child.run_type == "llm"]
    assert KEY in str(model.error)


OURS = ("SelfRoute", "LongReader", "RetrieverQueryEngine")


class Dropped(BaseSpanHandler[BaseSpan]):
    """What spans that are ours, or around ours, end with."""

    told: list[str] = Field(default_factory=list)

    def new_span(self, *args, **kwargs):
        return None

    def prepare_to_exit_span(self, *args, **kwargs):
        return None

    def prepare_to_drop_span(self, id_, bound_args, instance=None, err=None, **kwargs):
        if id_.startswith(OURS):
            self.told.append(shown(err))


class DropEvents(BaseEventHandler):
    told: list[str] = Field(default_factory=list)

    def handle(self, event, **kwargs):
        if isinstance(event, SpanDropEvent) and str(event.span_id).startswith(OURS):
            self.told.append(event.model_dump_json())


@pytest.mark.parametrize("way", self_routing.WAYS)
@pytest.mark.parametrize("long", [False, True])
async def test_nor_in_what_llamaindex_tells_its_listeners(way, long):
    dispatcher = instrument.get_dispatcher()
    spans, events = Dropped(), DropEvents()
    handlers = (dispatcher.span_handlers, dispatcher.event_handlers)
    dispatcher.add_span_handler(spans)
    dispatcher.add_event_handler(events)
    try:
        with ScriptedServer(repeat) as server, pytest.raises(OpragError):
            await by_llamaindex(server, way, long=long)
    finally:
        dispatcher.span_handlers, dispatcher.event_handlers = handlers

    # An async stream asks when it is read: the spans have ended by then.
    assert bool(spans.told) is (way != "astream")
    assert not [told for told in (*spans.told, *events.told) if KEY in told]


def refuse(key: str) -> Any:
    """As a client does that makes its own error of another's."""
    raise PermissionError(f"{key} is wrong") from ConnectionError(f"{key} came")


class Refused(LangChainEmbeddings):
    """The server repeats what it was sent."""

    def __init__(self):
        self.api_key = KEY

    def embed_documents(self, texts):
        return refuse(self.api_key)

    embed_query = embed_documents


class RefusedNodes(MockEmbedding):
    api_key: str = KEY

    def _get_text_embeddings(self, texts):
        return refuse(self.api_key)

    async def _aget_text_embeddings(self, texts):
        return refuse(self.api_key)

    _get_text_embedding = _get_text_embeddings


TEXTS_TO_INDEX = [f"{number}" for number in range(7)]


async def index_with_langchain(*, awaited: bool):
    store = InMemoryVectorStore(Refused())
    documents = [LangChainDocument(t, metadata={"source": t}) for t in TEXTS_TO_INDEX]
    if awaited:
        return await langchain_oprag.aindex_documents(documents, store)
    return langchain_oprag.index_documents(documents, store)


async def index_with_llamaindex(*, awaited: bool):
    index = VectorStoreIndex([], embed_model=RefusedNodes(embed_dim=4))
    documents = [LlamaDocument(text=t, doc_id=t) for t in TEXTS_TO_INDEX]
    if awaited:
        return await llamaindex_oprag.aindex_documents(documents, index)
    return llamaindex_oprag.index_documents(documents, index)


@pytest.mark.parametrize("index", [index_with_langchain, index_with_llamaindex])
@pytest.mark.parametrize("awaited", [False, True])
async def test_nor_in_what_indexing_says(index, awaited):
    with pytest.raises(IndexingError) as caught:
        await index(awaited=awaited)

    assert "PermissionError: *** is wrong" in caught.value.message
    assert KEY not in shown(caught.value)
    assert isinstance(caught.value.__cause__, RedactedError)
    failed = caught.value.report.failed
    assert len(failed) == 5
    for _, error in failed:
        assert KEY not in shown(error)
        assert "PermissionError" in error.kinds
    # Where it happened can still be read.
    assert "refuse(self.api_key)" in shown(caught.value)
