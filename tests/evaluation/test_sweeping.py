"""Budgets that fit the documents, what a sweep measures by, and the sweet spot."""

from __future__ import annotations

import dataclasses

import pytest

from oprag.chunk import Span
from oprag.errors import InvalidOptionError
from oprag_eval.data import Dataset, Document, Question
from oprag_eval.statistics import Sampling
from oprag_eval.sweeping import (
    MARGIN,
    Candidate,
    budgets_for,
    sweep_measure,
    sweet_spot,
    with_answer_recall,
)


def dataset(sizes: dict[str, int], *asked: tuple[str, ...], **facts) -> Dataset:
    """Documents of so many words, and questions on these of them."""
    documents = {name: Document(name, "", "w " * n) for name, n in sizes.items()}
    questions = tuple(
        Question(str(number), doc_ids, "?", **facts)
        for number, doc_ids in enumerate(asked)
    )
    return Dataset("own", questions, documents, ("token_f1",))


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("size", "budgets"),
    [
        (100, [250]),
        (250, [250]),
        (251, [250]),
        (1001, [250, 500, 1000]),
        (1_000_000, [250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000]),
    ],
)
def test_budgets_are_those_that_the_documents_exceed(size, budgets):
    assert budgets_for(dataset({"a": size}, ("a",)), words) == budgets


def test_the_largest_question_counts_and_documents_that_nobody_asks_of_do_not():
    sizes = {"a": 300, "b": 300, "unasked": 9000}

    assert budgets_for(dataset(sizes, ("a",), ("a", "b")), words) == [250, 500]


def test_a_question_of_no_document_is_of_all():
    assert budgets_for(dataset({"a": 400, "b": 700}, ()), words) == [250, 500, 1000]


def test_a_document_is_counted_once():
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(counted)

    budgets_for(dataset({"a": 3, "b": 4}, ("a",), ("a", "b"), (), ("b",)), count)

    assert len(counted) == 2


ANSWERED = {"answers": ("w",)}


class TestWhatIsMeasured:
    def test_answers_in_contexts_where_no_model_answers(self):
        own = with_answer_recall(dataset({"a": 5}, ("a",), **ANSWERED))

        assert "longrag_match" in own.metrics
        assert sweep_measure(own, offline=True) == "answer_recall"
        assert sweep_measure(own, offline=False) == ""

    def test_evidence_before_answers(self):
        facts = {**ANSWERED, "evidence": (Span(0, 1),)}
        own = with_answer_recall(dataset({"a": 5}, ("a",), **facts))

        assert own.metrics == ("token_f1",)
        assert sweep_measure(own, offline=True) == "evidence_recall"

    def test_no_options_and_no_question_without_an_answer(self):
        options = {**ANSWERED, "options": ("w", "v"), "gold_option": 0}
        for facts in (options, {}):
            own = dataset({"a": 5}, ("a",), **facts)
            assert with_answer_recall(own) is own
            assert sweep_measure(own, offline=True) == ""

    def test_a_set_that_names_it_stays_as_it_is(self):
        own = dataset({"a": 5}, ("a",), **ANSWERED)
        named = dataclasses.replace(own, metrics=("longrag_match",))

        assert with_answer_recall(named) is named


HUNDREDS = Sampling(range(400))
"""400 questions, each on a document of its own."""


def arm(tokens: float, right: int, of: int = 400) -> Candidate:
    """An arm that has the first questions right."""
    return Candidate(f"{tokens:g} tokens", tokens, [1.0] * right + [0.0] * (of - right))


def spot(*candidates: Candidate, sampling: Sampling = HUNDREDS):
    found = sweet_spot(candidates, sampling)
    assert found is not None
    return found


def test_the_best_is_taken_where_everything_cheaper_is_worse():
    found = spot(arm(100, 200), arm(200, 300))

    assert (found.chosen, found.best) == (1, 1)
    assert found.comparison is None
    assert found.more_questions == 0


def test_fewer_tokens_are_taken_where_they_are_shown_to_lose_little():
    # Two of 400 are lost: half a point, and surely less than two.
    found = spot(arm(100, 300), arm(200, 302))

    assert (found.chosen, found.best) == (0, 1)
    assert found.comparison is not None
    assert found.comparison.difference.mean == pytest.approx(-0.005)
    assert 0.005 < found.behind.most <= MARGIN


def test_that_a_difference_is_not_significant_does_not_show_that_there_is_none():
    # 8 of 10 right against 9 of 10: one question differs, and ten show nothing.
    ten = Sampling(range(10))
    found = spot(arm(100, 8, 10), arm(200, 9, 10), sampling=ten)

    assert (found.chosen, found.best) == (None, 1)
    assert found.behind.most > MARGIN
    assert found.more_questions is not None
    assert 0 < found.more_questions < 1000


def test_so_many_more_questions_as_it_asks_for_do_tell():
    values = [1.0] * 40 + [0.0] * 20, [0.0] * 4 + [1.0] * 41 + [0.0] * 15
    arms = [Candidate("", 100 * n, held) for n, held in enumerate(values, start=1)]
    few = spot(*arms, sampling=Sampling(range(60)))
    assert few.chosen is None
    assert few.more_questions is not None

    times = -(-(60 + few.more_questions) // 60)
    many = [each._replace(values=[*each.values] * times) for each in arms]
    assert spot(*many, sampling=Sampling(range(60 * times))).chosen == 1


def test_questions_on_few_documents_count_for_less():
    # Ten questions are lost and ten others won; each time all on one document of 40.
    other = Candidate("", 200, [0.0] * 10 + [1.0] * 300 + [0.0] * 90)
    documents = Sampling([n // 40 for n in range(400)])

    assert spot(arm(100, 300), other).chosen == 0
    assert spot(arm(100, 300), other, sampling=documents).chosen is None


def test_what_falls_behind_its_peak_is_never_taken_for_more_tokens():
    found = spot(arm(3, 200), arm(1, 40), arm(2, 360))

    assert (found.chosen, found.best) == (2, 2)


def test_of_equal_means_the_cheaper_is_best_and_then_the_first():
    found = spot(arm(9, 400), arm(5, 400), arm(5, 400))

    assert (found.chosen, found.best) == (1, 1)


@pytest.mark.parametrize(("tokens", "chosen"), [(105, 1), (106, 0)])
def test_of_those_that_take_about_the_same_the_better_is_taken(tokens, chosen):
    found = spot(arm(100, 399), arm(tokens, 400), arm(1000, 400))

    assert (found.chosen, found.best) == (chosen, 1)


@pytest.mark.parametrize(("answered", "chosen"), [(200, 1), (201, 0)])
def test_an_arm_with_mostly_failed_questions_is_never_the_advice(answered, chosen):
    failed = Candidate("failed", 100, [1.0] * answered + [None] * (400 - answered))
    found = spot(failed, arm(200, 400))

    assert found.chosen == chosen


def test_arms_without_any_value_are_left_out():
    none = Candidate("none", 100, [None] * 400)

    assert spot(none, arm(200, 300)).chosen == 1
    assert sweet_spot([none], HUNDREDS) is None


def test_one_question_asks_for_no_number_of_more():
    found = spot(arm(100, 0, 1), arm(200, 1, 1), sampling=Sampling([0]))

    assert (found.chosen, found.more_questions) == (None, None)


def test_without_an_arm_there_is_nothing_to_choose():
    with pytest.raises(InvalidOptionError, match="no arm"):
        sweet_spot([], HUNDREDS)
