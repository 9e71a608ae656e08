"""What a client says of a failure is told without its key, in both frameworks."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.embeddings import Embeddings as LangChainEmbeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from llama_index.core import Document as LlamaDocument
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.llms.openai_like import OpenAILike
from pydantic import SecretStr

import langchain_oprag
import llamaindex_oprag
from llamaindex_oprag import LongReaderSynthesizer, LongUnitRetriever
from oprag.errors import IndexingError, LongReadingError, OpragError, RungFailedError
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


async def by_langchain(server: ScriptedServer, way: str, *, long: bool) -> Any:
    llm = ChatOpenAI(
        base_url=server.base_url, api_key=SecretStr(KEY), model="m", max_retries=0
    )
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
    assert KEY not in f"{caught.value!r} {vars(caught.value)}"
    # What the client raised is its own, and as it raised it.
    assert isinstance(caught.value.__cause__, openai.AuthenticationError)


class Refused(LangChainEmbeddings):
    """The server repeats what it was sent."""

    def __init__(self):
        self.api_key = KEY

    def embed_documents(self, texts):
        raise PermissionError(f"{self.api_key} is wrong")

    embed_query = embed_documents


class RefusedNodes(MockEmbedding):
    api_key: str = KEY

    def _get_text_embeddings(self, texts):
        raise PermissionError(f"{self.api_key} is wrong")

    _get_text_embedding = _get_text_embeddings


def index_with_langchain():
    document = LangChainDocument("one", metadata={"source": "a"})
    return langchain_oprag.index_documents([document], InMemoryVectorStore(Refused()))


def index_with_llamaindex():
    index = VectorStoreIndex([], embed_model=RefusedNodes(embed_dim=4))
    document = LlamaDocument(text="one", metadata={"file_path": "a"})
    return llamaindex_oprag.index_documents([document], index)


@pytest.mark.parametrize("index", [index_with_langchain, index_with_llamaindex])
def test_nor_in_what_indexing_says(index):
    with pytest.raises(IndexingError) as caught:
        index()

    assert "PermissionError: *** is wrong" in caught.value.message
    assert KEY not in f"{caught.value!r} {vars(caught.value)}"
    assert isinstance(caught.value.__cause__, PermissionError)
