"""One question of the long reader, without any model: requests answered by hand."""

from collections.abc import Mapping

import pytest

from oprag.calls import CallModel, Ledger, PromptSize, Reply, TokenUsage
from oprag.effects import Finished, advance
from oprag.errors import ContextWindowError, ModelCallError
from oprag.units import LongAnswer, read_long


class Words:
    def __init__(self, window: int | None = None) -> None:
        self.window = window

    def measure_prompt(self, prompt: str) -> PromptSize:
        def tokens(values: Mapping[str, str]) -> int:
            return sum(len(value.split()) for value in values.values())

        return PromptSize(tokens, self.window)

    def llm(self, prompt: str) -> None:
        return None

    def name_model(self, prompt: str) -> str | None:
        return "reader"


def reply(text: str) -> Reply:
    return Reply(text, declined=False, usage=TokenUsage(10, 1), seconds=0.5)


def read(context, replies, *, one_call_below=3, model=None):
    """Return the calls that were asked for, the account and the result."""
    ledger, calls, given = Ledger(), [], iter(replies)
    dialogue = read_long(
        context,
        "Who?",
        model or Words(),
        ledger=ledger,
        token_counter=lambda text: len(text.split()),
        one_call_below=one_call_below,
    )
    request = advance(dialogue)
    while not isinstance(request, Finished):
        assert isinstance(request, CallModel)
        calls.append(request)
        answer = next(given)
        error = answer if isinstance(answer, Exception) else None
        request = advance(dialogue, None if error else answer, error)
    return calls, ledger, request.result


def test_a_long_answer_is_a_draft_and_the_short_one_is_taken_from_it():
    calls, ledger, result = read("a b c", [reply(" It was Ann. "), reply("Ann")])

    assert [(call.prompt, call.purpose) for call in calls] == [
        ("long", "draft"),
        ("short", "answer"),
    ]
    assert calls[1].values["long_answer"] == "It was Ann."
    assert result == LongAnswer("Ann", " It was Ann. ")
    assert [entry.decision for entry in ledger.entries] == ["answered", "answered"]


def test_a_short_context_takes_one_call_and_none_takes_none():
    calls, _, result = read("a b", [reply("Ann")])
    assert [(call.prompt, call.purpose) for call in calls] == [("direct", "answer")]
    assert result == LongAnswer("Ann", None)

    assert read(" \n", [])[2] == LongAnswer(None, None)


def test_a_failure_carries_the_long_answer_and_what_was_spent():
    with pytest.raises(ModelCallError, match="TimeoutError") as caught:
        read("a b c", [reply("It was Ann."), TimeoutError("too slow")])

    assert caught.value.long_answer == "It was Ann."
    steps = caught.value.usage["steps"]
    assert [step["decision"] for step in steps] == ["answered", "failed"]


def test_a_prompt_that_does_not_fit_is_not_sent():
    with pytest.raises(ContextWindowError, match="'long' call takes 4 tokens"):
        read("a b c", [], model=Words(window=3))
