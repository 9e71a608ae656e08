"""Agents in graphs of every shape: a number that was read never means anything else."""

import random
from collections import Counter
from itertools import count

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_oprag import EvidenceMiddleware, EvidenceState, cited
from oprag import place_of
from oprag.agents import find_mentions
from oprag.metadata import NUMBERS
from tests.kit.effort import cases
from tests.langchain.compat import create_agent, needs_1x
from tests.langchain.recording import RecordingChatModel
from tests.langchain.searching_agents import SOURCES, check, searching

pytestmark = needs_1x
LAST = "last"


class Keyed(MessagesState, EvidenceState):
    """The state of a graph that keeps numbers."""


class Citing(RecordingChatModel):
    """Searches as often as it is told, then answers, and cites all that it read."""

    plan: list[int]
    queries: object
    called: str = "search"

    def reply(self, messages):
        self.calls.append(messages)
        searches = self.plan.pop(0) if self.plan else 0
        calls = [
            {
                "name": self.called,
                "args": {"query": f"query {number}"},
                "id": f"call {number}",
            }
            for number in (next(self.queries) for _ in range(searches))
        ]
        read = sorted(check(messages).numbers)
        said = "The rules say so " + "".join(f"[{number}]" for number in read)
        return AIMessage("" if calls else said, tool_calls=calls)


class Conversation:
    """One conversation of a graph, and what its models read under each number."""

    def __init__(self, seed, search):
        self.random = random.Random(seed)  # noqa: S311 -- not cryptographic
        self.search = search
        self.queries = count(1_000 * seed)
        self.models = []
        self.shape = self.random.choice([*SHAPES])
        rewrites = self.shape in {"rewritten", "parallel"}
        self.state = Keyed if rewrites else self.random.choice([Keyed, MessagesState])
        self.saver = InMemorySaver()
        self.thread = {"configurable": {"thread_id": "1"}, "recursion_limit": 60}
        self.known = {}
        self.branches = []
        """Checkpoints, and what was known at each."""

    def model(self, *plan, **options):
        plan = plan or [self.random.randint(1, 2) for _ in range(2)]
        model = Citing(plan=[*plan], queries=self.queries, **options)
        self.models.append(model)
        return model

    def agent(self, model=None, tools=()):
        return create_agent(
            model or self.model(),
            tools=[self.search, *tools],
            middleware=[EvidenceMiddleware()],
        )

    def ask(self):
        """Ask once, in graph and agents made anew, as another process would."""
        self.models.clear()
        graph = SHAPES[self.shape](self).compile(checkpointer=self.saver)
        graph.invoke({"messages": [HumanMessage("And now?")]}, self.thread)
        self.thread["configurable"].pop("checkpoint_id", None)
        for model in self.models:
            for number, meant in check(*model.calls).numbers.items():
                assert self.known.setdefault(number, meant) == meant
        saved = graph.get_state(self.thread)
        self.branches.append((saved.config["configurable"], dict(self.known)))
        return graph, saved.values

    def alter(self, graph, values):
        """Do to messages what applications do between two questions."""
        messages, gone = values["messages"], []
        match self.random.randrange(5):
            case 0:  # most are removed
                gone = messages[: self.random.randrange(len(messages))]
            case 1:  # any are
                few = min(len(messages), self.random.randrange(5))
                gone = self.random.sample(messages, few)
            case 2:  # a summary takes their place
                gone = messages
                said = f"Summary: {messages[-1].text}"
                graph.update_state(
                    self.thread, {"messages": [HumanMessage(said)]}, LAST
                )
            case 3:  # the user goes on from an earlier answer
                saved, self.known = self.random.choice(self.branches)
                self.known = dict(self.known)
                self.thread["configurable"] |= saved
                return
        removed = [RemoveMessage(message.id) for message in gone]
        graph.update_state(self.thread, {"messages": removed}, LAST)
        left = graph.get_state(self.thread).values["messages"]
        if self.state is MessagesState:
            # Of higher ones nobody can ask what they mean: no message has them.
            last = max(map(last_number, left), default=0)
            self.known = {n: self.known[n] for n in self.known if n <= last}


def last_number(message):
    """The highest number that a message carries or mentions."""
    carried = getattr(message, "response_metadata", {}).get(NUMBERS, {"last": 0})
    return max(carried["last"], *find_mentions(message.text), 0)


def begun(conversation):
    """A graph with nothing but its last node."""
    graph = StateGraph(conversation.state)
    graph.add_node(LAST, lambda _: {})
    graph.add_edge(LAST, END)
    return graph


