"""Agents that search: each character once, in order, under numbers that hold."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import count, pairwise
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.workflow import Context

from llamaindex_oprag import (
    OrderPreservingPostprocessor,
    OrderPreservingRetriever,
    OrderPreservingRetrieverTool,
    acited,
    cited,
    create_reading_tools,
)
from oprag import place_of
from oprag.errors import InvalidOptionError, UnfilledBudgetWarning
from tests.kit.shown_text import ShownText
from tests.llamaindex.components import Retrieved
from tests.llamaindex.corpus import QUESTION, index
from tests.llamaindex.planned_agents import (
    QUERIES,
    SOURCES,
    Planned,
    Reasoning,
    asks,
    hands_to,
    search,
    searches,
    two_documents,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Skipping serialization of known unserial"),
]


def agent(tool: Any, plan: Any, *, streaming: bool = False) -> FunctionAgent:
    llm = Planned(plan=plan, sent=[])
    return FunctionAgent(tools=[tool], llm=llm, streaming=streaming)


def texts_read(messages: Any) -> list[str]:
    return [message.content for message in messages if message.role == "tool"]


@pytest.mark.parametrize(
    ("kind", "parser"), [(ChatMemoryBuffer, "ours"), (Memory, "llamaindex")]
)
@pytest.mark.parametrize("limit", [100_000, 900], ids=["kept", "forgotten"])
@pytest.mark.parametrize("turns", [[1] * 10, [5, 5]], ids=["in turn", "parallel"])
async def test_a_number_means_what_was_read_under_it(turns, limit, kind, parser):
    tool = search(two_documents(parser).as_retriever())
    memory = kind.from_defaults(token_limit=limit)
    context, shown = None, ShownText(SOURCES)
    for _ in range(2):
        made = agent(tool, searches(*turns), streaming=kind is Memory)
        kept = json.loads(json.dumps(context.to_dict())) if context else None
        context = Context.from_dict(made, kept) if kept else Context(made)
        response = await made.run("?", ctx=context, memory=memory)
        for prompt in made.llm.sent:
            shown.read(*texts_read(prompt))

    found = await acited(context, response)

    assert {*shown.numbers} == {*found} == {*range(1, len(found) + 1)}
    assert len(found) > 10
    for number, meant in shown.numbers.items():
        place = place_of(found[number])
        spans = [SOURCES[place.document_name][a:b] for a, b in place.spans]
        assert meant == (place.document_name, "\n".join(spans))
        assert meant == (place.document_name, found[number].node.text)
    assert (await acited(context)).keys() == found.keys()
    assert cited(context, response) == found
    of_memory, of_response = await acited(memory), cited(response)
    assert of_memory.items()
    assert {n: each.text for n, each in of_memory.items()}.items() <= {
        n: each.text for n, each in found.items()
    }.items()
    for number, node in of_memory.items():
        assert place_of(node).citation == place_of(found[number]).citation
        assert not place_of(node).exact
    for number, node in of_response.items():
        assert place_of(node) == place_of(found[number])


# Several runs of one conversation, with restarts between them


def remembering(_: Any = None) -> Any:
    return ChatMemoryBuffer.from_defaults(token_limit=100_000)


KINDS = {FunctionAgent: Planned, ReActAgent: Reasoning}
ALONE = [asks(0), asks(1), asks(0), []]
HANDED = [asks(0), asks(1), hands_to("b"), asks(0), asks(2), hands_to("a"), asks(1), []]


async def talk(kinds: Any, runs: Any, memory: Any, restart: Any) -> list[list[str]]:
    """What is in prompts of runs of one context, saved as JSON between them."""
    plan, sent = iter([step for run in runs for step in run]), []
    tool = search(two_documents().as_retriever(similarity_top_k=6))
    agents = [
        kind(
            name=name,
            description="It knows the rules.",
            tools=[tool],
            llm=KINDS[kind](plan=plan, sent=[]),
            streaming=False,
        )
        for name, kind in zip("ab", kinds, strict=False)
    ]
    for each in agents:
        each.llm.sent = sent
    made = agents[0]
    if len(agents) > 1:
        made = AgentWorkflow(agents=agents, root_agent="a")
    context = Context(made)
    for _ in runs:
        given = {"memory": memory} if memory else {}
        await made.run("What are the rules?", ctx=context, **given)
        context = Context.from_dict(made, json.loads(json.dumps(context.to_dict())))
        memory = memory and restart(memory)
    contents = [[each.content or "" for each in prompt] for prompt in sent]
    return [[p for each in c for p in each.split("Observation: ")] for c in contents]


@pytest.mark.parametrize("kinds", [*([k] for k in KINDS), *([k] * 2 for k in KINDS)])
@pytest.mark.parametrize("memory", ["none", "the same", "a new one"])
async def test_a_loaded_context_points_to_what_its_memory_holds(memory, kinds):
    runs = [ALONE if len(kinds) == 1 else HANDED] * 2
    first = None if memory == "none" else remembering()
    restart = remembering if memory == "a new one" else lambda kept: kept

    prompts = await talk(kinds, runs, first, restart)

    for prompt in prompts:
        ShownText(SOURCES).read(*prompt)
    again = "\n".join(prompts[len(runs[0]) + 1])
    assert ("\n[see above" in again) == (memory == "the same")


async def test_each_prompt_begins_as_the_one_before():
    runs = [[asks(n, n + 1), asks(n), []] for n in range(3)]

    prompts = await talk([FunctionAgent], runs, remembering(), lambda kept: kept)

    assert all(b[: len(a)] == a for a, b in pairwise(prompts))


# Numbers of something else


async def test_numbers_that_another_conversation_has_given_are_refused():
    tool = search(two_documents())
    ctx, other = (Context(agent(tool, count())) for _ in range(2))
    await tool.acall(QUERIES[0], ctx=ctx)
    await tool.acall(QUERIES[8], ctx=other)
    await ctx.store.set("oprag_numbers", await other.store.get("oprag_numbers"))

    for asked in (lambda: tool.acall(QUERIES[1], ctx=ctx), lambda: acited(ctx)):
        with pytest.raises(InvalidOptionError, match=r"two passages.*continue_numbers"):
            await asked()


async def test_a_number_that_only_an_answer_mentions_is_not_given_again():
    tool, memory = search(two_documents()), remembering()
    memory.put(ChatMessage(role="assistant", content="It is so [2, 9], as in x[1]."))
    made = agent(tool, searches(1))
    await made.run("And [4]?", memory=memory)
    shown = ShownText(SOURCES)
    shown.read(*texts_read(made.llm.sent[-1]))

    assert min(shown.numbers) == 10


# One call


def test_threads_search_one_after_another_and_show_nothing_twice(lease):
    tool = search(lease.as_retriever(similarity_top_k=6))
    ctx = Context(agent(tool, count()))
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(tool.call, QUESTION, ctx=ctx) for _ in range(4)]
        contents = [call.result(timeout=60).content for call in calls]

    assert sum(content.startswith("[1] lease.txt") for content in contents) == 1
    assert sum(content.startswith("[see above") for content in contents) == 3


def test_the_model_is_told_a_name_a_description_and_one_input():
    made = OrderPreservingRetrieverTool.from_defaults(index())
    unseen = search(index(), description="The lease.")

    assert made.metadata.name == "retriever_tool"
    assert "place" in made.metadata.description
    assert unseen.metadata.description == "The lease."
    for tool in (made, unseen):
        parameters = tool.metadata.to_openai_tool()["function"]["parameters"]
        assert [*parameters["properties"]] == ["input"]


def test_only_a_search_for_what_is_new_may_leave_its_budget_unfilled():
    nodes = [NodeWithScore(node=TextNode(text="One.", metadata={"source": "a.txt"}))]
    own = OrderPreservingRetriever(Retrieved(nodes), token_budget=9_000, merge=False)
    made = {show: search(own, show=show) for show in ("unseen", "all")}
    made["unseen"].call("?", ctx=Context(agent(made["unseen"], count())))
    with pytest.warns(UnfilledBudgetWarning):
        made["all"].call("?")


def test_a_reading_tool_that_is_called_by_hand_notes_what_it_showed():
    tool = search(two_documents())
    read, *_ = create_reading_tools(dict(SOURCES))
    context = Context(agent(tool, count()))
    output = read.call("lease.txt", end=99, ctx=context)
    assert output.raw_input == {"document": "lease.txt", "end": 99}
    assert (
        "[see above: [1]]" in tool.call("Section 0 of lease.txt", ctx=context).content
    )


async def test_numbers_that_are_not_of_one_conversation_are_refused():
    tool = search(two_documents(), show="all")
    assert await acited(ChatMemoryBuffer.from_defaults(token_limit=9)) == {}
    for other in ({}, None):
        with pytest.raises(InvalidOptionError, match="It takes the Context"):
            await acited(other)
    with pytest.raises(InvalidOptionError, match='show="unseen"'):
        await acited(Context(FunctionAgent(tools=[tool], llm=MockLLM())))

    read, *_ = create_reading_tools(dict(SOURCES))
    made = agent(tool, searches(1))
    context = Context(made)
    await read.acall(document="lease.txt", ctx=context)
    response = await made.run("?", ctx=context)
    with pytest.raises(InvalidOptionError, match="begin with 1"):
        await acited(context, response)


async def test_numbers_of_one_search_are_those_of_what_it_returned():
    tool = search(two_documents(), show="all")
    memory = remembering()
    made = agent(tool, searches(1))
    response = await made.run("?", memory=memory)
    (call,) = response.tool_calls

    for found in (cited(response), cited(memory)):
        assert [each.text for each in found.values()] == [
            each.text for each in call.tool_output.raw_output
        ]
        assert [*found] == [*range(1, len(found) + 1)]
    twice = await agent(tool, searches(2)).run("?", memory=memory)
    for several in (twice, memory):
        with pytest.raises(InvalidOptionError, match="begin with 1"):
            cited(several)


@pytest.mark.parametrize("chat", [False, True])
def test_numbers_of_an_engine_are_those_that_its_model_read(chat):
    def asked(**options: Any) -> Any:
        last = OrderPreservingPostprocessor(**options)
        given: Any = {"node_postprocessors": [last], "llm": MockLLM()}
        if chat:
            return two_documents().as_chat_engine("context", **given).chat("rules?")
        return two_documents().as_query_engine(**given).query("rules?")

    response = asked(citations=True)

    assert [*cited(response).values()] == response.source_nodes
    with pytest.raises(InvalidOptionError, match="citations=True"):
        cited(asked())
