"""Agents inside other graphs: each number keeps its passage, wherever it was read."""

from itertools import count

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_oprag import EvidenceMiddleware, EvidenceState, cited
from oprag import place_of
from oprag.errors import InvalidOptionError
from tests.langchain.compat import create_agent, needs_1x
from tests.langchain.recording import RecordingChatModel
from tests.langchain.searching_agents import (
    QUESTION,
    THREAD,
    agent,
    check,
    check_numbers,
    scripted,
    searching,
)

pytestmark = needs_1x


class State(MessagesState, EvidenceState):
    """The state of a graph around agents."""


def numbers_read(models, known=None):
    """The passages under the numbers that models read: no number means two."""
    known = {} if known is None else known
    for model in models:
        for number, passage in check(*model.calls).numbers.items():
            assert known.setdefault(number, passage) == passage
    return known


def graph_of(agents, *, side_by_side=False, state=State):
    graph = StateGraph(state)
    before = [START]
    for number, each in enumerate(agents):
        name = f"agent {number}"
        graph.add_node(name, each)
        graph.add_edge(START if side_by_side else before[-1], name)
        before.append(name)
    for name in before[1:] if side_by_side else before[-1:]:
        graph.add_edge(name, END)
    return graph


@pytest.mark.parametrize("wrapped", [False, True], ids=["node", "function"])
def test_an_agent_in_a_graph_numbers_on_after_messages_were_removed(wrapped):
    ids, known = count(), {}
    models = [scripted(2, 1, ids=ids) for _ in range(3)]
    saver = InMemorySaver()
    for number, model in enumerate(models):
        inner = agent(model, search=searching("langchain"))

        def node(state, inner=inner):
            return inner.invoke(state)

        app = graph_of([node if wrapped else inner]).compile(checkpointer=saver)
        state = app.invoke(QUESTION, THREAD)
        numbers_read([model], known)
        if number == 0:
            check_numbers(state, check(*model.calls))
        gone = [RemoveMessage(each.id) for each in state["messages"][:-1]]
        app.update_state(THREAD, {"messages": gone}, as_node="agent 0")

    found = cited(app.get_state(THREAD).values)
    assert {*known} == {*found}
    for number, (name, _) in known.items():
        assert place_of(found[number]).document_name == name


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("side_by_side", [False, True], ids=["in turn", "parallel"])
async def test_agents_of_one_graph_give_no_number_twice(side_by_side, mode):
    ids, known = count(), {}
    middleware = [EvidenceMiddleware()]
    app = None
    saver = InMemorySaver()
    for turn in range(2):
        models = [scripted(1, 2, 1, ids=ids) for _ in range(3)]
        agents = [
            agent(model, search=searching("langchain"), middleware=middleware)
            for model in models
        ]
        app = graph_of(agents, side_by_side=side_by_side).compile(checkpointer=saver)
        if mode == "invoke":
            state = app.invoke(QUESTION, THREAD)
        else:
            state = await app.ainvoke(QUESTION, THREAD)
        numbers_read(models, known)
        assert turn or len(known) > 10

    found = cited(state)
    assert {number: text for number, (_, text) in known.items()} == {
        number: found[number].page_content for number in known
    }


@pytest.mark.parametrize("at_once", [1, 2])
def test_an_agent_that_a_tool_calls_goes_on_with_the_numbers_it_is_given(at_once):
    from langchain.tools import ToolRuntime
    from langgraph.types import Command

    inner_models, ids = [], count()

    @tool
    def research(question: str, runtime: ToolRuntime) -> Command:
        """Ask another agent."""
        model = scripted(1, 1, ids=ids)
        inner_models.append(model)
        inner = agent(model, search=searching("langchain"))
        given = {"oprag_numbers": runtime.state.get("oprag_numbers", [])}
        state = inner.invoke({"messages": [HumanMessage(question)], **given})
        said = ToolMessage(
            state["messages"][-1].content, tool_call_id=runtime.tool_call_id
        )
        return Command(
            update={"messages": [said], "oprag_numbers": state["oprag_numbers"]}
        )

    search = searching("langchain")
    calls = [
        {"name": "research", "args": {"question": f"{n}?"}, "id": f"r{n}"}
        for n in range(at_once)
    ]
    (first, *_), ends = scripted(1, ids=ids).replies, AIMessage("answer")
    model = RecordingChatModel(replies=[first, AIMessage("", tool_calls=calls), ends])
    outer = create_agent(
        model, tools=[search, research], middleware=[EvidenceMiddleware()]
    )

    state = outer.invoke(QUESTION)

    known = numbers_read([model, *inner_models])
    assert len(inner_models) == at_once
    assert {*known} == {*cited(state)}
    assert len(known) > 5


