"""Intervals and paired differences: by hand, by brute force, and what they promise."""

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.errors import InvalidOptionError
from oprag_eval.data import Question
from oprag_eval.statistics import Figure, Sampling, adjusted, clusters_of, over_sets


def ends(found: Figure) -> tuple[float, float, float]:
    return found.mean, found.low, found.high


def question(number: int, *doc_ids: str) -> Question:
    return Question(f"q{number}", doc_ids, "?")


class TestClusters:
    def test_a_question_on_the_whole_set_is_a_group_of_its_own(self):
        asked = [question(1), question(2, "a"), question(3), question(4, "a")]
        assert clusters_of(asked) == [0, 1, 2, 1]

    @given(st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=3), max_size=8))
    def test_two_questions_share_a_group_if_a_chain_of_documents_joins_them(self, sets):
        asked = [question(n, *map(str, sorted(docs))) for n, docs in enumerate(sets)]
        joined = [[bool(a & b) for b in sets] for a in sets]
        places = range(len(sets))
        for middle, first, second in itertools.product(places, repeat=3):
            joined[first][second] |= joined[first][middle] and joined[middle][second]

        clusters = clusters_of(asked)

        assert joined == [[a == b for b in clusters] for a in clusters]
        assert list(dict.fromkeys(clusters)) == list(range(len(set(clusters))))


class TestEstimate:
    def test_a_hand_worked_interval(self):
        # Eight documents of one question, 4 right: the mean is 1/2, residuals are all
        # 1/2, so the variance is 8/7 · 8 · 1/4 / 64 = 1/28, and nothing is moved by
        # two questions added at 0 and at 1. Student's t of 7 degrees is 2.3646.
        found = Sampling(range(8)).estimate([0, 1] * 4)

        half = 2.364624 / 28**0.5
        assert found.low == pytest.approx(0.5 - half, abs=1e-6)
        assert found.high == pytest.approx(0.5 + half, abs=1e-6)
        assert found.questions == 8

    def test_the_error_is_that_of_sums_of_whole_documents(self):
        # Sums 3 of 4, 1 of 2, 0 of 2: mean 1/2, residuals 1, 0, -1; the variance is
        # 3/2 · 2 / 64. Degrees of freedom: 64 / (16 + 4 + 4) - 1 = 5/3.
        clusters, values = [0] * 4 + [1] * 2 + [2] * 2, [1, 1, 1, 0, 1, 0, 0, 0]
        found = Sampling(clusters).estimate(values)

        from scipy.stats import t

        half = t.ppf(0.975, 5 / 3) * (3 / 64) ** 0.5
        assert (found.low, found.high) == (max(0, 0.5 - half), min(1, 0.5 + half))

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("documents", "each", "accuracy"),
        [(10, 10, 0.75), (10, 10, 0.9), (10, 30, 0.75), (20, 5, 0.9), (50, 2, 0.5)],
    )
    def test_it_holds_the_truth_as_often_as_it_says(self, documents, each, accuracy):
        rng, held = np.random.default_rng(8), 0
        bound = statistics.NormalDist(sigma=1.25**0.5).inv_cdf(accuracy)
        clusters = np.repeat(np.arange(documents), each).tolist()
        sampling = Sampling(clusters)
        for _ in range(1000):
            shared = np.repeat(rng.normal(0, 0.5, documents), each)
            right = shared + rng.normal(0, 1, len(clusters)) < bound
            found = sampling.estimate(right.astype(float).tolist())
            held += found.low <= accuracy <= found.high

        assert 0.93 <= held / 1000 <= 0.975

    def test_one_document_is_seen_as_its_questions_and_says_so(self):
        sampling = Sampling([0] * 8)
        found = sampling.estimate([0, 1] * 4)

        assert (sampling.unit, sampling.groups) == ("questions", 8)
        assert ends(found) == ends(Sampling(range(8)).estimate([0, 1] * 4))
        assert Sampling([0, 1]).unit == "documents"

    def test_one_question_says_nothing_about_others(self):
        assert ends(Sampling([0]).estimate([0.5])) == (0.5, 0, 1)
        assert ends(Sampling([0, 0, 1]).estimate([1, 0, None])) == (0.5, 0, 1)

    def test_without_a_value_there_is_none(self):
        assert Sampling([0, 1]).estimate([None, None]) is None

    def test_no_question_is_an_error(self):
        with pytest.raises(InvalidOptionError, match="no question"):
            Sampling([])


SCORES = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 4)), st.one_of(st.none(), st.integers(0, 4))
    ),
    min_size=4,
    max_size=12,
)


class TestComparison:
    def test_a_hand_worked_difference(self):
        # Differences 1, -1, 0, 1, and one that only the first has: mean 1/4 of four.
        sampling = Sampling([0, 0, 1, 1, 2])
        found = sampling.compare([1, 0, 1, 1, 1], [0, 1, 1, 0, None])

        assert found.mean == pytest.approx(1 / 4)
        assert (found.better, found.worse) == (2, 1)
        assert found.questions == 4

    @given(SCORES)
    def test_the_other_way_round_it_is_the_negative(self, pairs):
        first, second = zip(*pairs, strict=True)
        sampling = Sampling([n // 2 for n in range(len(pairs))])
        found = sampling.compare(first, second)
        back = sampling.compare(second, first)

        if found is None:
            assert back is None
            assert all(None in pair for pair in pairs)
            return
        assert back.mean == pytest.approx(-found.mean)
        assert back.low == pytest.approx(-found.high)
        assert back.high == pytest.approx(-found.low)
        assert (back.better, back.worse) == (found.worse, found.better)
        assert found.questions == sum(None not in pair for pair in pairs)

    def test_what_is_lost_in_the_last_digit_is_no_difference(self):
        found = Sampling([0, 1]).compare([0.1 + 0.2, 0.3], [0.3, 0.3])

        assert 0.1 + 0.2 > 0.3
        assert found.mean == 0
        assert (found.better, found.worse, found.p) == (0, 0, 1)

    def test_that_no_question_differs_is_no_proof_that_none_would(self):
        alike = [0.5] * 20
        found = Sampling(range(20)).compare(alike, alike)
        more = Sampling(range(400)).compare([0.5] * 400, [0.5] * 400)

        assert found.mean == 0
        assert -0.3 < found.low < -0.1
        assert (found.low, found.high) == (-found.high, -found.low)
        assert -0.015 < more.low < 0


def test_p_is_corrected_for_the_number_of_comparisons():
    # By hand: 0.01 · 4; 0.02 · 3; 0.03 · 2 is no less than that before; 0.5 · 1.
    assert adjusted([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert adjusted([0.9, 0.8]) == [1.0, 1.0]
    assert adjusted([]) == []


def test_p_is_that_of_all_ways_in_which_chance_may_turn_each_question():
    first, second = [1] * 30 + [0] * 370, [0] * 30 + [1] * 12 + [0] * 358
    found = Sampling(range(400)).compare(first, second)
    ways = sum(math.comb(42, n) for n in range(30, 43))

    assert found.p == pytest.approx(2 * ways / 2**42, abs=0.004)


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
