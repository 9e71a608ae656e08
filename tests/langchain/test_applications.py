"""What applications do with a retriever: chains, tools, several queries, sorting."""

import json
import pickle
import re
import timeit
from operator import itemgetter
from typing import Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langgraph.graph import END, START, StateGraph

from langchain_oprag import OrderPreservingCompressor, OrderPreservingRetriever
from tests.langchain.compat import (
    ContextualCompressionRetriever,
    ConversationalRetrievalChain,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
    RetrievalQA,
    create_agent,
    create_history_aware_retriever,
    create_retrieval_chain,
    create_stuff_documents_chain,
)
from tests.langchain.corpus import (
    QUERY,
    ListRetriever,
    RecordingStore,
    book,
    chunk,
    numbers,
    words,
)
from tests.langchain.recording import RecordingChatModel

PROMPT = ChatPromptTemplate.from_template("{context}\n\nQuestion: {input}")


@pytest.fixture
def store():
    return RecordingStore(book(40))


@pytest.fixture
def retriever(store):
    return OrderPreservingRetriever(vectorstore=store, k=6)


@pytest.fixture
def best(store):
    """The six chunks that are to be read, in the order of the book."""
    ranked = numbers(store.similarity_search(QUERY, k=6))
    assert ranked != sorted(ranked)
    return sorted(ranked)


def read(text: str) -> list[int]:
    """Numbers of the chunks in a text, as they follow one another."""
    return [int(number) for number in re.findall(r"chunk (\d+) says", text)]


# Chains, tools, agents, graphs: what the model is sent


def test_a_retrieval_chain(retriever, best):
    model = RecordingChatModel()
    chain = create_retrieval_chain(
        retriever, create_stuff_documents_chain(model, PROMPT)
    )

    result = chain.invoke({"input": QUERY})

    assert read(model.sent) == numbers(result["context"]) == best


async def test_a_retrieval_chain_that_is_awaited(retriever, best):
    model = RecordingChatModel()
    chain = create_retrieval_chain(
        retriever, create_stuff_documents_chain(model, PROMPT)
    )

    await chain.ainvoke({"input": QUERY})

    assert read(model.sent) == best


def test_a_chain_with_a_document_prompt_of_its_own_also_when_merged(store):
    retriever = OrderPreservingRetriever(vectorstore=store, k=30, merge=True)
    model = RecordingChatModel()
    stuff = create_stuff_documents_chain(
        model,
        PROMPT,
        document_prompt=PromptTemplate.from_template("{source}: {page_content}"),
    )

    create_retrieval_chain(retriever, stuff).invoke({"input": QUERY})

    assert len(read(model.sent)) == 30
    assert read(model.sent) == sorted(read(model.sent))
    assert model.sent.count("book.txt: ") < 30


def test_a_history_aware_retriever(retriever, best):
    model = RecordingChatModel(replies=[AIMessage(QUERY)])
    aware = create_history_aware_retriever(model, retriever, PROMPT)
    history = {"input": "and then?", "chat_history": ["earlier"], "context": ""}

    assert numbers(aware.invoke(history)) == best


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("chain", [RetrievalQA, ConversationalRetrievalChain])
def test_the_older_chains(chain, retriever, best):
    model = RecordingChatModel()
    if chain is RetrievalQA:
        RetrievalQA.from_chain_type(model, retriever=retriever).invoke(QUERY)
    else:
        ConversationalRetrievalChain.from_llm(model, retriever=retriever).invoke(
            {"question": QUERY, "chat_history": []}
        )

    assert read(model.sent) == best


def test_a_chain_in_langchains_expression_language(retriever, best):
    model = RecordingChatModel()

    def joined(documents: list[Document]) -> str:
        return "\n\n".join(document.page_content for document in documents)

    chain = {"context": retriever | joined, "input": RunnablePassthrough()} | PROMPT
    (chain | model).invoke(QUERY)

    assert read(model.sent) == best


def test_a_tool(retriever, best):
    tool = create_retriever_tool(
        retriever, "search", "Searches.", response_format="content_and_artifact"
    )
    call = {"name": "search", "args": {"query": QUERY}, "id": "1", "type": "tool_call"}

    message = tool.invoke(call)

    assert read(message.content) == numbers(message.artifact) == best


def test_an_agent(retriever, best):
    call = {"name": "search", "args": {"query": QUERY}, "id": "1"}
    model = RecordingChatModel(
        replies=[AIMessage("", tool_calls=[call]), AIMessage("x")]
    )
    agent = create_agent(
        model, tools=[create_retriever_tool(retriever, "search", "Searches.")]
    )

    agent.invoke({"messages": [{"role": "user", "content": QUERY}]})

    assert read(model.sent) == best


class State(TypedDict):
    question: str
    context: list[Document]


def test_a_node_of_a_graph(retriever, best):
    def retrieve(state: State, config: RunnableConfig) -> dict[str, Any]:
        return {"context": retriever.invoke(state["question"], config)}

    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", END)

    result = graph.compile().invoke({"question": QUERY})

    assert numbers(result["context"]) == best


# Select first, order last


def test_an_application_that_cuts_the_list_itself_gets_a_list_that_is_short_enough():
    """Keeping the first two of an ordered list would lose the best chunk, 9."""
    ranked = [chunk(number) for number in (9, 4, 1, 2)]

    assert numbers(OrderPreservingCompressor(top_n=2)(ranked)[:2]) == [4, 9]
    assert numbers(OrderPreservingCompressor()(ranked)[:2]) == [1, 2]