def graph_of(conversation, nodes):
    """The nodes one after another."""
    graph, before = begun(conversation), START
    for number, node in enumerate(nodes):
        graph.add_node(f"{number}", node)
        graph.add_edge(before, f"{number}")
        before = f"{number}"
    graph.add_edge(before, LAST)
    return graph


def in_turn(conversation):
    return graph_of(conversation, [conversation.agent() for _ in range(2)])


def in_functions(conversation):
    agents = [conversation.agent() for _ in range(2)]
    return graph_of(conversation, [lambda s, a=each: a.invoke(s) for each in agents])


def last_alone(conversation):
    """Agents as nodes that hand on their last message alone, as supervisors do."""

    def handing_on(agent):
        def node(state):
            done = agent.invoke(state)
            return {**done, "messages": done["messages"][-1:]}

        return node

    return graph_of(conversation, [handing_on(conversation.agent()) for _ in range(2)])


def rewritten(conversation):
    """Agents as nodes that hand on a message of their own."""

    def handing_on(agent):
        def node(state):
            done = agent.invoke(state)
            said = HumanMessage(done["messages"][-1].text, name="agent")
            return {"messages": [said], NUMBERS: done[NUMBERS]}

        return node

    return graph_of(conversation, [handing_on(conversation.agent()) for _ in range(2)])


def routed(conversation):
    """A router or supervisor that asks one agent after another."""
    graph = begun(conversation)
    route = [conversation.random.choice("ab") for _ in range(3)] + [LAST]
    graph.add_node("route", lambda _: {})
    for name in "ab":
        plan = [conversation.random.randint(0, 2) for _ in range(4)]
        graph.add_node(name, conversation.agent(conversation.model(*plan)))
        graph.add_edge(name, "route")
    graph.add_edge(START, "route")
    graph.add_conditional_edges("route", lambda _: route.pop(0), ["a", "b", LAST])
    return graph


def side_by_side(conversation):
    graph = begun(conversation)
    for name in "abc":
        graph.add_node(name, conversation.agent())
        graph.add_edge(START, name)
        graph.add_edge(name, LAST)
    return graph


def nested(conversation):
    """A graph in a graph, whose state has what that of the outer one has."""
    return graph_of(conversation, [in_turn(conversation).compile()])


def by_a_tool(conversation):
    """An agent whose tool is an agent whose tool is another."""

    def asking(inner, name):
        @tool(name)
        def research(query: str) -> str:
            """Ask another agent."""
            messages = {"messages": [HumanMessage(query)]}
            return inner().invoke(messages)["messages"][-1].text

        return research

    deepest = asking(lambda: conversation.agent(conversation.model(1)), "ask")

    def middle():
        model = conversation.model(1, 2, called="ask")
        return conversation.agent(model, [deepest])

    outer = conversation.model(1, 2, called="research")
    outer_search = conversation.model(2, 1)
    agents = [
        conversation.agent(outer_search),
        conversation.agent(outer, [asking(middle, "research")]),
        conversation.agent(),
    ]
    return graph_of(conversation, agents)


SHAPES = {
    "in turn": in_turn,
    "functions": in_functions,
    "last alone": last_alone,
    "rewritten": rewritten,
    "routed": routed,
    "parallel": side_by_side,
    "nested": nested,
    "tools": by_a_tool,
}


def resolved(conversation, values):
    """How many numbers mean what was read under them; none means anything else."""
    found = cited(values)
    if conversation.state is Keyed:
        assert {*conversation.known} <= {*found}
    right = 0
    for number, (name, text) in conversation.known.items():
        if number in found:
            place = place_of(found[number])
            spans = "\n\n".join(SOURCES[name][a:b] for a, b in place.spans)
            assert (place.document_name, spans) == (name, text)
            right += 1
    return right


def tried(seed, search):
    conversation = Conversation(seed, search)
    right = read = 0
    for turn in range(4):
        graph, values = conversation.ask()
        if turn < 3:
            conversation.alter(graph, values)
    right = resolved(conversation, values)
    read = len(conversation.known)
    return conversation, right, read


def test_a_number_means_what_was_read_under_it_in_graphs_of_every_shape():
    search, counts = searching("langchain"), Counter()
    for seed in range(cases(8)):
        conversation, right, read = tried(seed, search)
        counts[conversation.state.__name__] += read
        counts["right"] += right
    assert counts["right"] > counts["Keyed"]


def test_the_graphs_of_a_message_state_resolve_all_while_messages_stay():
    search = searching("langchain")
    for shape in ("in turn", "functions", "last alone", "routed", "nested", "tools"):
        conversation = Conversation(1, search)
        conversation.shape, conversation.state = shape, MessagesState
        for _ in range(2):
            _, values = conversation.ask()
        assert NUMBERS not in values
        assert resolved(conversation, values) == len(conversation.known) > 5
