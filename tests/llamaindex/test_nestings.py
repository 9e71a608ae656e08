"""Agents in workflows of every shape: a number that was read means nothing else."""

import json
import random
import re
from collections import Counter
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import (
    Context,
    Event,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)

from llamaindex_oprag import OrderPreservingRetrieverTool, acited, create_reading_tools
from oprag import place_of
from tests.kit.effort import cases
from tests.kit.shown_text import ShownText
from tests.llamaindex.planned_agents import (
    QUERIES,
    SOURCES,
    Planned,
    Reasoning,
    hands_to,
    search,
    two_documents,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Skipping serialization of known unserial"),
]
EVERYTHING = 100_000
FEW = 700
"""Tokens of a memory that forgets."""


class Conversation:
    """One conversation of a workflow, and what its models read under each number."""

    def __init__(self, seed: int, tool: Any) -> None:
        self.random = random.Random(seed)  # noqa: S311 -- not cryptographic
        read, *_ = create_reading_tools(dict(SOURCES))
        self.tools = [tool, read]
        self.models: list[Planned] = []
        self.shape = self.random.choice([*SHAPES])
        self.memory = self.remembering()
        self.saved: Any = None
        self.known: dict[int, Any] = {}
        self.branches: list[Any] = []
        """What was saved after each question, and what was known then."""

    def remembering(self, messages: Any = ()) -> ChatMemoryBuffer:
        limit = self.random.choice([EVERYTHING, EVERYTHING, FEW])
        return ChatMemoryBuffer.from_defaults([*messages], token_limit=limit)

    def searches(self, most: int = 2) -> list[Any]:
        """A turn of a model: searches at once, sometimes reading on."""
        turn: list[Any] = [
            ("search", {"input": self.random.choice(QUERIES)})
            for _ in range(self.random.randint(1, most))
        ]
        if not self.random.randrange(4):
            start = self.random.randrange(2_000)
            name = self.random.choice([*SOURCES])
            given = {"document": name, "start": start, "end": start + 90}
            turn.append(("read", given))
        return turn

    def model(self, plan: Any, kind: Any = Planned) -> Planned:
        made = kind(plan=iter([*plan, []]), sent=[])
        self.models.append(made)
        return made

    def agent(
        self, plan: Any = None, name: str = "a", tools: Any = (), kind: Any = Planned
    ) -> Any:
        plan = plan or [self.searches() for _ in range(self.random.randint(1, 2))]
        agents = {Planned: FunctionAgent, Reasoning: ReActAgent}
        return agents[kind](
            name=name,
            description="It knows the rules.",
            tools=[*self.tools, *tools],
            llm=self.model(plan, kind),
            streaming=False,
        )

    async def ask(self) -> Context:
        """Ask once, of a workflow made anew, as another process would."""
        self.models.clear()
        made = SHAPES[self.shape](self)
        given = json.loads(json.dumps(self.saved)) if self.saved else None
        context = Context.from_dict(made, given) if given else Context(made)
        more: Any = {}
        if not isinstance(made, SideBySide):
            more = {"user_msg": "And now?", "memory": self.memory}
        await made.run(ctx=context, **more)
        for model in self.models:
            for prompt in model.sent:
                self.read([message.content or "" for message in prompt])
        self.saved = context.to_dict()
        remembered = [*await self.memory.aget_all()]
        self.branches.append((self.saved, remembered, dict(self.known)))
        return context

    def read(self, contents: list[str]) -> None:
        # One answer alone: what a model reads on in, it may have read before.
        for said in (each for c in contents for each in c.split("Observation: ")):
            shown = ShownText(SOURCES)
            shown.read(re.sub(r"\[see above.*", "", said))
            for number, meant in shown.numbers.items():
                assert self.known.setdefault(number, meant) == meant

    def alter(self) -> None:
        """Do what applications do between two questions."""
        messages = [*self.memory.get_all()]
        match self.random.randrange(5):
            case 0:  # the oldest are removed
                first = self.random.randrange(len(messages) + 1)
                self.memory = self.remembering(messages[first:])
            case 1:  # a summary takes their place
                said = f"Summary: the rules say so [{max(self.known)}]."
                self.memory = self.remembering([ChatMessage(said, role="user")])
            case 2:  # a new memory
                self.memory = self.remembering()
            case 3:  # the user goes on from an earlier answer
                self.saved, messages, known = self.random.choice(self.branches)
                self.known = dict(known)
                self.memory = self.remembering(messages)


