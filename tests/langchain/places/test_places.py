"""The prompt in every place of an application, with oprag and without it."""

import re
from typing import Any

import pytest
from langchain_core.documents import BaseDocumentCompressor
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langgraph.graph import START

from oprag.errors import PositionError
from tests.kit.app_places import LANGCHAIN, Place
from tests.langchain.compat import IS_1X, ContextualCompressionRetriever
from tests.langchain.corpus import QUERY
from tests.langchain.places.ingredients import OTHER_QUERIES, ingredients

CALL = {"name": "search", "args": {"query": QUERY}, "id": "1", "type": "tool_call"}
MESSAGES = {"messages": [{"role": "user", "content": QUERY}]}


def application(place: Place, names: dict[str, Any]) -> tuple[Any, Any]:
    """The question, and its input, around what a place builds."""
    built = eval(place.how, names)  # noqa: S307 -- our own list
    question = names["question"]
    if place.id in ("stuff-documents", "retrieval-chain", "history-aware"):
        return built, input_of_chain(place, names)
    if place.id.startswith("graph-"):
        return compiled(place, built, names), {"question": question}
    if place.id == "dynamic-prompt":
        return built, MESSAGES
    if place.id == "agent-tool":
        names["model"].replies = [AIMessage("", tool_calls=[CALL]), AIMessage("answer")]
        return built, MESSAGES
    if isinstance(built, BaseDocumentCompressor):
        built = compressing(built, names)
    chain = {"context": built, "input": RunnablePassthrough()} | names["stuff"]
    return chain, question


def compressing(compressor: Any, names: dict[str, Any]) -> Any:
    return ContextualCompressionRetriever(
        base_compressor=compressor, base_retriever=names["retriever"]
    )


def input_of_chain(place: Place, names: dict[str, Any]) -> Any:
    """Each chain has its own words for the question."""
    given = {"input": names["question"]}
    if place.id == "stuff-documents":
        given["context"] = names["retriever"].invoke(names["question"])
    elif place.id == "history-aware":
        given["chat_history"] = ["an earlier turn"]
    return given


def compiled(place: Place, graph: Any, names: dict[str, Any]) -> Any:
    """The queries, where there are several; the node of the place; the answer."""
    retriever, question = names["retriever"], names["question"]
    answer = (
        RunnableLambda(lambda s: {"context": s["context"], "input": s["question"]})
        | names["stuff"]
        | RunnableLambda(lambda reply: {"answer": reply})
    )
    graph.add_node("answer", answer)
    graph.add_edge("context", "answer")
    if place.id == "graph-merge":
        # Nodes that run side by side; the state adds up what they find.
        queries = {"first": question, "second": OTHER_QUERIES[0]}
        for name, query in queries.items():
            graph.add_node(name, lambda _, q=query: {"found": retriever.invoke(q)})
            graph.add_edge(START, name)
        graph.add_edge(list(queries), "context")
    else:
        graph.add_edge(START, "context")
    return graph.compile()


async def read(place: Place, mode: str, *, oprag: bool) -> list[int]:
    """Numbers of the chunks as the model read them."""
    names = ingredients(oprag=oprag)
    asked, given = application(place, names)
    await asked.ainvoke(given) if mode == "ainvoke" else asked.invoke(given)
    return chunks_in(names["model"].sent)


def chunks_in(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"chunk (\d+) says", text)]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("place", LANGCHAIN, ids=[place.id for place in LANGCHAIN])
async def test_the_model_reads_in_order_where_the_list_says_so(place, mode):
    if place.id == "dynamic-prompt" and not IS_1X:
        pytest.skip("agents have no middleware in LangChain 0.3")

    if place.verdict == "error":  # children of several parents
        with pytest.raises(PositionError):
            await read(place, mode, oprag=True)
        return
    ordered = await read(place, mode, oprag=True)

    if place.verdict == "yes":
        plain = await read(place, mode, oprag=False)
        assert ordered == sorted(set(plain))
        assert plain != sorted(plain)
    else:
        assert ordered != sorted(ordered)
