"""Agents that search several times: the model reads each character once, in order."""

import json
from itertools import count

import pytest
from langchain_core.messages import AIMessage, trim_messages
from langgraph.checkpoint.memory import InMemorySaver

from langchain_oprag import EvidenceMiddleware, cited
from oprag.tokens import resolve_token_counter
from tests.langchain.compat import needs_1x
from tests.langchain.recording import RecordingChatModel
from tests.langchain.searching_agents import (
    QUESTION,
    SPLITTERS,
    THREAD,
    agent,
    check,
    check_numbers,
    grows,
    scripted,
    searching,
)


@needs_1x
@pytest.mark.parametrize("mode", ["invoke", "astream"])
@pytest.mark.parametrize("turns", [[1] * 10, [5, 5]], ids=["in turn", "parallel"])
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("ordered", [False, True], ids=["plain", "ordered"])
async def test_each_character_is_sent_once_in_order_and_under_numbers_that_hold(
    ordered, splitter, turns, mode
):
    search = searching(splitter, ordered=ordered)
    plain, model = scripted(*turns), scripted(*turns)
    agent(plain, search=search, middleware=[]).invoke(QUESTION, THREAD)
    built = agent(model, search=search, checkpointer=InMemorySaver())
    if mode == "invoke":
        read = built.invoke(QUESTION, THREAD)["messages"]
        assert all("Content: " in m.content for m in read if m.type == "tool")
    else:
        assert [part async for part in built.astream(QUESTION, THREAD)]

    assert len(model.calls) == len(turns) + 1
    assert grows(model.calls)
    tokens = resolve_token_counter("approximate")
    assert tokens(model.sent) < 0.8 * tokens(plain.sent)  # labels stay
    state = built.get_state(THREAD).values
    count_read, whole = check_numbers(state, check(*model.calls))
    assert count_read == whole > 10
    assert len(json.dumps(state["oprag_numbers"])) < 60 * count_read


@needs_1x
def test_threads_that_are_resumed_and_forked_go_on_with_what_they_show():
    search, saver, ids = searching("langchain"), InMemorySaver(), count()
    first, second, third = (scripted(2, 1, ids=ids) for _ in range(3))
    agent(first, search=search, checkpointer=saver).invoke(QUESTION, THREAD)
    built = agent(second, search=search, checkpointer=saver)
    before = built.get_state(THREAD)
    resumed = built.invoke(QUESTION, THREAD)
    other = agent(third, search=search, checkpointer=saver)
    forked = other.invoke(QUESTION, before.config)

    for state, model in ((resumed, second), (forked, third)):
        calls = [*first.calls, *model.calls]
        assert grows(calls)
        check_numbers(state, check(*calls))
        assert [*cited(state)] > [*cited(before.values)]
    assert "see above" in second.sent


def clearing():
    from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

    edits = [ClearToolUsesEdit(trigger=2_500, keep=2)]
    return ContextEditingMiddleware(edits=edits)


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
@pytest.mark.parametrize("forgetting", [clearing, summarising, trimming])
def test_what_was_forgotten_is_shown_again_and_no_number_is_given_twice(forgetting):
    model = scripted(*[1] * 12)
    middleware = [forgetting(), EvidenceMiddleware()]
    built = agent(model, search=searching("langchain"), middleware=middleware)

    state = built.invoke(QUESTION, {"recursion_limit": 200})

    summarised = forgetting is summarising
    shown = check(*model.calls)
    count_read, whole = check_numbers(state, shown, forgotten=summarised)
    assert (count_read > whole > 0) if summarised else (count_read == whole > 10)
