"""What a client says of a failure is told without its key, in both frameworks."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from langchain_openai import ChatOpenAI
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.llms.openai_like import OpenAILike
from pydantic import SecretStr

from llamaindex_oprag import LongReaderSynthesizer, LongUnitRetriever
from oprag.errors import LongReadingError, OpragError, RungFailedError
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
