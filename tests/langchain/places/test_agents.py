"""As a tool of an agent, and in an agent's middleware."""

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, create_retriever_tool
from langchain_openai import ChatOpenAI

from tests.langchain.compat import create_agent
from tests.langchain.corpus import QUERY
from tests.langchain.places.ingredients import ingredients
from tests.langchain.places.registry import places_of
from tests.langchain.places.running import (
    Application,
    chunks_in,
    each_mode,
    each_place,
    with_and_without,
)
from tests.support.openai_server import Reply, ScriptedServer, ToolCall

CALL = {"name": "search", "args": {"query": QUERY}, "id": "1", "type": "tool_call"}
MESSAGES = {"messages": [{"role": "user", "content": QUERY}]}


def searching(place, built, names):
    """The model asks for a search and reads what it finds."""
    model = names["model"]
    if isinstance(built, BaseTool):
        question = RunnableLambda(lambda _: CALL)
        answer = RunnableLambda(lambda found: [HumanMessage(QUERY), found]) | model
        return Application(question | built | answer, QUERY)
    model.replies = [AIMessage("", tool_calls=[CALL]), AIMessage("answer")]
    return Application(built, MESSAGES)


def told_beforehand(place, agent, names):
    """The middleware retrieves; the model answers at once."""
    return Application(agent, MESSAGES)


@each_mode
@each_place(places_of("agents"))
async def test_a_tool_answers_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode, searching)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


@each_mode
@each_place(places_of("middleware"))
async def test_middleware_adds_what_was_retrieved_in_order(place, mode):
    ordered, plain = await with_and_without(place, mode, told_beforehand)

    assert ordered == sorted(set(plain))
    assert plain != sorted(plain)


def test_an_agent_sends_it_in_order_over_the_wire():
    """A real client: the second request carries what the tool found."""
    sent = {}
    for oprag in (True, False):
        tool = create_retriever_tool(ingredients(oprag=oprag)["ordered"], "search", "x")
        replies = [Reply(tool_calls=[ToolCall("search", {"query": QUERY})]), "answer"]
        with ScriptedServer(replies) as server:
            model = ChatOpenAI(base_url=server.base_url, api_key="none", model="x")
            create_agent(model, tools=[tool]).invoke(MESSAGES)
        sent[oprag] = chunks_in(server.requests[1].prompt)

    assert sent[True] == sorted(sent[False])
    assert sent[False] != sorted(sent[False])
