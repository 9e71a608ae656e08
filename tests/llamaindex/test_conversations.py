"""Runs, agents, restarts of one conversation: no line points to what is not there."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context

from tests.llamaindex.test_tools import (
    QUERIES,
    SOURCES,
    Searching,
    search,
    two_documents,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Skipping serialization of known unserial"),
]

WRITTEN = re.compile(r"\[(\d+)\] (\S+), characters ([\d\- and]+)|\[see above: (.+)\]")


def shown(prompt):
    """Characters that a prompt shows; each line for what is above tells the truth."""
    places, numbers = [], set()
    for found in WRITTEN.finditer(prompt):
        if found[4]:
            assert {*re.findall(r"\d+", found[4])} <= numbers
            continue
        spans = [(int(a), int(b)) for a, b in re.findall(r"(\d+)-(\d+)", found[3])]
        text = "\n".join(SOURCES[found[2]][a:b] for a, b in spans)
        assert prompt.startswith(text, found.end() + 1)
        places += [(found[2], n) for a, b in spans for n in range(a, b)]
        numbers.add(found[1])
    return places


class Planned(Searching):
    """Does what a plan says, which all agents of a workflow share."""

    turns: tuple[int, ...] = ()
    plan: Any = None
    prompts: Any = None

    def _answer(self, messages):
        self.prompts.append("\n".join(each.content or "" for each in messages))
        step = next(self.plan)
        if step is None:
            raise RuntimeError("The model is down.")
        reply = ChatMessage(role="assistant", content=self.said(step))
        reply.additional_kwargs["asked"] = json.dumps(step)
        return ChatResponse(message=reply)

    def said(self, step):
        return "" if step else "An answer."

    def get_tool_calls_from_response(self, response, **kwargs):
        asked = json.loads(response.message.additional_kwargs["asked"])
        return [
            ToolSelection(tool_id=f"{n}", tool_name=name, tool_kwargs=given)
            for n, (name, given) in enumerate(asked)
        ]


class Reasoning(Planned):
    """The same for a ReActAgent, which calls tools by what is written."""

    def said(self, step):
        if not step:
            return "Thought: I can answer.\nAnswer: An answer."
        ((name, given),) = step
        return f"Thought: I look.\nAction: {name}\nAction Input: {json.dumps(given)}"


def asks(*numbers):
    return [("search", {"input": QUERIES[number]}) for number in numbers]


def hands_to(name):
    return [("handoff", {"to_agent": name, "reason": "It knows more."})]


def agents(kinds, plan):
    """An agent, or a workflow of several, and all that their models are sent."""
    index, prompts = two_documents("ours"), []
    tool = search(index.as_retriever(similarity_top_k=6), show="unseen")
    made = [
        kind(
            name=name,
            description="It knows the rules.",
            tools=[tool],
            llm=(Reasoning if kind is ReActAgent else Planned)(
                plan=plan, prompts=prompts
            ),
            streaming=False,
        )
        for name, kind in zip("ab", kinds, strict=False)
    ]
    if len(made) == 1:
        return made[0], prompts
    return AgentWorkflow(agents=made, root_agent="a"), prompts


async def talk(kinds, runs, *, memory=None, restart=lambda memory: memory):
    """The prompts of runs of one context, saved as JSON between them."""
    made, prompts = agents(kinds, iter([step for run in runs for step in run]))
    context = Context(made)
    for run in runs:
        given = {} if memory is None else {"memory": memory}
        if None in run:
            with pytest.raises(RuntimeError, match="down"):
                await made.run("What are the rules?", ctx=context, **given)
        else:
            await made.run("What are the rules?", ctx=context, **given)
        kept = json.dumps(context.to_dict())
        context = Context.from_dict(made, json.loads(kept))
        memory = memory and restart(memory)
    return prompts


def remembering(_=None):
    return ChatMemoryBuffer.from_defaults(token_limit=100_000)


KINDS = [FunctionAgent, ReActAgent]
ALONE = [asks(0), asks(1), asks(0), []]
HANDED = [asks(0), asks(1), hands_to("b"), asks(0), asks(2), hands_to("a"), asks(1), []]


@pytest.mark.parametrize("kinds", [*([k] for k in KINDS), KINDS[:1] * 2, KINDS[1:] * 2])
@pytest.mark.parametrize("memory", ["none", "the same", "a new one"])
async def test_a_loaded_context_points_to_what_its_memory_holds(memory, kinds):
    runs = [ALONE if len(kinds) == 1 else HANDED] * 2
    first = None if memory == "none" else remembering()
    restart = remembering if memory == "a new one" else lambda kept: kept

    prompts = await talk(kinds, runs, memory=first, restart=restart)

    places = [shown(prompt) for prompt in prompts]
    assert all(len(each) == len({*each}) for each in places)
    again = prompts[len(runs[0]) + 1]
    assert ("\n[see above" in again) == (memory == "the same")


async def test_each_prompt_begins_as_the_one_before():
    runs = [[asks(n, n + 1), asks(n), []] for n in range(3)]

    prompts = await talk([FunctionAgent], runs, memory=remembering())

    assert all(after.startswith(before) for before, after in pairwise(prompts))
