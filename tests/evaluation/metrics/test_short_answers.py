"""Token F1, exact match and the PassKey score."""

import pytest

from oprag.errors import InvalidOptionError
from oprag_eval import metrics
from oprag_eval.metrics import exact_match, first_number_match, token_f1


def test_f1_of_a_hand_worked_answer():
    # cat sat down | cat sat on mat: 2 in common, precision 2/3, recall 2/4,
    # F1 = 2 · (2/3 · 1/2) / (2/3 + 1/2) = 4/7.
    score = token_f1("The cat sat down.", ["A cat sat on the mat"])
    assert score == pytest.approx(4 / 7)


def test_punctuation_goes_before_articles_and_splits_nothing():
    assert token_f1("U.S.", ["us"]) == 1
    assert token_f1("a.n cat", ["cat"]) == 1  # "a.n" is "an", an article
    assert token_f1("on-line", ["on line"]) == 0


@pytest.mark.parametrize("pair", [("", "x"), ("the", "a"), ("", ""), ("x", "y")])
def test_f1_without_a_common_word_is_0(pair):
    assert token_f1(pair[0], [pair[1]]) == 0


def test_exact_match_looks_past_case_punctuation_articles_and_blanks():
    assert exact_match("  The Monroe\nDoctrine! ", ["monroe doctrine"])
    assert not exact_match("Health Points", ["hit points or health points"])
    assert exact_match("caf\u00e9", ["cafe\u0301"])
    assert not exact_match("café", ["cafe"])


def test_the_passkey_is_the_first_run_of_digits():
    assert first_number_match("It is 12345, not 999.", ["12345"])
    assert not first_number_match("999 or 12345", ["12345"])
    assert not first_number_match("12,345", ["12345"])  # the first run is 12
    assert not first_number_match("none", ["12345"])


@pytest.mark.parametrize(
    "name",
    ["exact_match", "first_number_match", "longrag_match", "meteor", "rouge_l",
     "token_f1"],
)  # fmt: skip
@pytest.mark.parametrize("references", ["a bare string", [], None])
def test_references_are_a_list_of_texts(name, references):
    with pytest.raises(InvalidOptionError) as caught:
        getattr(metrics, name)("answer", references)
    assert (caught.value.option, caught.value.value) == ("references", references)
