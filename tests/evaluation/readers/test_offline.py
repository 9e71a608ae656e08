"""The offline reader: which sentence, which option, when it declines; always the same.

A sentence of m words that shares s of them with a question of n words is at
s / sqrt(m n); articles do not count.
"""

import asyncio

import pytest

from oprag_eval.data import Question
from oprag_eval.model_texts import (
    gist_call,
    look_up_call,
    page_break_call,
    summary_call,
)
from oprag_eval.models import Call
from oprag_eval.readers.offline import OfflineReader
from oprag_eval.requests import answer_call, read_reply
from tests.evaluation.small import HARBOUR, MILL, words

CONTEXT = "The lamp was lit.\nIt was cold.\n\nThe wheel was oak. Anna Holm was keeper."


def ask(call: Call) -> str:
    return asyncio.run(OfflineReader(token_counter=words).complete(call)).text


def question(text: str, *options: str) -> Question:
    return Question("q", ("d",), text, options=options)


def test_the_nearest_sentence_answers():
    # Shares "the", "was" and "lamp": 3 / sqrt(4 * 4); the wheel only 2 of 4.
    assert ask(answer_call(question("When was the lamp"), CONTEXT)) == (
        "The lamp was lit."
    )


def test_it_declines_where_nothing_is_near():
    reply = ask(answer_call(question("Who is Peter"), CONTEXT))

    assert not read_reply(reply)
    assert not read_reply(ask(answer_call(question("Who"), "")))


def test_the_option_that_is_nearest_to_some_sentence_is_chosen():
    asked = question("The wheel was", "iron", "oak", "brass")

    # "The wheel was oak" is a sentence: 1. With another option 3 / sqrt(16).
    assert ask(answer_call(asked, CONTEXT)) == "B"
    assert not read_reply(ask(answer_call(asked, "Nothing.")))


def test_of_equal_options_the_first_is_chosen():
    assert ask(answer_call(question("The wheel was", "oak", "oak"), CONTEXT)) == "A"


def test_a_long_answer_is_the_three_nearest_as_they_stand():
    facts = {"question": "lamp wheel keeper was", "context": CONTEXT}
    call = Call("long_answer", "prompt", facts)

    # At 2 / sqrt(16) each; "It was cold." shares one word.
    assert ask(call) == ("The lamp was lit. The wheel was oak. Anna Holm was keeper.")


def test_a_short_answer_comes_from_the_long_one_and_a_refusal_stays_one():
    facts = {"question": "Who was keeper", "long_answer": "It rained. Holm was keeper."}

    assert ask(Call("short_answer", "prompt", facts)) == "Holm was keeper."
    refused = {**facts, "long_answer": "unanswerable"}
    assert ask(Call("short_answer", "prompt", refused)) == "unanswerable"


@pytest.mark.parametrize("most", [1, 8, 20, 60])
def test_a_summary_is_the_beginning_and_no_longer(most):
    summary = ask(summary_call(HARBOUR, most))

    assert 0 < words(summary) <= most
    assert HARBOUR.startswith(summary)


def test_a_gist_is_a_quarter_of_its_page_and_more_than_nothing():
    assert 0 < words(ask(gist_call(MILL))) <= words(MILL) // 4
    assert ask(gist_call("A mill.")) == "A mill."


def test_a_page_ends_at_the_last_place_that_is_offered():
    assert ask(page_break_call(["a.", "b.", "c.", "d."], [2, 3], "", "")) == "<2>"


def test_the_page_with_the_nearest_gist_is_looked_up():
    call = look_up_call("When was the lamp lit?", ["A mill.", "The lamp."], 6)

    assert ask(call) == "[2]"


def test_a_reply_is_no_longer_than_is_allowed():
    call = answer_call(question("When was the lamp"), CONTEXT)
    short = Call(call.kind, call.prompt, call.facts, max_output_tokens=2)

    assert words(ask(short)) <= 2


def test_tokens_are_counted_and_said_to_be():
    call = answer_call(question("When was the lamp"), CONTEXT)
    usage = asyncio.run(OfflineReader(token_counter=words).complete(call)).usage

    assert usage.input_tokens == words(call.prompt)
    assert (usage.output_tokens, usage.estimated) == (4, True)