def test_one_that_pops_while_it_is_too_long_gets_what_fits():
    """While more than 8 words: pop the last. Two chunks of 4 words remain."""
    ranked = [chunk(number) for number in (1, 9, 4, 2)]
    compressor = OrderPreservingCompressor(
        token_budget=8, token_counter=words, separator=" "
    )

    documents = compressor(ranked)
    while sum(words(document.page_content) for document in documents) > 8:
        documents.pop()

    assert numbers(documents) == [1, 9]


# Position and identity anywhere


class Paragraph(Document):
    """An application's own document."""

    abs_idx: int
    work: str


@pytest.mark.parametrize(
    "options",
    [
        {"position_keys": "abs_idx", "document_key": "work"},
        {"position_keys": lambda d: d.abs_idx, "document_key": lambda d: d.work},
        {"position_keys": ["nested.place"], "document_key": ["nested.name"]},
    ],
    ids=["attributes", "callables", "paths"],
)
def test_position_and_identity_are_found_where_the_application_keeps_them(options):
    ranked = [
        Paragraph(
            f"chunk {number} says",
            abs_idx=number,
            work="w",
            metadata={"nested": {"place": number, "name": "w"}, "flat": number},
        )
        for number in (10, 9, 1)
    ]

    result = OrderPreservingCompressor(**options)(ranked)

    assert [document.abs_idx for document in result] == [1, 9, 10]
    assert all(type(document) is Paragraph for document in result)


def test_pages_of_a_pdf_with_ids_of_their_own():
    ranked = [
        chunk(1, "a.pdf", page=1, doc_id="x"),
        chunk(0, "a.pdf", page=1, doc_id="x"),
        chunk(2, "a.pdf", page=0, doc_id="y"),
    ]

    result = OrderPreservingCompressor()(ranked)

    places = [
        (d.metadata["page"], n) for d, n in zip(result, numbers(result), strict=True)
    ]
    assert places == [(0, 2), (1, 0), (1, 1)]


# Several queries


class TwoAnswers(BaseRetriever):
    """Answers the first query and every other one differently."""

    def _get_relevant_documents(self, query, *, run_manager):
        return [chunk(n) for n in ((5, 9, 1) if query == QUERY else (9, 2))]


def test_several_queries_of_one_retriever():
    model = RecordingChatModel(replies=[AIMessage("another way to ask")])
    several = MultiQueryRetriever.from_llm(
        TwoAnswers(), llm=model, include_original=True
    )

    result = OrderPreservingRetriever(base_retriever=several).invoke(QUERY)

    assert numbers(result) == [1, 2, 5, 9]


@pytest.mark.parametrize("compound", [EnsembleRetriever, MergerRetriever])
def test_several_retrievers(compound):
    lists = [
        ListRetriever(documents=[chunk(n) for n in ranked])
        for ranked in ((5, 9, 1), (9, 2))
    ]

    result = OrderPreservingRetriever(base_retriever=compound(retrievers=lists)).invoke(
        QUERY
    )

    assert numbers(result) == [1, 2, 5, 9]


async def test_results_of_several_queries_put_together_by_the_application():
    """Without a query, and again on its own result."""
    together = [chunk(5), chunk(9), chunk(1), chunk(9), chunk(2)]
    compressor = OrderPreservingCompressor()

    once = compressor.transform_documents(together)

    assert numbers(once) == [1, 2, 5, 9]
    assert compressor.transform_documents(once) == once
    assert await compressor.atransform_documents(documents=once) == once


def test_a_retriever_around_an_ordered_one_changes_nothing(retriever, best):
    again = OrderPreservingRetriever(base_retriever=retriever)

    assert numbers(again.invoke(QUERY)) == best


# Passing through


async def test_the_applications_indexer_uses_the_same_object():
    retriever = OrderPreservingRetriever(vectorstore=RecordingStore(), k=5)

    class Indexer:
        """Knows a retriever only."""

        def __init__(self, retriever: Any) -> None:
            self.retriever = retriever

        async def index(self) -> None:
            self.retriever.add_documents([chunk(4)])
            await self.retriever.aadd_documents([chunk(3)])
            self.retriever.vectorstore.add_documents([chunk(2)])

    await Indexer(retriever).index()

    assert numbers(await retriever.ainvoke(QUERY)) == [2, 3, 4]


def test_a_compression_retriever_may_wrap_it(retriever, best):
    compressed = ContextualCompressionRetriever(
        base_compressor=OrderPreservingCompressor(), base_retriever=retriever
    )

    assert numbers(compressed.invoke(QUERY)) == best


# Configuration


def test_a_component_can_be_named_in_a_file():
    registry = {"order": OrderPreservingCompressor}
    line = (
        '{"class": "order", "top_n": 2, "merge": false, "token_counter": "cl100k_base"}'
    )
    options = json.loads(line)

    component = registry[options.pop("class")](**options)

    assert numbers(component([chunk(9), chunk(4), chunk(1)])) == [4, 9]


def test_a_component_needs_no_argument_and_can_be_made_for_every_request():
    runs = timeit.repeat(OrderPreservingCompressor, number=100, repeat=5)

    assert min(runs) / 100 < 0.001


def test_components_can_be_sent_to_another_process(retriever):
    compressor = OrderPreservingCompressor(top_n=2)
    base = ListRetriever(documents=[chunk(9), chunk(4), chunk(1)])
    wrapper = OrderPreservingRetriever(base_retriever=base, k=2)

    for component in (compressor, wrapper):
        again = pickle.loads(pickle.dumps(component))  # noqa: S301 -- ours
        assert again == component


def test_fields_are_picked_as_from_every_runnable(retriever, best):
    chain = itemgetter("question") | retriever

    assert numbers(chain.invoke({"question": QUERY})) == best
