"""The ladder of rungs: whose turn it is and whose reply is final."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.errors import InvalidOptionError, RoutingError
from oprag.routing import Rung, as_rungs
from oprag.routing.ladder import Ladder


def test_the_default_is_the_papers_two_steps():
    assert Ladder().rungs == (Rung("retrieved"), Rung("full", full=True))


def test_budgets_are_rungs_named_by_their_number():
    assert as_rungs([1500, 16000, "full"]) == (
        Rung("1500", token_budget=1500),
        Rung("16000", token_budget=16000),
        Rung("full", full=True),
    )


def test_rungs_of_ones_own_are_taken_as_they_are():
    wide = Rung("wide", token_budget=9000)

    assert as_rungs(["retrieved", wide]) == (Rung("retrieved"), wide)


@pytest.mark.parametrize(
    ("rungs", "message"),
    [
        ([], "at least one"),
        ("full", "a list"),
        (["whole"], '"retrieved", "full"'),
        ([0], "at least 1"),
        ([True], "at least 1"),
        ([16000, 1500], "no more to read"),
        (["full", 1500], "no more to read"),
        ([1500, "retrieved"], "no more to read"),
        ([1500, 1500], "a name of its own"),
    ],
)
def test_rungs_that_make_no_sense_are_rejected(rungs, message):
    with pytest.raises(InvalidOptionError, match=message) as caught:
        as_rungs(rungs)

    assert caught.value.option == "rungs"


def test_an_answer_on_the_first_rung_is_final():
    ladder = Ladder()

    assert ladder.offer("chunks") == "send"
    assert not ladder.is_last
    ladder.reply("Lima", declined=False)

    assert ladder.current is None
    assert ladder.outcome.answered
    assert ladder.outcome.rung == Rung("retrieved")
    assert ladder.outcome.text == "Lima"


def test_a_refusal_goes_to_the_full_documents():
    ladder = Ladder()
    ladder.offer("chunks")
    ladder.reply("unanswerable", declined=True)

    assert ladder.current == Rung("full", full=True)
    assert ladder.is_last
    assert ladder.offer("documents") == "send"
    ladder.reply("Lima", declined=False)
    assert ladder.outcome.rung == Rung("full", full=True)
    assert ladder.outcome.answered


def test_the_last_refusal_is_final_and_marked():
    ladder = Ladder([100, 200, "full"])
    for context in ("a", "b", "c"):
        assert ladder.offer(context) == "send"
        ladder.reply(f"unanswerable from {context}", declined=True)

    assert ladder.current is None
    assert not ladder.outcome.answered
    assert ladder.outcome.text == "unanswerable from c"


def test_empty_retrieval_goes_on_without_a_call():
    ladder = Ladder()

    assert ladder.offer(" \n") == "empty"
    assert ladder.current == Rung("full", full=True)


def test_without_any_context_nothing_is_answered():
    ladder = Ladder()
    ladder.offer("")
    ladder.offer("")

    assert ladder.current is None
    assert not ladder.outcome.answered
    assert ladder.outcome.rung is None
    assert ladder.outcome.text is None


def test_the_same_context_is_not_sent_twice_and_the_refusal_stands():
    ladder = Ladder()
    ladder.offer("a short document")
    ladder.reply("Unanswerable.", declined=True)

    assert ladder.offer("a short document") == "repeated"
    assert ladder.current is None
    assert not ladder.outcome.answered
    assert ladder.outcome.rung == Rung("retrieved")
    assert ladder.outcome.text == "Unanswerable."


def test_a_context_is_compared_with_all_before_it():
    ladder = Ladder([1, 2, 3])
    ladder.offer("a")
    ladder.reply("", declined=True)
    ladder.offer("b")
    ladder.reply("", declined=True)

    assert ladder.offer("a") == "repeated"


def test_the_outcome_is_not_known_before_the_end():
    ladder = Ladder()
    with pytest.raises(RoutingError, match="'retrieved'"):
        _ = ladder.outcome

    ladder.offer("chunks")
    with pytest.raises(RoutingError, match="not known"):
        _ = ladder.outcome


def test_steps_out_of_turn_are_errors():
    ladder = Ladder(["full"])
    with pytest.raises(RoutingError, match="offer"):
        ladder.reply("x", declined=False)
    ladder.offer("a")
    with pytest.raises(RoutingError, match="reply"):
        ladder.offer("b")
    ladder.reply("x", declined=True)
    with pytest.raises(RoutingError, match="after the last"):
        ladder.offer("c")
    with pytest.raises(RoutingError, match="no context"):
        ladder.reply("x", declined=False)


@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "b", "c"]), st.booleans()), min_size=4)
)
def test_every_climb_is_that_of_a_plain_loop(steps):
    steps = steps[:4]
    sent, expected = [], (False, None)
    for number, (context, declined) in enumerate(steps):
        if context and context not in sent:
            sent.append(context)
            expected = (not declined, str(number + 1))
            if not declined:
                break

    ladder, calls = Ladder([1, 2, 3, 4]), []
    for context, declined in itertools.chain(steps):
        if ladder.current is None:
            break
        if ladder.offer(context) == "send":
            calls.append(context)
            ladder.reply("text", declined=declined)

    assert calls == sent
    rung = ladder.outcome.rung
    assert (ladder.outcome.answered, rung and rung.name) == expected
