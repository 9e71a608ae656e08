"""LongRAG's match rule and answer recall."""

import pytest

from oprag.errors import InvalidOptionError
from oprag_eval.metrics import answer_recall, longrag_match


def test_an_answer_and_a_reference_may_hold_one_another():
    assert longrag_match("Health Points", ["hit points or health points"])
    assert longrag_match("Albert O. Hirschman", ["Hirschman"])
    assert longrag_match("R. H. Thomson", ["R.H. Thomson"])


def test_a_run_is_contiguous_and_of_whole_tokens():
    assert not longrag_match("hit health", ["hit points or health points"])
    assert not longrag_match("6", ["1960"])
    assert not longrag_match("sixth", ["sixths"])


def test_articles_and_punctuation_are_tokens():
    assert longrag_match("the sixth", ["on the sixth of May"])
    assert not longrag_match("a sixth", ["the sixth"])
    assert not longrag_match("20 percent", ["20 %"])
    assert longrag_match("20%", ["20 %"])


@pytest.mark.parametrize("prediction", ["", "  ", "\u200b"])
def test_a_side_without_tokens_matches_nothing(prediction):
    assert not longrag_match(prediction, ["Paris", ""])
    assert not longrag_match("Paris", [prediction])


def test_recall_finds_an_answer_in_a_context():
    context = "It was made in 1959 by E.M. Burke,\nnot before."
    assert answer_recall(context, ["1860", "E. M. Burke"])
    assert not answer_recall(context, ["the Burke", "195", "", "Burke not"])


def test_recall_takes_a_list_of_answers():
    with pytest.raises(InvalidOptionError) as caught:
        answer_recall("Paris", "Paris")
    assert caught.value.option == "answers"
