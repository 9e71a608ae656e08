"""LongRAG's match rule and answer recall."""

import sys
import unicodedata

import pytest
import regex

from oprag.errors import InvalidOptionError
from oprag_eval.metrics import answer_recall, longrag_match
from oprag_eval.metrics.longrag import plain_tokens
from tests.evaluation.metrics.cases import CASES, answers, seeded

_TOKEN = regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")


def _tokens(text):
    return [t.lower() for t in _TOKEN.findall(unicodedata.normalize("NFD", text))]


def _holds(tokens, run):
    ends = range(len(run), len(tokens) + 1)
    return any(tokens[end - len(run) : end] == run for end in ends) if run else False


def test_tokens_equal_those_of_the_regex_library_on_any_characters():
    assigned = [
        chr(code)
        for code in seeded(0).sample(range(sys.maxunicode + 1), 200_000)
        if unicodedata.category(chr(code)) not in ("Cn", "Cs")
        and not regex.match(r"\p{Cn}", chr(code))
    ]
    text = "".join(assigned)

    assert plain_tokens(text) == _tokens(text)


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


def test_the_match_equals_an_independent_one_on_random_answers():
    found = [0, 0]
    for prediction, references in answers(3):
        short, golds = _tokens(prediction), [_tokens(text) for text in references]
        expected = any(_holds(g, short) or _holds(short, g) for g in golds)
        assert longrag_match(prediction, references) == expected
        found[expected] += 1

    assert sum(found) == CASES
    assert min(found) > 100


def test_recall_finds_an_answer_in_a_context():
    context = "It was made in 1959 by E.M. Burke,\nnot before."
    assert answer_recall(context, ["1860", "E. M. Burke"])
    assert not answer_recall(context, ["the Burke", "195", "", "Burke not"])


def test_recall_equals_an_independent_search_on_random_contexts():
    found = [0, 0]
    contexts = [prediction for prediction, _ in answers(4, longest=60)]
    for context, (_, wanted) in zip(contexts, answers(5, longest=2), strict=True):
        expected = any(_holds(_tokens(context), _tokens(text)) for text in wanted)
        assert answer_recall(context, wanted) == expected
        found[expected] += 1

    assert min(found) > 100


def test_recall_takes_a_list_of_answers():
    with pytest.raises(InvalidOptionError) as caught:
        answer_recall("Paris", "Paris")
    assert caught.value.option == "answers"
