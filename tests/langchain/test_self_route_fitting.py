"""In real applications: pipes, graphs, agents, histories, configuration, tracing."""

import copy
import pickle
from operator import itemgetter
from typing import Any, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import (
    ConfigurableField,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.graph import END, START, StateGraph

from langchain_oprag import OrderPreservingRetriever, SelfRouteChain
from tests.langchain.compat import create_agent, create_history_aware_retriever
from tests.langchain.corpus import ListRetriever, RecordingStore, words
from tests.langchain.routes import (
    BOOK,
    QUESTION,
    REFUSAL,
    RETRIEVED,
    WAYS,
    ask,
    chain_of,
    chat_model,
    deltas,
    sentence,
    summed,
)
from tests.support.openai_server import Reply, ToolCall, scripted_server

pytestmark = pytest.mark.slow

__all__ = ["scripted_server"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch", "abatch"])
async def test_in_the_middle_of_a_pipe(scripted_server, way):
    server = scripted_server([REFUSAL, "In 1912."])
    pipe = (
        RunnableLambda(lambda question: {"input": question})
        | chain_of(server)
        | itemgetter("answer")
        | RunnableLambda(str.upper)
    )

    assert await ask(pipe, way=way) == "IN 1912."


@pytest.mark.parametrize("awaited", [False, True])
async def test_a_pipe_streams_through_it(scripted_server, awaited):
    server = scripted_server([Reply(deltas=["Ann ", "did."])])
    pipe = RunnablePassthrough() | chain_of(server).pick("answer")

    if awaited:
        pieces = [piece async for piece in pipe.astream(QUESTION)]
    else:
        pieces = list(pipe.stream(QUESTION))

    assert pieces == ["Ann ", "did."]


async def test_it_takes_an_input_that_is_streamed_itself(scripted_server):
    server = scripted_server(["In 1912."] * 4)
    question = FakeListChatModel(responses=["When?"]) | StrOutputParser()
    as_mapping = RunnableParallel(input=question)

    for before in (question, as_mapping):
        chain = before | chain_of(server)
        assert summed(list(chain.stream("")))["input"] == "When?"
        assert summed([p async for p in chain.astream("")])["input"] == "When?"


def test_of_pieces_that_do_not_add_up_the_last_is_taken(scripted_server):
    server = scripted_server(["In 1912."])
    pieces = iter([{"input": "Whe"}, {"input": "When?"}])

    assert summed(list(chain_of(server).transform(pieces)))["input"] == "When?"


class State(TypedDict):
    input: str
    chat_history: list[Any]
    answer: str
    context: list[Any]
    route: dict[str, Any]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_as_a_node_of_a_graph(scripted_server, way):
    server = scripted_server([REFUSAL, "In 1912."])
    builder = StateGraph(State)
    builder.add_node("read", chain_of(server))
    builder.add_edge(START, "read")
    builder.add_edge("read", END)
    graph = builder.compile()

    given = {"input": QUESTION, "chat_history": [HumanMessage("Hello.")]}
    state = await ask(graph, given, way)

    assert state["answer"] == "In 1912."
    assert state["route"] == {"rung": "full", "answered": True}
    assert state["chat_history"] == given["chat_history"]
    assert "Hello." in server.requests[1].prompt


async def test_a_graph_streams_its_tokens(scripted_server):
    server = scripted_server(["In 1912."])
    builder = StateGraph(State)
    builder.add_node("read", chain_of(server))
    builder.add_edge(START, "read")
    graph = builder.compile()

    chunks = [
        chunk.content
        async for chunk, _ in graph.astream({"input": QUESTION}, stream_mode="messages")
    ]

    assert "".join(chunks) == "In 1912."


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_as_a_tool_of_an_agent(scripted_server, way):
    agents = scripted_server(
        [
            Reply(tool_calls=[ToolCall("ask_book", {"question": QUESTION})]),
            "It was built in 1912.",
        ]
    )
    ours = scripted_server([REFUSAL, "In 1912."])
    tool = chain_of(ours).as_tool(name="ask_book", description="Knows the book.")
    agent = create_agent(chat_model(agents), tools=[tool])

    result = await ask(agent, {"messages": [("user", "When?")]}, way)

    (message,) = [m for m in result["messages"] if isinstance(m, ToolMessage)]
    assert message.content == "In 1912."
    assert message.artifact["route"] == {"rung": "full", "answered": True}
    assert message.artifact["sources"][0]["doc_uri"] == "book.txt"
    described = agents.requests[0].body["tools"][0]["function"]
    assert described["name"] == "ask_book"
    assert described["description"] == "Knows the book."
    assert list(described["parameters"]["properties"]) == ["question"]


def test_a_tool_has_no_other_schema(scripted_server):
    with pytest.raises(ValueError, match="schema"):
        chain_of(scripted_server([])).as_tool(arg_types={"input": str})


async def test_a_history_aware_retriever_is_given_the_conversation(scripted_server):
    server = scripted_server(["When was it built?", "In 1912."])
    retriever = ListRetriever(documents=list(RETRIEVED))
    prompt = ChatPromptTemplate.from_messages(
        [("placeholder", "{chat_history}"), ("human", "Rephrase: {input}")]
    )
    aware = create_history_aware_retriever(chat_model(server), retriever, prompt)
    chain = chain_of(server, retriever=aware, retriever_input="mapping")

    history = [("human", "Who built the bridge?"), ("ai", "Ann.")]
    result = await ask(chain, {"input": "And when?", "chat_history": history})

    assert retriever.queries == ["When was it built?"]
    assert result["answer"] == "In 1912."


# LangChain 1.x calls these classes deprecated; applications still use them.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_a_history_that_langchain_keeps(scripted_server):
    server = scripted_server(["Ann.", "In 1912."])
    history = InMemoryChatMessageHistory()
    chain = RunnableWithMessageHistory(
        chain_of(server),
        lambda session_id: history,
        input_messages_key="input",
        history_messages_key="chat_history",
        output_messages_key="answer",
    )
    config = {"session_id": "one"}

    await ask(chain, {"input": "Who built it?"}, configurable=config)
    await ask(chain, {"input": "When?"}, configurable=config)

    told = "User: Who built it?\nAssistant: Ann.\nUser: When?"
    assert told in server.requests[1].prompt
    assert [m.content for m in history.messages] == [
        "Who built it?",
        "Ann.",
        "When?",
        "In 1912.",
    ]


class Runs(BaseCallbackHandler):
    """Remembers the runs by name, with their parents, tags and metadata."""

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []

    def _start(self, kind, run_id, parent_run_id, tags, metadata, **kwargs):
        run = {"kind": kind, "id": run_id, "parent": parent_run_id, "tags": tags}
        self.started.append({**run, "metadata": metadata, "name": kwargs.get("name")})

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **more):
        more = {"tags": None, "metadata": None, **more}
        self._start("chain", run_id, parent_run_id, **more)

    def on_chat_model_start(
        self, serialized, messages, *, run_id, parent_run_id=None, **more
    ):
        more = {"tags": None, "metadata": None, **more}
        self._start("model", run_id, parent_run_id, **more)

    def on_retriever_start(
        self, serialized, query, *, run_id, parent_run_id=None, **more
    ):
        more = {"tags": None, "metadata": None, **more}
        self._start("retriever", run_id, parent_run_id, **more)


@pytest.mark.parametrize("way", WAYS)
async def test_every_call_is_a_child_of_ours_with_its_config(scripted_server, way):
    server = scripted_server([REFUSAL, "In 1912."])
    runs = Runs()

    await ask(
        chain_of(server),
        way=way,
        callbacks=[runs],
        tags=["call"],
        metadata={"user": "u"},
        run_name="mine",
    )

    ours, *inner = runs.started
    assert ours["name"] == "mine"
    assert [run["kind"] for run in inner] == ["retriever", "model", "model"]
    for run in inner:
        assert run["parent"] == ours["id"]
        assert "call" in run["tags"]
        assert run["metadata"]["user"] == "u"
    assert "rung:retrieved" in inner[1]["tags"]
    assert "rung:full" in inner[2]["tags"]


async def test_the_retriever_and_the_model_are_configured_through_it(scripted_server):
    server = scripted_server(["In 1912."])
    store = RecordingStore([sentence(number) for number in range(60)])
    retriever = store.as_retriever().configurable_fields(
        search_kwargs=ConfigurableField("search_kwargs")
    )
    model = chat_model(server).configurable_fields(
        model_name=ConfigurableField("model")
    )
    chain = chain_of(server, retriever=retriever, llm=model)

    await ask(chain, configurable={"search_kwargs": {"k": 7}, "model": "other"})

    assert [spec.id for spec in chain.config_specs] == ["model", "search_kwargs"]
    assert store.asked == [{"k": 7}]
    assert server.requests[0].body["model"] == "other"


async def test_an_option_of_its_own_can_be_configured(scripted_server):
    server = scripted_server(["In 1912."])
    found = [sentence(31), sentence(5)]
    chain = chain_of(server, found=found).configurable_fields(
        order=ConfigurableField("order")
    )

    await ask(chain, configurable={"order": "score"})

    assert "[Chunk " in server.requests[0].prompt


def offline_chain(**options) -> SelfRouteChain:
    settings = {
        "llm": FakeListChatModel(responses=["unanswerable", "In 1912."]),
        "retriever": ListRetriever(documents=list(RETRIEVED)),
        "documents": {"book.txt": BOOK},
    }
    return SelfRouteChain(**{**settings, **options})


def test_it_can_be_copied_and_pickled_before_and_after_use():
    chain = offline_chain(token_counter=words)
    for _ in range(2):
        data = pickle.dumps(chain)
        for twin in (pickle.loads(data), copy.deepcopy(chain)):  # noqa: S301 -- ours
            assert twin.invoke(QUESTION)["answer"] == "In 1912."
        chain.invoke(QUESTION)


def test_inputs_are_not_written_to():
    documents = [document.model_copy(deep=True) for document in RETRIEVED]
    given = {"input": QUESTION, "chat_history": [("human", "Hello.")], "other": 1}
    before = copy.deepcopy(given)
    chain = offline_chain(retriever=ListRetriever(documents=documents))

    result = chain.invoke(given)

    assert documents == RETRIEVED
    assert given == before
    assert list(result) == ["input", "context", "answer", "route", "usage"]


def test_a_completion_model_serves_as_well():
    from langchain_core.language_models import FakeListLLM

    chain = offline_chain(llm=FakeListLLM(responses=["unanswerable", "In 1912."]))

    result = chain.invoke(QUESTION)

    assert result["answer"] == "In 1912."
    assert result["usage"]["estimated"] is True
    assert "".join(deltas(list(chain.stream(QUESTION)))) == "In 1912."


def test_it_follows_an_order_preserving_retriever(scripted_server):
    server = scripted_server(["In 1912."])
    store = InMemoryVectorStore(RecordingStore().embeddings)
    store.add_documents([sentence(number) for number in range(60)])
    retriever = OrderPreservingRetriever(vectorstore=store, k=4)

    result = chain_of(server, retriever=retriever).invoke(QUESTION)

    starts = [document.metadata["start_index"] for document in result["context"]]
    assert len(starts) == 4
    assert starts == sorted(starts)
