"""A final reply is a refusal only if it is nothing else: else an answer is lost."""

import pytest

from oprag_eval.refusals import is_refusal
from oprag_eval.requests import read_reply
from tests.calls.replies import ANSWERS, FURTHER_ANSWERS, FURTHER_REFUSALS, REFUSALS


def found(replies: dict[str, list[str]]) -> int:
    texts = [reply for group in replies.values() for reply in group]
    return sum(not read_reply(text) for text in texts if text.strip())


def test_few_answers_that_mention_the_word_are_lost():
    assert (found(REFUSALS), found(FURTHER_REFUSALS)) == (105, 102)
    assert (found(ANSWERS), found(FURTHER_ANSWERS)) == (3, 4)


@pytest.mark.parametrize(
    ("reply", "refusal"),
    [
        ("It does not say. Unanswerable. It was Ann.", True),
        ("It does not say. It says nothing. Unanswerable.", False),
        ("The paper has 43,498 unanswerable questions.", False),
        ("x" * 190 + ": unanswerable questions", False),  # cut behind the word
        ('{"answer": "unanswerable", "reason": "It was Ann, says one."}', True),
        ('{"unanswerable": false, "answer": "Ann"}', False),
        ("", False),
    ],
)
def test_the_first_or_the_last_clause_of_the_opening_is_the_word(reply, refusal):
    assert is_refusal(reply) is refusal
    assert bool(read_reply(reply)) is (bool(reply) and not refusal)


def test_a_step_that_leads_on_declines_by_the_rule_of_self_route():
    reply = "The question is unanswerable."

    assert read_reply(reply) == reply
    assert not read_reply(reply, routing=True)
