"""In a node of a LangGraph graph."""

from langchain_core.runnables import RunnableLambda
from langgraph.graph import START

from tests.langchain.places.ingredients import OTHER_QUERIES
from tests.langchain.places.registry import places_of
from tests.langchain.places.running import (
    Application,
    each_mode,
    each_place,
    with_and_without,
)


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
            graph.add_node(name, lambda _, query=query: _found(retriever, query))
            graph.add_edge(START, name)
        graph.add_edge(list(queries), "context")
    else:
        graph.add_edge(START, "context")
    return Application(graph.compile(), {"question": question})


def _found(retriever, query):
    return {"found": retriever.invoke(query)}


@each_mode
@each_place(places_of("graphs"))
async def test_the_node_leaves_the_documents_in_order_for_the_model(place, mode):
    ordered, plain = await with_and_without(place, mode, compiled)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)
