"""The gate: how seldom it is red without a regression, and what it sees."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from oprag.errors import InvalidOptionError
from oprag_eval.gate import (
    Verdict,
    compare_runs,
    drop_chance,
    find_under,
    power_of,
    smallest_seen,
)
from oprag_eval.statistics import Figure
from tests.evaluation.cli.test_sweep import arm, summary


def rows(scores: list[float], system: str = "dos-rag", **more: object) -> list[dict]:
    return [
        {
            "system": system,
            "budget": 500,
            "user_input": f"Question {number}?",
            "document": "notes.md",
            "recall": score,
            **more,
        }
        for number, score in enumerate(scores)
    ]


def changed(worse: int, better: int, questions: int) -> tuple[list[float], list[float]]:
    """The scores before and after of questions of which so many changed."""
    same = questions - worse - better
    before = [1.0] * worse + [0.0] * better + [1.0] * same
    return before, [0.0] * worse + [1.0] * better + [1.0] * same


def test_the_chance_of_a_drop_is_that_of_all_ways_to_turn_what_changed():
    before, after = changed(7, 2, 40)
    drops = [b - a for b, a in zip(before, after, strict=True)]
    by_hand = sum(math.comb(9, k) for k in range(7, 10)) / 2**9

    assert drop_chance(drops) == pytest.approx(by_hand)
    assert drop_chance([0.0] * 40) == 1


def test_scores_between_right_and_wrong_have_their_signs_turned():
    drops = [0.5, 0.25, 0.7, -0.1, 0.3, 0.2, 0.05]
    turned = itertools.product([1, -1], repeat=len(drops))
    sums = [sum(s * d for s, d in zip(signs, drops, strict=True)) for signs in turned]
    by_hand = sum(each >= sum(drops) - 1e-9 for each in sums) / len(sums)

    assert drop_chance(drops) == pytest.approx(by_hand, abs=0.006)
    assert drop_chance(drops) == drop_chance(drops)


@pytest.mark.parametrize("differ", [0.05, 0.1, 0.2, 0.5])
@pytest.mark.parametrize("questions", [12, 40, 200])
def test_without_a_regression_it_is_red_in_at_most_five_of_a_hundred(questions, differ):
    assert power_of(questions, 0.0, differ, 0.05) <= 0.05


@pytest.mark.parametrize(("differ", "power"), [(0.05, 0.97), (0.1, 0.67), (0.2, 0.42)])
def test_the_power_of_five_points_at_two_hundred_questions(differ, power):
    found = power_of(200, 0.05, differ, 0.05)

    drawn = np.random.default_rng(8).multinomial(
        200, [(differ + 0.05) / 2, (differ - 0.05) / 2, 1 - differ], 2000
    )
    red = [stats.binom.sf(w - 1, w + b, 0.5) <= 0.05 for w, b, _ in drawn]
    assert found == pytest.approx(power, abs=0.01)
    assert np.mean(red) == pytest.approx(found, abs=0.03)


def test_the_smallest_drop_that_it_could_have_seen_has_that_power():
    found = smallest_seen(200, 0.1, 0.05)

    assert power_of(200, found, 0.1, 0.05) >= 0.8
    assert power_of(200, found - 0.005, 0.1, 0.05) < 0.8
    assert smallest_seen(4, 0.0, 0.05) is None


def test_a_drop_is_red_and_says_what_it_saw():
    before, after = changed(14, 2, 200)
    (found,) = compare_runs(rows(before), rows(after), "recall")

    assert found.red
    assert (found.worse, found.better, found.questions) == (14, 2, 200)
    assert found.low < -0.06 < found.high < 0
    lines = list(Verdict(changes=(found,)).lines(summary([]), Path("main")))
    assert lines[0].startswith(
        "Red: dos-rag, 500, beside main: 99.00 before, 93.00 now"
    )
    assert "worse on 14, better on 2 of 200 questions, p 0.002." in lines[0]
    assert "The smallest drop that it could have seen, in four of five" in lines[0]


def test_several_arms_are_corrected_for_their_number():
    before, after = changed(6, 0, 100)  # p is 1/64
    alone = compare_runs(rows(before), rows(after), "recall")
    others = [rows(before, f"other-{n}") for n in range(4)]
    was = rows(before) + [row for each in others for row in each]
    now = rows(after) + [row for each in others for row in each]

    assert [each.red for each in alone] == [True]
    assert not any(each.red for each in compare_runs(was, now, "recall"))


def test_questions_are_the_same_by_their_words_whatever_their_number():
    before = rows([1.0, 0.0, 1.0])
    after = [*reversed(rows([1.0, 0.0, 0.0])), *rows([1.0], user_input="Another?")]
    (found,) = compare_runs(before, after, "recall")

    assert (found.questions, found.worse, found.better) == (3, 1, 0)
    assert found.low is None


def test_runs_that_share_nothing_are_an_error():
    with pytest.raises(InvalidOptionError, match="It has dos-rag, 500: no system"):
        compare_runs(rows([1.0]), rows([1.0], "op-rag"), "recall")


def test_scores_under_their_bound_are_named():
    held = summary([arm("dos-rag", 500, 9.0, Figure(0.79, 0.7, 0.9, 60))])

    (found,) = find_under(held, {"recall": 0.8})
    assert (found.arm, found.measure, found.score) == (
        "dos-rag, 500",
        "evidence_recall",
        0.79,
    )
    assert find_under(held, {"evidence_recall": 0.79}) == []
    with pytest.raises(InvalidOptionError, match="This run has evidence_recall"):
        find_under(held, {"token_f1": 0.1})
