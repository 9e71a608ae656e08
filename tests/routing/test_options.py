"""The steps as users write them."""

import asyncio
from types import SimpleNamespace

import pytest

from oprag.calls import Answering
from oprag.errors import InvalidOptionError
from oprag.routing import DEFAULT_STEPS, Step, check_route, read_steps


def test_the_default_is_the_papers_two_steps():
    assert read_steps(DEFAULT_STEPS) == (Step("retrieved"), Step("full", full=True))


def test_budgets_are_steps_named_by_their_number():
    assert read_steps([1500, 16000, "full"]) == (
        Step("1500", token_budget=1500),
        Step("16000", token_budget=16000),
        Step("full", full=True),
    )


def test_steps_of_ones_own_are_taken_as_they_are():
    wide = Step("wide", token_budget=9000)

    assert read_steps(["retrieved", wide]) == (Step("retrieved"), wide)


@pytest.mark.parametrize(
    "steps",
    [
        [],
        "full",
        7,
        ["whole"],
        [0],
        [True],
        [16000, 1500],
        ["full", 1500],
        [1500, "retrieved"],
        [1500, 1500],
        [Step("a", "500"), "full"],
        [Step("a", -5)],
        [Step("a", 5), Step("a", 9)],
    ],
)
def test_steps_that_make_no_sense_are_rejected(steps):
    with pytest.raises(InvalidOptionError, match="from small to large") as caught:
        read_steps(steps)

    assert caught.value.option == "steps"


SOUND = {
    "documents": {"a": "A text."},
    "step_llms": None,
    "decline": "word",
    "prompts": None,
    "max_context_tokens": None,
    "answer_tokens": None,
    "prices": None,
}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("documents", None, "needs documents="),
        ("step_llms", {"fool": 1}, "steps= only"),
        ("step_llms", 7, "by the name of the step"),
        ("prompts", {"fool": "{context} {question}"}, "steps= only"),
        ("decline", "lenient", 'takes "word", "tool", or a function'),
        ("decline", asyncio.sleep, "or a function of the reply to a bool"),
        ("max_context_tokens", 0, "from 1 on"),
        ("max_context_tokens", {"full": -1}, "from 1 on"),
        ("max_context_tokens", {"fool": 100}, "steps= only"),
        ("answer_tokens", True, "from 1 on"),
        ("prices", {"m": (1, 2)}, "three numbers"),
    ],
)
def test_options_that_are_not_possible_are_rejected(option, value, message):
    assert len(check_route(DEFAULT_STEPS, **SOUND)) == 2
    with pytest.raises(InvalidOptionError, match=message) as caught:
        check_route(DEFAULT_STEPS, **{**SOUND, option: value})

    assert caught.value.option == option


@pytest.mark.parametrize(
    ("windows", "answers", "expected"),
    [
        ((None, None), (None, None), (None, 256)),
        ((None, 10_000), (None, None), (10_000, 256)),
        ((None, 800), (None, None), (800, 100)),  # an eighth
        ((4_000, 10_000), (None, 700), (4_000, 700)),
        ((4_000, None), (50, 700), (4_000, 50)),
        (({"full": 9_000}, 10_000), (None, 700), (9_000, 700)),
        (({"other": 9_000}, 10_000), (None, 700), (10_000, 700)),
    ],
)
def test_what_the_user_says_of_a_model_comes_before_what_it_says_itself(
    windows, answers, expected
):
    options = SimpleNamespace(max_context_tokens=windows[0], answer_tokens=answers[0])
    asked = SimpleNamespace(
        _call_options=options,
        read_window=lambda prompt: windows[1],
        read_longest_answer=lambda prompt: answers[1],
        decline="word",
        counter=len,
    )

    size = Answering.measure_prompt(asked, "full")

    assert (size.window, size.reserved) == expected
