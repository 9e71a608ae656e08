"""In LangGraph, as a node and as a tool: the answer once, and nothing of a refusal."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from typing_extensions import TypedDict

from langchain_oprag import SelfRouteChain
from tests.kit.words import words
from tests.langchain.corpus import ListRetriever
from tests.langchain.recording import StreamingChatModel
from tests.langchain.routes import BOOK, QUESTION, REFUSAL, RETRIEVED

ANSWER = "It was built in 1912. That was Ann. Of stone, like the old one."
MODES = ["messages", "updates", "custom"]


def streaming_model(*replies: str | AIMessage) -> StreamingChatModel:
    return StreamingChatModel(
        replies=[AIMessage(r) if isinstance(r, str) else r for r in replies]
    )


def chain_over(
    *replies: str | AIMessage, wrap=lambda model: model, **options
) -> SelfRouteChain:
    settings = {
        "llm": wrap(streaming_model(*replies)),
        "retriever": ListRetriever(documents=list(RETRIEVED)),
        "documents": {"book.txt": BOOK},
        "token_counter": words,
    }
    return SelfRouteChain(**{**settings, **options})


class Asked(TypedDict, total=False):
    input: str
    answer: str
    route: dict[str, Any]


def graph_with(node: Any, state: Any = Asked, **options: Any) -> Any:
    graph = StateGraph(state)
    graph.add_node("answer", node)
    graph.add_edge(START, "answer")
    return graph.compile(**options)


async def parts_of(graph: Any, given: Any, way: str, **config: Any) -> list:
    """The stream of a graph, in the one way and the other."""
    settings = {"stream_mode": MODES, "config": config}
    if way == "stream":
        return list(graph.stream(given, **settings))
    return [part async for part in graph.astream(given, **settings)]


def shown(parts: list, node: str = "answer") -> list[str]:
    """The texts of `messages` mode that are from a node."""
    return [
        message.content
        for mode, (message, about) in (p for p in parts if p[0] == "messages")
        if about["langgraph_node"] == node
    ]


CALL = {"name": "decline", "args": {}, "id": "1", "type": "tool_call"}
both_rules = pytest.mark.parametrize(
    ("decline", "refusal"),
    [("word", REFUSAL), ("tool", AIMessage("", tool_calls=[CALL]))],
    ids=["word", "tool"],
)
both_ways = pytest.mark.parametrize("way", ["stream", "astream"])
every_model = pytest.mark.parametrize(
    "wrap",
    [
        lambda model: model,
        lambda model: model.bind(stop=["\n\n"]),
        lambda model: model.with_config(tags=["mine"]),
        lambda model: model.with_retry(),
        lambda model: model.with_fallbacks([model]),
        lambda model: RunnableLambda(lambda messages: messages) | model,
        lambda model: model.configurable_alternatives(ConfigurableField("llm")),
    ],
    ids=["bare", "bind", "config", "retry", "fallbacks", "sequence", "configurable"],
)


@both_ways
@every_model
@both_rules
async def test_a_node_shows_the_answer_once_and_no_refusal(way, wrap, decline, refusal):
    graph = graph_with(chain_over(refusal, ANSWER, wrap=wrap, decline=decline))

    parts = await parts_of(graph, {"input": QUESTION}, way)

    assert "".join(shown(parts)) == ANSWER
    assert len(shown(parts)) > 3  # as it is written, not in one piece
    updates = [part for mode, part in parts if mode == "updates"]
    assert [update["answer"]["answer"] for update in updates] == [ANSWER]
    assert [part for mode, part in parts if mode == "custom"] == []
    assert "nanswerable" not in str(parts)


def text_of_events(events: list[dict[str, Any]]) -> list[str]:
    return [
        event["data"]["chunk"].content
        for event in events
        if event["event"] == "on_chat_model_stream"
    ]


@every_model
@both_rules
@pytest.mark.parametrize("in_a_graph", [False, True])
async def test_events_show_the_answer_once_and_no_refusal(
    wrap, in_a_graph, decline, refusal
):
    chain = chain_over(refusal, ANSWER, wrap=wrap, decline=decline)
    runnable = graph_with(chain) if in_a_graph else chain

    stream = runnable.astream_events({"input": QUESTION}, version="v2")
    events = [event async for event in stream]

    assert "".join(text_of_events(events)) == ANSWER
    assert len(text_of_events(events)) > 3
    ends = [e["data"]["output"] for e in events if e["event"] == "on_chat_model_end"]
    assert [message.content for message in ends] == [ANSWER]
    streams = [e for e in events if e["event"] == "on_chain_stream"]
    pieces = [e["data"]["chunk"] for e in streams if e["name"] == "SelfRouteChain"]
    assert "".join(p.get("answer", "") for p in pieces) == ANSWER
    assert "nanswerable" not in str(events)


class Heard(BaseCallbackHandler):
    """The events of any other callback."""

    def __init__(self) -> None:
        self.replies: list[str] = []

    def on_llm_end(self, response, **kwargs):
        self.replies.append(response.generations[0][0].text)


@both_ways
async def test_other_callbacks_hear_every_call_of_the_model_and_no_other(way):
    heard = Heard()
    graph = graph_with(chain_over(REFUSAL, ANSWER))

    await parts_of(graph, {"input": QUESTION}, way, callbacks=[heard])

    assert heard.replies == [REFUSAL, ANSWER]


@both_ways
async def test_the_answer_is_a_message_of_the_state(way):
    graph = graph_with(chain_over(REFUSAL, ANSWER), MessagesState)

    parts = await parts_of(graph, {"messages": [("user", QUESTION)]}, way)

    assert "".join(shown(parts)) == ANSWER
    (update,) = [part["answer"] for mode, part in parts if mode == "updates"]
    (message,) = update["messages"]
    assert isinstance(message, AIMessage)
    assert message.content == ANSWER
    assert message.response_metadata == {"route": {"step": "full", "answered": True}}
    tokens = message.usage_metadata
    assert tokens["output_tokens"] == words(REFUSAL) + words(ANSWER)
    total = tokens["input_tokens"] + tokens["output_tokens"]
    assert total == tokens["total_tokens"] > words(BOOK)


def test_the_last_message_of_the_user_is_the_question():
    model = streaming_model(ANSWER)
    chain = chain_over(llm=model)
    asked = {"name": "look", "args": {}, "id": "1", "type": "tool_call"}
    messages = [
        {"role": "user", "content": "Who repairs the roof?"},
        AIMessage("I look.", tool_calls=[asked]),
        ToolMessage("Nothing found.", tool_call_id="1"),
        AIMessage("The landlord."),
        ("user", QUESTION),
        AIMessage("", tool_calls=[asked]),
        ToolMessage("Over to you.", tool_call_id="1"),
    ]

    result = chain.invoke({"messages": messages})

    assert result["input"] == QUESTION
    assert model.sent.endswith(
        "User: Who repairs the roof?\nAssistant: The landlord.\n"
        f"User: {QUESTION}\nAnswer:"
    )
    assert "Nothing found." not in model.sent
