"""In every place of the list the model reads the retrieved chunks in order, or not."""

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START

from tests.langchain.corpus import QUERY
from tests.langchain.places.ingredients import OTHER_QUERIES
from tests.langchain.places.registry import places_of
from tests.langchain.places.running import (
    Application,
    answering,
    each_mode,
    each_place,
    with_and_without,
)

CALL = {"name": "search", "args": {"query": QUERY}, "id": "1", "type": "tool_call"}
MESSAGES = {"messages": [{"role": "user", "content": QUERY}]}


@each_mode
@each_place(places_of("retrieval"))
async def test_the_model_reads_what_was_retrieved_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode, answering)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


def asked(place, chain, names):
    """Each chain has its own words for the question."""
    given = {"input": names["question"]}
    if place.id == "stuff-documents":
        given["context"] = names["retriever"].invoke(names["question"])
    elif place.id == "history-aware":
        given["chat_history"] = ["an earlier turn"]
    return Application(chain, given)


@each_mode
@each_place(places_of("chains"))
async def test_a_chain_reads_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode, asked)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


def searching(place, agent, names):
    """The model asks for a search and reads what it finds."""
    names["model"].replies = [AIMessage("", tool_calls=[CALL]), AIMessage("answer")]
    return Application(agent, MESSAGES)


@each_mode
@each_place(places_of("agents"))
async def test_an_agent_reads_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode, searching)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


@each_mode
@each_place(places_of("middleware"))
async def test_middleware_adds_what_was_retrieved_in_order(place, mode):
    ordered, plain = await with_and_without(
        place, mode, lambda place, agent, names: Application(agent, MESSAGES)
    )

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


def compiled(place, graph, names):
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
            graph.add_node(
                name, lambda _, query=query: {"found": retriever.invoke(query)}
            )
            graph.add_edge(START, name)
        graph.add_edge(list(queries), "context")
    else:
        graph.add_edge(START, "context")
    return Application(graph.compile(), {"question": question})


@each_mode
@each_place(places_of("graphs"))
async def test_the_node_leaves_the_documents_in_order_for_the_model(place, mode):
    ordered, plain = await with_and_without(place, mode, compiled)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


@each_mode
@each_place(places_of("order_breakers"))
async def test_what_sorts_again_undoes_the_order(place, mode):
    undone, _ = await with_and_without(place, mode, answering)

    assert undone != sorted(undone)
