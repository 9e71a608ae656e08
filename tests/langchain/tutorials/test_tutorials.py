"""What the model reads in each tutorial, without the line that changes and with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import (
    EvidenceMiddleware,
    OrderPreservingCompressor,
    OrderPreservingVectorStore,
    create_retrieval_tool,
)
from oprag.errors import PositionError
from tests.langchain.corpus import EMBEDDING, starts
from tests.langchain.tutorials import agents, graphs, ways_to_search
from tests.langchain.tutorials.model import (
    ANSWER,
    INPUT,
    OTHER_QUESTION,
    QUESTION,
    Script,
    ScriptedModel,
    answering,
    calling,
    searching,
)
from tests.langchain.tutorials.ways_to_search import Last
from tests.support.marked_text import MARK, TEXT, inverted_pairs, marks


@pytest.fixture
def store() -> VectorStore:
    """Their splitter, with overlap; vectors that say nothing of the order."""
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=250,
        chunk_overlap=70,
        separators=["\n\n", " ["],
        add_start_index=True,
    )
    source = Document(TEXT, metadata={"source": "lease.md"})
    chunks = splitter.split_documents([source])
    for chunk in chunks:
        chunk.metadata["third"] = chunk.metadata["start_index"] * 3 // len(TEXT)
    found = InMemoryVectorStore(EMBEDDING)
    found.add_documents(chunks)
    return found


class Tutorial(NamedTuple):
    """A pattern without the line and with it, and what the model says."""

    before: Callable[[VectorStore], Any]
    after: Callable[[VectorStore], Any]
    script: Script


def with_store(build: Callable[[VectorStore], Any], script: Script) -> Tutorial:
    """`vector_store = OrderPreservingVectorStore(vector_store)`."""
    return Tutorial(build, lambda s: build(OrderPreservingVectorStore(s)), script)


def with_last(build: Callable[[VectorStore, Last], Any]) -> Tutorial:
    """`documents = OrderPreservingCompressor()(documents)`."""
    last = OrderPreservingCompressor()
    return Tutorial(lambda s: build(s, list), lambda s: build(s, last), searching)


def with_tool(build: Callable[[VectorStore], Any]) -> Tutorial:
    """`retrieve = create_retrieval_tool(vector_store, k=4, name="retrieve")`."""
    return Tutorial(
        build,
        lambda s: (
            lambda model: agents.agent(
                model, create_retrieval_tool(s, k=4, name="retrieve")
            )
        ),
        searching,
    )


TUTORIALS = {
    "RAG agent": with_store(agents.rag_agent, searching),
    "RAG agent, awaited tool": with_store(
        agents.rag_agent_with_an_awaited_tool, searching
    ),
    "RAG agent, our tool": with_tool(agents.rag_agent),
    "RAG chain": with_store(agents.rag_chain, answering),
    "RAG chain, sources kept": with_store(
        agents.rag_chain_that_keeps_its_sources, answering
    ),
    "filtered": with_store(ways_to_search.filtered, searching),
    "filtered by the model": with_store(
        ways_to_search.filtered_as_the_model_says, searching
    ),
    "diverse": with_store(ways_to_search.diverse, searching),
    "transformed": with_last(ways_to_search.transformed),
    "hybrid": with_last(ways_to_search.hybrid),
    "reranked": with_last(ways_to_search.reranked),
    "Deep Agents": with_store(graphs.deep_agent, graphs.delegating),
    "LangGraph": with_store(graphs.langgraph_agent, graphs.rewriting_once),
}

each_tutorial = pytest.mark.parametrize("tutorial", TUTORIALS.values(), ids=TUTORIALS)
each_mode = pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream", "astream"])


async def prompts(build: Any, script: Script, mode: str) -> list[str]:
    """Run an application; what its model was sent, call by call."""
    model = ScriptedModel(script=script)
    app = build(model)
    if mode == "invoke":
        app.invoke(INPUT)
    elif mode == "ainvoke":
        await app.ainvoke(INPUT)
    elif mode == "stream":
        list(app.stream(INPUT, stream_mode="messages"))
    else:
        [each async for each in app.astream(INPUT, stream_mode="messages")]
    return ["\n".join(message.text for message in call) for call in model.calls]


@each_mode
@each_tutorial
async def test_one_changed_line_puts_what_the_model_reads_in_order(
    tutorial, mode, store
):
    before = await prompts(tutorial.before(store), tutorial.script, mode)
    after = await prompts(tutorial.after(store), tutorial.script, mode)

    assert inverted_pairs(before) > 0
    assert inverted_pairs(after) == 0
    assert set(marks(after[-1])) == set(marks(before[-1]))


def test_a_section_that_the_page_adds_to_chunks_takes_one_option_more(store):
    """Splitters that write it often count within it; here it was added afterwards."""
    chunks = store.similarity_search("", k=1_000)
    for chunk in chunks:
        third = chunk.metadata["start_index"] * 3 // len(TEXT)
        chunk.metadata["section"] = ("beginning", "middle", "end")[third]
    sectioned = InMemoryVectorStore(EMBEDDING)
    sectioned.add_documents(chunks)

    with pytest.raises(PositionError, match="position_keys='start_index'"):
        OrderPreservingVectorStore(sectioned).similarity_search(QUESTION)
    told = OrderPreservingVectorStore(sectioned, position_keys="start_index")
    found = starts(told.similarity_search(QUESTION))
    assert found == sorted(found)


def test_a_deep_agent_that_searches_twice_reads_each_sentence_once(store):
    deepagents = pytest.importorskip("deepagents", reason=graphs.NO_DEEPAGENTS)
    search = create_retrieval_tool(store, token_budget=400, name="retrieve")

    def searching_twice(messages: list[BaseMessage]) -> AIMessage:
        query = next(queries, None)
        return calling("retrieve", query=query) if query else ANSWER

    read = {}
    for middleware in ((), (EvidenceMiddleware(),)):
        queries = iter((QUESTION, OTHER_QUESTION))
        model = ScriptedModel(script=searching_twice)
        agent = deepagents.create_deep_agent(
            model, tools=[search], middleware=middleware
        )
        agent.invoke(INPUT)
        read[bool(middleware)] = MARK.findall(model.sent)

    assert len(read[False]) > len(set(read[False]))
    assert len(read[True]) == len(set(read[True]))
    assert set(read[True]) == set(read[False])
