"""How answers are asked for: every system in the run's style, and what is read."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag_eval.catalogue import SYSTEMS, make_system
from oprag_eval.data import Question
from oprag_eval.question_words import Wording
from oprag_eval.requests import answer_call, list_options, read_reply
from tests.evaluation.small import HARBOUR, Replies, attempt, set_of_four

OPEN, CHOICE = set_of_four().questions[0], set_of_four().questions[2]
BRACKETS = {"question": 2, "answer_style": "brackets"}
own = Wording().template
MAKING = {"page_break": "<1>", "look_up": "[1]", "gist": "gist", "summary": "summary"}


def test_the_prompts_of_published_figures_are_what_they_were():
    """Figures are compared over releases, and replies are kept by their prompt."""
    prompts = own("letter", options=False) + own("letter", options=True)

    assert "in as few words as it takes" in answer_call(OPEN, HARBOUR).prompt
    assert hashlib.sha256(prompts.encode()).hexdigest()[:16] == "cd770349ab92b951"


@pytest.mark.parametrize("name", sorted(SYSTEMS))
@pytest.mark.parametrize("reply", ["The wheel was of oak. [[2]]", "unanswerable"])
def test_every_system_asks_in_the_style_of_the_run(name, reply):
    model = Replies(lambda call: MAKING.get(call.kind, reply))
    budget = 130 if make_system(name).budgeted else None

    found = attempt(name, model, budget=budget, **BRACKETS)

    asked = [call for call in model.calls if call.kind not in MAKING]
    assert {call.kind for call in asked} == {"explained_choice"}
    assert found.reply == reply
    assert found.prediction == (reply if reply != "unanswerable" else "")


def test_a_look_up_numbers_pages_and_letters_options():
    model = Replies(lambda call: MAKING.get(call.kind, "[[2]]"))
    attempt("readagent", model, **BRACKETS)
    (look_up,) = [call for call in model.calls if call.kind == "look_up"]

    assert "A. iron\nB. oak" in look_up.prompt


@pytest.mark.parametrize(
    ("reply", "answered"),
    [
        ("The text names oak. [[2]]", True),
        ("Unanswerable: neither [[1]] nor [[2]] is named.", False),
        ("[[unanswerable]]", False),
        # One sentence that mentions the word and goes on to an option.
        ("This is unanswerable from the first page, but the last has oak: [[2]]", True),
        ("<think>Is it [[1]]?</think>It is not said: unanswerable", False),
    ],
)
def test_what_declines_and_what_only_mentions_the_word(reply, answered):
    assert bool(read_reply(reply, CHOICE, "brackets")) == answered


def test_brackets_change_nothing_where_they_were_not_asked_for():
    # A source in brackets, as a model might cite it: still one sentence that declines.
    reply = "It is short. It does not say: unanswerable. [[1]]"

    assert not read_reply(reply)
    assert not read_reply(reply, CHOICE, "letter")
    assert not read_reply(reply, OPEN, "brackets")
    assert read_reply(reply, CHOICE, "brackets")


@given(st.lists(st.text(alphabet="ab. [1]", max_size=5), min_size=1, max_size=30))
def test_the_number_of_an_option_is_that_of_its_index_and_one(options):
    lines = list_options(options, "brackets").split("\n")

    assert [line.split(". ", 1) for line in lines] == [
        [str(index + 1), text] for index, text in enumerate(options)
    ]
    asked = Question("q", ("d",), "Which?", (), tuple(options), 0)
    assert (
        list_options(options, "brackets")
        in answer_call(asked, "text", "brackets").prompt
    )
