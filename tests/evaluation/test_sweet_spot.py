"""The sweet spot on cases worked by hand."""

from __future__ import annotations

import pytest

from oprag.errors import InvalidOptionError
from oprag.evaluation.statistics import Resampling
from oprag.evaluation.sweet_spot import Candidate, sweet_spot

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
