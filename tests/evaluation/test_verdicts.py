"""When a claim and a table come out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oprag_eval.reproduction import Claim, judge, verdict_of
from oprag_eval.statistics import Comparison, Sampling, over_sets


def differing(better: int, worse: int, questions: int = 1000) -> Comparison:
    """Two arms of which each is right alone on so many questions."""
    first = [1] * better + [0] * (questions - better)
    second = [0] * better + [1] * worse + [0] * (questions - better - worse)
    found = Sampling(range(questions)).compare(first, second)
    assert found is not None
    return found


def claim(ours: Comparison | None, paper: float | None, spread: float = 0) -> Claim:
    return Claim("a", "b", "token_f1", ours, paper, spread)


def test_p_is_that_of_all_ways_in_which_chance_may_turn_each_question():
    found = differing(30, 12, 400)
    ways = sum(math.comb(42, n) for n in range(30, 43))

    assert found.p == pytest.approx(2 * ways / 2**42, abs=0.004)


@pytest.mark.parametrize(
    ("better", "worse", "paper", "verdict"),
    [
        (80, 20, 0.07, "comes out"),
        (80, 20, 0.10, "comes out"),
        (20, 80, -0.07, "comes out"),
        (80, 20, 0.30, "does not come out"),  # shown, and surely less than half
        (20, 80, 0.07, "does not come out"),
        (50, 50, 0.07, "does not come out"),
        (50, 40, 0.03, "too few to tell"),
        (50, 50, 0.02, "too few to tell"),
        (80, 20, None, None),
        (80, 20, 0.009, None),
    ],
)
def test_a_claim_comes_out_where_its_difference_is_shown(better, worse, paper, verdict):
    (found,) = judge([claim(differing(better, worse), paper)])

    assert found.verdict == verdict
    assert verdict_of([found]) == verdict


def test_what_the_papers_own_runs_explain_is_no_claim():
    ours = differing(80, 20)
    within, beyond = judge([claim(ours, 0.02, 0.011), claim(ours, 0.02, 0.009)])

    assert (within.verdict, beyond.verdict) == (None, "comes out")


def test_the_more_claims_the_more_each_has_to_show():
    alone = claim(differing(34, 16), 0.03)  # p = 0.011
    (found,) = judge([alone])
    among = judge([alone, *[claim(differing(50, 48), 0.01)] * 4])

    assert found.verdict == "comes out"
    assert among[0].verdict == "too few to tell"
    assert among[0].p == pytest.approx(5 * found.p)


def test_a_pair_that_was_not_asked_tells_nothing():
    missing, there = judge([claim(None, 0.07), claim(differing(80, 20), 0.07)])

    assert (missing.verdict, missing.p) == ("too few to tell", None)
    assert there.verdict == "comes out"


def test_a_table_does_what_more_of_its_claims_do():
    good, bad = claim(differing(80, 20), 0.07), claim(differing(20, 80), 0.07)
    open_, none = claim(differing(50, 48), 0.01), claim(differing(80, 20), None)

    def verdict(*pairs):
        return verdict_of(judge(pairs))

    assert verdict(good, open_, open_, none) == "comes out"
    assert verdict(good, bad, bad) == "does not come out"
    assert verdict(good, bad) == verdict(open_) == "too few to tell"
    assert verdict(none) is None


def test_over_sets_error_and_freedom_are_welchs():
    from scipy import stats

    draw = np.random.default_rng(1)
    one, other = draw.random(100), draw.normal(0.3, 0.4, 60)
    both = [Sampling(range(len(v))).compare(v, [0.0] * len(v)) for v in (one, other)]
    found = over_sets(both)
    welch = stats.ttest_ind(one, other, equal_var=False)

    assert found.mean == pytest.approx((one.mean() + other.mean()) / 2)
    assert found.freedom == pytest.approx(welch.df)
    assert found.error == pytest.approx(
        abs(one.mean() - other.mean()) / welch.statistic / 2
    )
    assert found.questions == 160
    alone = Sampling([0]).compare([1], [0])
    assert (over_sets([alone, alone]).p, over_sets([alone]).p) == (1, 1)