def alone(conversation: Conversation) -> Any:
    return conversation.agent()


def reasoning(conversation: Conversation) -> Any:
    plan = [conversation.searches(1)[:1] for _ in range(3)]
    return conversation.agent(plan, kind=Reasoning)


def handing_over(conversation: Conversation) -> Any:
    """Agents that hand a conversation to each other."""
    search = conversation.searches
    plan = [search(), hands_to("b"), search(), search(), hands_to("a"), search(), []]
    one, other = conversation.agent(plan, "a"), conversation.agent([search()], "b")
    other.llm.plan = one.llm.plan
    return AgentWorkflow(agents=[one, other], root_agent="a")


def asking(conversation: Conversation, name: str, inner: Any) -> Any:
    """A tool that asks another agent, which goes on with the caller's numbers."""

    async def ask(ctx: Context, task: str) -> str:
        """Ask another agent."""
        with OrderPreservingRetrieverTool.continue_numbers(ctx):
            return str(await inner().run(task))

    return FunctionTool.from_defaults(async_fn=ask, name=name)


def orchestrating(conversation: Conversation) -> Any:
    """An agent whose tools are agents, whose tools are agents; several at once."""
    search = conversation.searches
    deepest = asking(conversation, "deepest", lambda: conversation.agent([search()]))

    def middle() -> Any:
        plan = [search(1), [("deepest", {"task": "Why?"})] * 2, search()]
        return conversation.agent(plan, tools=[deepest])

    asked = ("middle", {"task": "Which?"})
    begins = [search()] if conversation.random.randrange(2) else []
    plan = [*begins, [asked, asked, *search(1)], search(), [asked]]
    return conversation.agent(plan, tools=[asking(conversation, "middle", middle)])


class Question(Event):
    """One of several questions that are asked at once."""

    number: int


class Answer(Event):
    """Its answer."""


class SideBySide(Workflow):
    """Asks agents side by side, and then another one."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(timeout=120)
        self.conversation = conversation

    async def asked(self, context: Context) -> None:
        tool = asking(self.conversation, "ask", self.conversation.agent)
        await tool.acall(ctx=context, task="Which?")

    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Question | None:
        await self.asked(ctx)
        for number in range(3):
            ctx.send_event(Question(number=number))
        return None

    @step(num_workers=3)
    async def ask(self, ctx: Context, ev: Question) -> Answer:
        await self.asked(ctx)
        return Answer()

    @step
    async def end(self, ctx: Context, ev: Answer) -> StopEvent | None:
        if ctx.collect_events(ev, [Answer] * 3) is None:
            return None
        await self.asked(ctx)
        return StopEvent()


SHAPES = {
    "alone": alone,
    "reasoning": reasoning,
    "handing over": handing_over,
    "orchestrating": orchestrating,
    "side by side": SideBySide,
}


async def tried(seed: int, tool: Any, shape: str | None = None) -> Conversation:
    """Ask four times; each number that was read means what was read under it."""
    conversation = Conversation(seed, tool)
    conversation.shape = shape or conversation.shape
    for turn in range(4):
        context = await conversation.ask()
        found = await acited(context)
        assert {*conversation.known} <= {*found}
        for number, (name, text) in conversation.known.items():
            place = place_of(found[number])
            spans = "\n".join(SOURCES[name][a:b] for a, b in place.spans)
            assert (place.document_name, spans) == (name, text)
        if turn < 3:
            conversation.alter()
    return conversation


async def test_a_number_means_what_was_read_under_it_in_workflows_of_every_shape():
    tool, read = search(two_documents().as_retriever()), Counter()
    for seed in range(cases(1)):
        for shape in SHAPES:
            conversation = await tried(seed, tool, shape)
            read[shape] += len(conversation.known)
    assert all(number > 5 for number in read.values())
