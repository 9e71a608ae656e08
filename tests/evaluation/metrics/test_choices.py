"""Multiple choice: ∞Bench's rules as they are, the fixed rules, and `[[n]]`."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oprag_eval.metrics import bracketed_match, bracketed_option, choice_match

TEXT = "Oliver Twist"


def choose(reply, rules, letter="C", text=TEXT):
    return choice_match(reply, gold_letter=letter, gold_text=text, rules=rules)


@pytest.mark.parametrize(
    ("reply", "official", "fixed"),
    [
        ("C", True, True),
        ("  Oliver Twist\n", True, True),
        ("The answer is C.", True, True),
        ("The answer: B? No, the answer is: C", True, True),
        # What the official rules get wrong:
        ("(C)", False, True),
        ("**C**", False, True),
        ("Certainly: A", True, False),
        ("Definitely not A but C", False, True),
        ("oliver twist", False, True),
        # Wrong by both:
        ("The answer is not C", False, False),
        ("I cannot say.", False, False),
    ],
)
def test_a_reply_by_both_rules(reply, official, fixed):
    assert choose(reply, "official") == official
    assert choose(reply, "fixed") == fixed


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Answer: A because he left.", "A"),
        ("B) is right", "B"),
        ("I would choose option D.", "D"),
        ("Answer: **D**\n\nOption A is wrong since he stayed.", "D"),
        ("The answer: it's C", "C"),
        ("The answer is not C but B.", "B"),
        ("Not option B, and it isn't (A): C", "C"),
    ],
)
def test_the_fixed_rules_read_a_letter(reply, letter):
    chosen = [gold for gold in "ABCD" if choose(reply, "fixed", gold, "no such text")]

    assert chosen == [letter]


@pytest.mark.parametrize(
    "reply",
    [
        "A man was there.",  # an article
        "Neither B nor C",
        "D'Artagnan",
        "An A-team",
    ],
)
def test_the_fixed_rules_read_no_letter_into_words(reply):
    assert not any(choose(reply, "fixed", gold, "no such text") for gold in "ABCD")


def test_an_option_that_goes_on_is_another_option():
    assert not choose("Oliver Twist and Fagin", "fixed")
    assert choose("Oliver Twist (a boy)", "fixed")


def test_which_letters_are_known_does_not_depend_on_the_right_one():
    reply = "The answer is E rather than A."
    chosen = [
        gold
        for gold in "ABCDEF"
        if choice_match(reply, gold_letter=gold, gold_text="no such text", options=6)
    ]

    assert chosen == ["E"]


@given(st.text(st.sampled_from("ABCDE ab:.,*([)]'-\nnotiswer"), max_size=40))
@example("The answer is A. The answer is B.")
def test_no_reply_is_read_as_two_letters(reply):
    chosen = [gold for gold in "ABCD" if choose(reply, "fixed", gold, "no such text")]

    assert len(chosen) <= 1


@pytest.mark.parametrize("text", ["...", '"', "**", "(", "a", "_x_"])
def test_an_option_of_signs_is_not_in_every_reply(text):
    assert not choose("I cannot say.", "fixed", text=text)
    assert choose(text, "fixed", text=text)


def test_the_last_bracketed_number_counts():
    assert bracketed_option("[[1]] is tempting, but [[ 3 ]]. See [2]") == 3
    assert bracketed_option("[1] or [x] or [[x]]") is None


def test_by_the_official_rules_the_first_bracketed_number_counts():
    reply = "[[1]] is tempting, but [[ 3 ]]. See [2]"

    assert bracketed_option(reply, rules="official") == 1
    assert bracketed_match(reply, gold_option=0, rules="official")
    assert not bracketed_match(reply, gold_option=0)
    assert bracketed_option("none", rules="official") is None


def test_option_numbers_count_from_1_and_indexes_from_0():
    assert bracketed_match("so [[1]]", gold_option=0)
    assert not bracketed_match("so [[1]]", gold_option=1)
    assert not bracketed_match("the first", gold_option=0)
