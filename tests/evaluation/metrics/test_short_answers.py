"""Token F1, exact match and the PassKey score."""

import string
import unicodedata
from fractions import Fraction

import pytest

from oprag.errors import InvalidOptionError
from oprag_eval import metrics
from oprag_eval.metrics import exact_match, first_number_match, token_f1
from tests.evaluation.metrics.cases import CASES, answers


def _words(text):
    """Answer words by hand: character by character, then word by word."""
    kept = [c for c in text.lower() if c not in string.punctuation]
    # `\b` looks at word characters only, so an article may touch a sign.
    runs, run, is_word = [], "", None
    for character in [*kept, None]:
        now = character is not None and (character.isalnum() or character == "_")
        if is_word is not None and (now != is_word or character is None):
            runs.append(" " if run in ("a", "an", "the") else run)
            run = ""
        run += character or ""
        is_word = now
    return "".join(runs).split()


def _f1(prediction, reference):
    left = _words(reference)
    size = len(left) + len(_words(prediction))
    common = 0
    for word in _words(prediction):
        if word in left:
            left.remove(word)
            common += 1
    return Fraction(2 * common, size) if common else Fraction(0)


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


def test_f1_equals_an_independent_count_on_random_answers():
    scores = []
    for prediction, references in answers(1):
        expected = max(_f1(prediction, reference) for reference in references)
        scores.append(token_f1(prediction, references))
        assert scores[-1] == pytest.approx(float(expected), abs=1e-12)

    assert len(scores) == CASES
    assert len(set(scores)) > 20  # the cases do not all end at 0 or 1


def test_exact_match_looks_past_case_punctuation_articles_and_blanks():
    assert exact_match("  The Monroe\nDoctrine! ", ["monroe doctrine"])
    assert not exact_match("Health Points", ["hit points or health points"])
    assert exact_match("caf\u00e9", ["cafe\u0301"])
    assert not exact_match("café", ["cafe"])


def test_exact_match_equals_an_independent_comparison_on_random_answers():
    found = [0, 0]
    for prediction, references in answers(2, longest=2):
        spelt = [unicodedata.normalize("NFD", t) for t in (prediction, *references)]
        expected = _words(spelt[0]) in [_words(text) for text in spelt[1:]]
        assert exact_match(prediction, references) == expected
        found[expected] += 1

    assert min(found) > 100


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
