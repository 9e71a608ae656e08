"""In tools, and in the agents that call them."""

import pytest

from tests.llamaindex.corpus import QUESTION, numbers
from tests.llamaindex.places.ingredients import ingredients
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import build, each_place, sent, with_and_without
from tests.support.openai_server import Reply, ScriptedServer, ToolCall

# LlamaIndex's agents use what pydantic and its own workflows deprecate.
deprecations_of_agents = pytest.mark.filterwarnings("ignore::DeprecationWarning")


async def called(tool, names, mode):
    """What the tool tells its caller, or what it sends to a model of its own."""
    question = names["question"]
    if mode == "call":
        output = tool.call(question)
    else:
        output = await tool.acall(question)
    return sent(names) or output.content


@pytest.mark.parametrize("mode", ["call", "acall"])
@each_place(places_of("tools"))
async def test_a_tool_reads_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode, called)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


@deprecations_of_agents
@each_place(places_of("agents"))
async def test_an_agent_is_told_in_order_over_the_wire(place):
    """A real client: its second request carries what the tool answered."""
    openai_like = pytest.importorskip("llama_index.llms.openai_like")
    read = {}
    for oprag in (True, False):
        names = ingredients(oprag=oprag)
        call = ToolCall("search", {"input": QUESTION})
        with ScriptedServer([Reply(tool_calls=[call]), "An answer."]) as server:
            names["caller"] = openai_like.OpenAILike(
                model="scripted",
                api_base=server.base_url,
                api_key="none",
                context_window=16_000,
                is_chat_model=True,
                is_function_calling_model=True,
            )
            answer = await build(place.how, names).run(QUESTION)
        assert str(answer) == "An answer."
        read[oprag] = numbers(sent(names) or server.requests[1].prompt)

    assert read[True] == sorted(set(read[False]))
    assert read[False] != sorted(read[False])


async def reasoned(agent, names, mode):
    """The model asks for a search in words, and then answers."""
    names["llm"].replies = [
        f'Thought: Search.\nAction: search\nAction Input: {{"input": "{QUESTION}"}}\n',
        "Thought: I can answer without using any more tools.\nAnswer: Yes.",
    ]
    assert str(await agent.run(QUESTION)) == "Yes."
    return sent(names)


@deprecations_of_agents
@each_place(places_of("react_agents"))
async def test_an_agent_that_reasons_in_words_is_told_in_order(place):
    ordered, plain = await with_and_without(place, "run", reasoned)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)
