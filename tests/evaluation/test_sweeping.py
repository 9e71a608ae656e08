"""Budgets that fit the documents, what a sweep measures by, and the sweet spot."""

from __future__ import annotations

import dataclasses

import pytest

from oprag.chunk import Span
from oprag.errors import InvalidOptionError
from oprag.evaluation.data import Dataset, Document, Question
from oprag.evaluation.statistics import Resampling
from oprag.evaluation.sweeping import (
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


TEN = Resampling(range(10))
"""Ten questions, each on a document of its own."""


def arm(tokens: float, *values: float | None) -> Candidate:
    return Candidate(f"{tokens:g} tokens", tokens, values)


def test_the_best_is_taken_where_everything_cheaper_is_worse_on_every_question():
    # Differences to the best are -1 on all ten: every resample's mean is -1.
    low, high = arm(100, *[0.0] * 10), arm(200, *[1.0] * 10)

    found = sweet_spot([low, high], TEN)

    assert found is not None
    assert (found.chosen, found.best) == (1, 1)
    assert found.comparison.difference[:3] == (0.0, 0.0, 0.0)


def test_fewer_tokens_are_taken_where_the_difference_may_be_zero():
    # 8 of 10 right against 9 of 10: one question differs. A resample leaves that
    # question out with (9/10)^10 = 35 %, so the interval ends at zero.
    low, high = arm(100, *[1.0] * 8, 0.0, 0.0), arm(200, *[1.0] * 9, 0.0)

    found = sweet_spot([low, high], TEN)

    assert found is not None
    assert (found.chosen, found.best) == (0, 1)
    assert found.estimate.mean == pytest.approx(0.8)
    assert found.best_estimate.mean == pytest.approx(0.9)
    assert found.comparison.difference.mean == pytest.approx(-0.1)
    assert found.comparison.difference.high == 0
    assert (found.comparison.better, found.comparison.worse) == (0, 1)


def test_a_steady_difference_is_significant_however_small():
    # -0.01 on each question: every resample's mean is -0.01.
    low, high = arm(100, *[0.50] * 10), arm(200, *[0.51] * 10)

    found = sweet_spot([low, high], TEN)

    assert found is not None
    assert found.chosen == 1


def test_what_falls_behind_its_peak_is_never_taken_for_more_tokens():
    up, peak, down = (arm(t, *[v] * 10) for t, v in ((1, 0.1), (2, 0.9), (3, 0.5)))

    found = sweet_spot([down, up, peak], TEN)

    assert found is not None
    assert (found.chosen, found.best) == (2, 2)


def test_of_equal_means_the_cheaper_is_best_and_then_the_first():
    found = sweet_spot([arm(9, *[1.0] * 10), *[arm(5, *[1.0] * 10)] * 2], TEN)

    assert found is not None
    assert (found.chosen, found.best) == (1, 1)


@pytest.mark.parametrize(("tokens", "chosen"), [(105, 1), (106, 0)])
def test_of_those_that_take_about_the_same_the_better_is_taken(tokens, chosen):
    # One wrong of ten, none, and the best at ten times the tokens, none either: the
    # first reaches zero as above. 105 is a twentieth more than 100.
    first = arm(100, *[1.0] * 9, 0.0)
    second, third = arm(tokens, *[1.0] * 10), arm(1000, *[1.0] * 10)

    found = sweet_spot([first, second, third], TEN)

    assert found is not None
    assert (found.chosen, found.best) == (chosen, 1)
    assert found.estimate.mean == pytest.approx([0.9, 1.0][chosen])


def test_what_is_uncertain_is_not_taken_before_what_is_better_for_less():
    # A steady -0.01 is significant. Two wrong of ten are worse, and are not: a
    # resample leaves both out with (8/10)^10 = 11 %.
    steady, uncertain = arm(100, *[0.99] * 10), arm(200, *[1.0] * 8, 0.0, 0.0)
    best = arm(1000, *[1.0] * 10)

    found = sweet_spot([steady, uncertain, best], TEN)
    alone = sweet_spot([uncertain, best], TEN)

    assert found is not None
    assert alone is not None
    assert (found.chosen, alone.chosen) == (2, 0)


def test_what_is_significantly_worse_is_not_taken_for_being_as_cheap():
    first, worse = arm(100, *[1.0] * 10), arm(101, *[0.0] * 10)

    found = sweet_spot([worse, first], TEN)

    assert found is not None
    assert found.chosen == 1


def test_documents_are_drawn_and_not_questions():
    # Five questions on each of two documents; the cheap arm fails on one document
    # only. A resample has that document twice, once or never: the interval of the
    # difference is -1 to 0, so it is not significant, though 5 questions are worse.
    two = Resampling([0] * 5 + [1] * 5)
    low, high = arm(100, *[1.0] * 5, *[0.0] * 5), arm(200, *[1.0] * 10)

    found = sweet_spot([low, high], two)

    assert found is not None
    assert found.chosen == 0
    assert found.comparison.difference[:3] == (-0.5, -1.0, 0.0)


def test_questions_without_a_value_and_arms_without_any_are_left_out():
    low, high = arm(100, *[None] * 10), arm(200, 1.0, *[None] * 9)

    found = sweet_spot([low, high], TEN)

    assert found is not None
    assert found.chosen == 1
    assert found.estimate.questions == 1
    assert sweet_spot([low], TEN) is None


def test_without_an_arm_there_is_nothing_to_choose():
    with pytest.raises(InvalidOptionError, match="no arm"):
        sweet_spot([], TEN)