def test_messages_carry_numbers_where_a_graph_keeps_none():
    model = scripted(2, 1)
    inner = agent(model, search=searching("langchain"))
    state = graph_of([inner], state=MessagesState).compile().invoke(QUESTION)
    known = numbers_read([model])

    assert "oprag_numbers" not in state
    assert {number: text for number, (_, text) in known.items()} == {
        number: each.page_content for number, each in cited(state).items()
    }
    alone = cited({"messages": state["messages"][-1:]})
    assert {number: place_of(each).citation for number, each in alone.items()} == {
        number: place_of(each).citation for number, each in cited(state).items()
    }


def test_branches_of_a_graph_that_keeps_no_numbers_are_refused():
    """Each begins with 1, and then [1] would mean two passages."""
    ids = count()
    agents = [
        agent(scripted(1, ids=ids), search=searching("langchain")) for _ in range(2)
    ]
    made = graph_of(agents, side_by_side=True, state=MessagesState).compile()
    state = made.invoke(QUESTION)

    with pytest.raises(InvalidOptionError, match="EvidenceState"):
        cited(state)
    third = agent(scripted(1, ids=ids), search=searching("langchain"))
    with pytest.raises(InvalidOptionError, match="EvidenceState"):
        third.invoke(state)


def test_a_number_that_only_an_answer_mentions_is_not_given_again():
    model = scripted(1)
    said = [HumanMessage("And [7]?"), AIMessage("It is so [2, 9].")]
    agent(model, search=searching("langchain")).invoke({"messages": said})

    assert min(check(*model.calls).numbers) == 10


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("at_once", [1, 3])
async def test_an_agent_that_a_tool_calls_numbers_on_by_itself(at_once, mode):
    inner_models, ids = [], count()

    def inner():
        inner_models.append(scripted(1, 1, ids=ids))
        return agent(inner_models[-1], search=searching("langchain"))

    @tool
    def research(question: str) -> str:
        """Ask another agent."""
        return (
            inner().invoke({"messages": [HumanMessage(question)]})["messages"][-1].text
        )

    @tool("research")
    async def aresearch(question: str) -> str:
        """Ask another agent."""
        done = await inner().ainvoke({"messages": [HumanMessage(question)]})
        return done["messages"][-1].text

    calls = [
        {"name": "research", "args": {"question": f"{n}?"}, "id": f"r{n}"}
        for n in range(at_once)
    ]
    (first, *_), (last, *_) = scripted(1, ids=ids).replies, scripted(1, ids=ids).replies
    asked, ends = AIMessage("", tool_calls=calls), AIMessage("answer")
    model = RecordingChatModel(replies=[first, asked, last, ends])
    outer = create_agent(
        model,
        tools=[searching("langchain"), research if mode == "invoke" else aresearch],
        middleware=[EvidenceMiddleware()],
        checkpointer=InMemorySaver(),
    )

    if mode == "invoke":
        state = outer.invoke(QUESTION, THREAD)
    else:
        state = await outer.ainvoke(QUESTION, THREAD)

    known = numbers_read([model, *inner_models])
    assert len(inner_models) == at_once
    assert {*known} == {*cited(state)}
    for number, (name, _) in known.items():
        assert place_of(cited(state)[number]).document_name == name
    before = [s for s in outer.get_state_history(THREAD) if "tools" not in s.next]
    assert any(len(cited(s.values)) > len(check(*model.calls).numbers) for s in before)


def test_branches_that_began_apart_are_refused():
    search, ids = searching("langchain"), count()
    states = [
        agent(scripted(1, ids=ids), search=search).invoke(QUESTION) for _ in range(2)
    ]
    one, other = (state["oprag_numbers"] for state in states)

    with pytest.raises(InvalidOptionError, match="means two passages"):
        graph_of(
            [lambda _: {"oprag_numbers": one}, lambda _: {"oprag_numbers": other}],
            side_by_side=True,
        ).compile().invoke(QUESTION)
