"""Numbers in what models read: each means one passage, whatever was forgotten."""

from __future__ import annotations

import json
import re
from itertools import count

import pytest
from langchain_core.messages import AIMessage, HumanMessage, trim_messages
from langgraph.checkpoint.memory import InMemorySaver

from langchain_oprag import EvidenceMiddleware, cited
from oprag import place_of
from oprag.errors import InvalidOptionError
from tests.langchain.compat import needs_1x
from tests.langchain.recording import RecordingChatModel
from tests.langchain.test_evidence import (
    QUESTION,
    SOURCES,
    THREAD,
    agent,
    places_shown,
    scripted,
    searching,
)
from tests.langchain.test_evidence import check as check_prompt

READ = re.compile(r"^\[(\d+)\] (\S+), characters ([\d\- and]+)\n", re.MULTILINE)


def numbers_read(calls):
    """The meaning of each number to a model: its document and the characters."""
    read = {}
    for prompt in calls:
        for message in prompt:
            if message.type != "tool":
                continue
            for found in READ.finditer(message.content):
                spans = re.findall(r"(\d+)-(\d+)", found[3])
                text = "\n\n".join(SOURCES[found[2]][int(a) : int(b)] for a, b in spans)
                assert message.content.startswith(text, found.end())
                meant = read.setdefault(int(found[1]), (found[2], text))
                assert meant == (found[2], text)
    return read


def check(state, calls, *, forgotten=False):
    """Numbers that were read, and how many of them have their text."""
    found, read = cited(json_like(state)), numbers_read(calls)
    assert [*found] == [*range(1, len(found) + 1)]
    assert {*read} <= {*found}
    whole = 0
    for number, (name, text) in read.items():
        place = place_of(found[number])
        spans = "\n\n".join(SOURCES[name][a:b] for a, b in place.spans)
        assert (place.document, spans) == (name, text)
        assert found[number].page_content in ({text, ""} if forgotten else {text})
        whole += found[number].page_content == text
    return len(read), whole


def json_like(state):
    numbers = json.loads(json.dumps(state["oprag_numbers"]))
    return {**state, "oprag_numbers": numbers}


@needs_1x
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("turns", [[1] * 10, [5, 5]], ids=["in turn", "parallel"])
@pytest.mark.parametrize("splitter", ["langchain", "ours"])
async def test_a_number_means_what_was_read_under_it(splitter, turns, mode):
    model = scripted(*turns)
    built = agent(model, search=searching(splitter))

    if mode == "invoke":
        state = built.invoke(QUESTION, THREAD)
    else:
        state = await built.ainvoke(QUESTION, THREAD)

    count_read, whole = check(state, model.calls)
    assert count_read == whole > 10
    assert len(json.dumps(state["oprag_numbers"])) < 60 * count_read


@needs_1x
def test_numbers_go_on_in_threads_that_are_resumed_and_forked():
    search, ids = searching("langchain"), count()
    first, second, third = (scripted(1, 1, ids=ids) for _ in range(3))
    saver = InMemorySaver()
    agent(first, search=search, checkpointer=saver).invoke(QUESTION, THREAD)
    built = agent(second, search=search, checkpointer=saver)
    before = built.get_state(THREAD)
    resumed = built.invoke(QUESTION, THREAD)
    other = agent(third, search=search, checkpointer=saver)
    forked = other.invoke(QUESTION, before.config)

    check(resumed, [*first.calls, *second.calls])
    check(forked, [*first.calls, *third.calls])
    assert [*cited(resumed)] > [*cited(before.values)]


def summarising():
    from langchain.agents.middleware import SummarizationMiddleware

    summary = RecordingChatModel(replies=[AIMessage("They read rules.")] * 20)
    return SummarizationMiddleware(
        summary, trigger=("messages", 8), keep=("messages", 4)
    )


def trimming():
    from langchain.agents.middleware import wrap_model_call

    def last(request, handler):
        kept = trim_messages(
            request.messages, max_tokens=6, token_counter=len, start_on="ai"
        )
        return handler(request.override(messages=kept))

    return wrap_model_call(last)


@needs_1x
@pytest.mark.parametrize("forgetting", [summarising, trimming])
def test_what_was_forgotten_leaves_its_place_and_no_number_is_given_twice(forgetting):
    model = scripted(*[1] * 12)
    middleware = [forgetting(), EvidenceMiddleware()]
    built = agent(model, search=searching("langchain"), middleware=middleware)

    state = built.invoke(QUESTION, {"recursion_limit": 200})

    summarised = forgetting is summarising
    count_read, whole = check(state, model.calls, forgotten=summarised)
    assert (count_read > whole > 0) if summarised else (count_read == whole > 10)
    for prompt in model.calls:
        check_prompt(prompt)
    shown = [{*places_shown(prompt[-1].content)} for prompt in model.calls[1:]]
    assert any(last & new for n, new in enumerate(shown) for last in shown[:n])


def test_messages_of_a_graph_of_your_own_say_what_their_numbers_mean():
    tool = searching("langchain")
    calls = [{"name": "search", "args": {"query": f"{n}"}, "id": f"{n}"} for n in "ab"]
    found = [tool.invoke({**call, "type": "tool_call"}) for call in calls]
    messages = [HumanMessage("?"), *found]
    applied = EvidenceMiddleware().apply(messages)

    found = cited(applied)

    read = numbers_read([applied])
    assert {n: each.page_content for n, each in found.items()} == {
        n: text for n, (_, text) in read.items()
    }
    for raw in (messages, {"messages": messages}):
        with pytest.raises(InvalidOptionError, match="begin with 1"):
            cited(raw)
    assert cited([HumanMessage("?")]) == {}
