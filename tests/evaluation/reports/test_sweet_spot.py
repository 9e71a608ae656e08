"""The sweet spot: the fewest tokens that are shown to do as well as the best."""

import numpy as np
import pytest

from oprag_eval.reports.comparison import Compared
from oprag_eval.reports.summary import SweetSpot
from oprag_eval.reports.sweet_spot import MARGINS, sweet_spot
from oprag_eval.statistics import pair_questions


def of(tokens: float, values: list[float | None]) -> Compared:
    return Compared("", "s", None, tokens, values)


def arm(tokens: float, right: int, of_all: int = 400) -> Compared:
    """An arm that has the first questions right."""
    return of(tokens, [1.0] * right + [0.0] * (of_all - right))


def spot(*arms: Compared) -> SweetSpot:
    named = [each._replace(label=str(place)) for place, each in enumerate(arms)]
    return sweet_spot(named)


def test_the_best_is_taken_where_everything_cheaper_is_worse():
    found = spot(arm(100, 200), arm(200, 300))

    assert (found.chosen, found.best) == ("1", "1")
    assert found.difference is None


def test_fewer_tokens_are_taken_where_they_are_shown_to_lose_little():
    # Two of 400 are lost: half a point, and surely less than two.
    found = spot(arm(100, 300), arm(200, 302))

    assert (found.chosen, found.best) == ("0", "1")
    assert found.difference.mean == pytest.approx(-0.005)
    assert 0.005 < found.at_most_behind <= found.margin == MARGINS[0]


def test_that_a_difference_is_not_significant_does_not_show_that_there_is_none():
    # 8 of 10 right against 9 of 10: one question differs, and ten show nothing.
    found = spot(arm(100, 8, 10), arm(200, 9, 10))

    assert (found.chosen, found.best, found.margin) == (None, "1", None)
    assert found.at_most_behind > MARGINS[-1]
    assert found.difference is None


@pytest.mark.parametrize(("asked", "margin"), [(1000, 0.02), (60, 0.05), (30, 0.1)])
def test_the_smallest_margin_that_some_arm_keeps_is_stated(asked, margin):
    found = spot(arm(100, asked // 2, asked), arm(200, asked // 2, asked))

    assert (found.chosen, found.margin) == ("0", margin)
    assert found.at_most_behind <= margin


@pytest.mark.parametrize("asked", [6, 12, 28])
def test_where_none_is_chosen_it_says_how_many_questions_would_do(asked):
    few = [arm(100, asked // 2, asked), arm(200, asked // 2, asked)]
    found = spot(*few)
    again = found.needed // asked + 1
    more = [each._replace(values=[*each.values] * again) for each in few]

    assert found.chosen is None
    assert asked < found.needed <= 40
    assert spot(*more).chosen == "0"


def test_what_falls_behind_its_peak_is_never_taken_for_more_tokens():
    found = spot(arm(3, 200), arm(1, 40), arm(2, 360))

    assert (found.chosen, found.best) == ("2", "2")


def test_of_equal_means_the_cheaper_is_best_and_then_the_first():
    found = spot(arm(9, 400), arm(5, 400), arm(5, 400))

    assert (found.chosen, found.best) == ("1", "1")


@pytest.mark.parametrize(("tokens", "chosen"), [(105, "1"), (106, "0")])
def test_of_those_that_take_about_the_same_the_better_is_taken(tokens, chosen):
    found = spot(arm(100, 399), arm(tokens, 400), arm(1000, 400))

    assert (found.chosen, found.best) == (chosen, "1")


@pytest.mark.parametrize(("answered", "chosen"), [(200, "1"), (201, "0")])
def test_an_arm_with_mostly_failed_questions_is_never_the_advice(answered, chosen):
    failed = of(100, [1.0] * answered + [None] * (400 - answered))
    found = spot(failed, arm(200, 400))

    assert found.chosen == chosen


def test_arms_without_any_value_are_left_out():
    none = of(100, [None] * 400)

    assert spot(none, arm(200, 300)).chosen == "1"
    assert sweet_spot([none, none]) is None
    assert sweet_spot([arm(200, 300)]) is None


def test_one_question_tells_nothing():
    found = spot(arm(100, 0, 1), arm(200, 1, 1))

    assert (found.chosen, found.at_most_behind) == (None, 1)
    assert found.needed is None


def test_of_two_arms_the_bound_is_the_pairs_own():
    first, second = [1.0] * 300 + [0.0] * 100, [0.0] * 8 + [1.0] * 300 + [0.0] * 92
    found = spot(of(200, first), of(100, second))
    of_best = pair_questions(np.array(second), np.array(first))

    # 9 of 10 parts of the doubt are left for the one comparison.
    assert found.chosen == "1"
    assert found.at_most_behind == pytest.approx(max(0, of_best.below(0.09)))


def test_questions_that_no_two_arms_share_show_nothing():
    one, other = [1.0, None] * 200, [None, 1.0] * 200
    found = spot(of(1, one), of(2, other))

    assert (found.chosen, found.at_most_behind) == (None, 1)
