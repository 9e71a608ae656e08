"""How far arms may be below the best: by hand, and what they promise."""

from __future__ import annotations

import math

import pytest

from oprag_eval.standing import behind
from oprag_eval.statistics import Sampling
from tests.evaluation.metrics.cases import seeded


def test_one_arm_is_the_best():
    assert behind(Sampling([0, 1]), [[1, 0]], margin=0.02, confidence=0.9) == [(0, 0)]


def test_of_two_arms_it_is_the_one_sided_bound_of_their_difference():
    rng = seeded(6)
    first = [float(rng.random() < 0.8) for _ in range(400)]
    second = [float(rng.random() < 0.5) for _ in range(400)]
    sampling = Sampling(range(400))
    (better, worse) = behind(
        sampling, [first, second], margin=0.02, confidence=0.9, draws=50_000
    )
    found = sampling.compare(second, first).difference

    one_sided, two_sided = 1.2837, 1.9659  # Student's t of 399 degrees
    middle, half = (found.low + found.high) / 2, (found.high - found.low) / 2
    expected = -middle + half * one_sided / two_sided
    assert worse.most == pytest.approx(expected, abs=0.003)
    assert (better.most, better.times, worse.times) == (0, 1, math.inf)


def test_so_many_times_the_questions_show_what_these_do_not():
    rng = seeded(7)
    arms = [[float(rng.random() < 0.7) for _ in range(50)] for _ in range(2)]
    arms[1] = [*arms[0][:48], 1 - arms[0][48], arms[0][49]]
    arms.sort(key=sum, reverse=True)
    (best, _) = behind(Sampling(range(50)), arms, margin=0.02, confidence=0.9)
    times = math.ceil(1.1 * best.times)
    many = [values * times for values in arms]
    (shown, _) = behind(Sampling(range(50 * times)), many, margin=0.02, confidence=0.9)

    assert best.most > 0.02
    assert shown.most <= 0.02


def test_questions_that_no_two_arms_share_show_nothing():
    found = behind(
        Sampling([0, 1]), [[1, None], [None, 1]], margin=0.02, confidence=0.9
    )

    assert found == [(1, math.inf)] * 2
