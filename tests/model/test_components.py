"""A real model behind chains, query engines and readers of both frameworks."""

from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.query_engine import RetrieverQueryEngine

from langchain_oprag import LongReader
from llamaindex_oprag import LongReaderSynthesizer
from oprag.calls import declines
from tests.langchain import routes
from tests.langchain.corpus import ListRetriever
from tests.llamaindex import self_routing
from tests.llamaindex.corpus import CLAUSES, QUESTION, clause, document, index

RULES = "\n\n".join(map(clause, range(CLAUSES // 3)))
FINISHED = {"stop": None, "length": "length", "tool_calls": "call"}
RULES_OF = pytest.mark.parametrize("decline", ["word", "tool"])


def same_as_the_server(usage: dict[str, Any], asked: list[Any]) -> None:
    """Tokens, calls and ends are what the server says."""
    steps = [step for step in usage["steps"] if step["model_calls"]]
    counted = [(step["input_tokens"], step["output_tokens"]) for step in steps]
    assert counted == [exchange.usage for exchange in asked]
    assert not usage["estimated"]
    for step, exchange in zip(steps, asked, strict=True):
        if step["finish"] != "empty":
            assert step["finish"] == FINISHED[exchange.finish]


def judged(route: dict[str, Any], answer: str, asked: list[Any], decline: str) -> None:
    """The route follows from what the model wrote, and so does the answer."""
    replies = [exchange.text for exchange in asked]
    ends = [exchange.finish == "length" for exchange in asked]
    refused = [
        declines(reply, decline, cut=cut)
        for reply, cut in zip(replies, ends, strict=True)
    ]
    assert answer == replies[-1]
    assert route["answered"] is not refused[-1]
    assert all(refused[:-1])
    assert all(exchange.body.get("tools", ()) for exchange in asked) is (
        decline == "tool"
    )


@RULES_OF
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_self_route_in_langchain(recorder, asked, way, decline):
    chain = routes.chain_of(recorder, decline=decline)

    found = await routes.ask(chain, way=way)

    same_as_the_server(found["usage"], asked)
    judged(found["route"], found["answer"], asked, decline)
    assert all(bool(e.body.get("stream")) is ("stream" in way) for e in asked)


@RULES_OF
@pytest.mark.parametrize("way", self_routing.WAYS)
async def test_self_route_in_llamaindex(recorder, asked, way, decline):
    llm = self_routing.scripted_llm(
        recorder, streaming=way.endswith("stream"), is_function_calling_model=True
    )
    retriever = index(document(text=RULES)).as_retriever(similarity_top_k=3)
    engine = self_routing.engine_over(
        recorder,
        llm=llm,
        retriever=retriever,
        documents={"lease.txt": RULES},
        decline=decline,
        streaming=way.endswith("stream"),
    )

    found = await self_routing.ask_engine(engine, way)

    same_as_the_server(found.usage, asked)
    judged(found.route, found.answer, asked, decline)


@pytest.mark.parametrize("way", ["invoke", "astream"])
async def test_the_long_reader_in_langchain(recorder, asked, way):
    units = [Document(routes.BOOK[:1200], metadata={"source": "book.txt"})]
    reader = LongReader(
        llm=routes.chat_model(recorder),
        retriever=ListRetriever(documents=units),
        one_call_below=0,
    )

    found = await routes.ask(reader, way=way)

    assert len(asked) == 2
    same_as_the_server(found["usage"], asked)
    assert found["answer"] == asked[-1].text


async def test_the_long_reader_in_llamaindex(recorder, asked):
    retriever = index(document(text=RULES)).as_retriever(similarity_top_k=3)
    reader = LongReaderSynthesizer(
        llm=self_routing.scripted_llm(recorder), one_call_below=0
    )
    engine = RetrieverQueryEngine(retriever, response_synthesizer=reader)

    response = await engine.aquery(QUESTION)

    same_as_the_server(response.metadata["usage"], asked)
    assert str(response) == asked[-1].text
