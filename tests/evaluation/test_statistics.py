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
from oprag_eval.statistics import (
    Comparison,
    Figure,
    Sampling,
    adjusted,
    clusters_of,
    over_sets,
    pair_questions,
)


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
        # Wilson's of 4 of 8: z² is 3.8415, the middle stays 1/2, and half of it is
        # z sqrt(8 / 4 + z² / 4) / (8 + z²) = 1.95996 * sqrt(2.96036) / 11.8415.
        found = Sampling(range(8)).estimate([0, 1] * 4)

        assert found.low == pytest.approx(0.5 - 0.284784, abs=1e-6)
        assert found.high == pytest.approx(0.5 + 0.284784, abs=1e-6)
        assert found.questions == 8

    def test_it_is_wilsons_of_as_many_questions_as_the_documents_are_worth(self):
        # Ten documents with two questions each, both right or both wrong: they are
        # worth ten questions; half of them are not the first of their document, so t
        # has 9 / (1/2) degrees of freedom.
        from scipy.stats import t

        clusters = [n // 2 for n in range(20)]
        found = Sampling(clusters).estimate([1, 1] * 6 + [0, 0] * 4)

        z = t.ppf(0.975, 18)
        total = 10 + z**2
        half = z * (10 * 0.6 * 0.4 + z**2 / 4) ** 0.5 / total
        assert found.low == pytest.approx((6 + z**2 / 2) / total - half)
        assert found.high == pytest.approx((6 + z**2 / 2) / total + half)

    def test_scores_between_the_ends_have_a_narrower_interval(self):
        between = Sampling(range(20)).estimate([0.4, 0.6] * 10)
        at_the_ends = Sampling(range(20)).estimate([0, 1] * 10)

        assert between.mean == at_the_ends.mean == 0.5
        assert between.high - between.low < (at_the_ends.high - at_the_ends.low) / 2

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("documents", "each", "accuracy"),
        [(3, 4, 0.75), (10, 4, 0.75), (10, 20, 0.75), (30, 7, 0.9), (50, 2, 0.5)],
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
            truth = accuracy
            if sampling.unit == "questions":  # on these documents
                normal = statistics.NormalDist()
                truth = statistics.fmean(normal.cdf(bound - one) for one in shared)
            held += found.low <= truth <= found.high

        assert 0.93 <= held / 1000 <= 0.975

    def test_few_documents_are_seen_as_their_questions_and_it_says_so(self):
        nine = Sampling([n % 9 for n in range(18)])
        found = nine.estimate([0, 1] * 9)

        assert (nine.unit, nine.groups) == ("questions", 18)
        assert ends(found) == ends(Sampling(range(18)).estimate([0, 1] * 9))
        assert Sampling(range(10)).unit == "documents"

    def test_one_question_says_nothing_about_others(self):
        assert ends(Sampling([0]).estimate([0.5])) == (0.5, 0, 1)
        assert ends(Sampling([0, 0, 1]).estimate([1, None, None])) == (1, 0, 1)

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
        assert -0.1 < found.low < -0.09
        assert (found.low, found.high) == (-found.high, -found.low)
        assert -0.015 < more.low < 0

    def test_arms_that_never_differ_do_not_make_questions_on_a_document_alike(self):
        alike = [0.5] * 40
        together = Sampling([n % 10 for n in range(40)]).compare(alike, alike)
        alone = Sampling(range(40)).compare(alike, alike)

        assert (together.low, together.high) == (alone.low, alone.high)

    def test_differences_that_a_document_shares_widen_the_interval(self):
        # Of ten documents with four questions two are lost, with all their questions.
        first, second = [1] * 40, [0, 0, *[1] * 8] * 4
        together = Sampling([n % 10 for n in range(40)]).compare(first, second)
        alone = Sampling(range(40)).compare(first, second)

        assert together.high - together.low > 1.6 * (alone.high - alone.low)


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
    both = [
        Comparison(
            mean=mean,
            centre=mean,
            error=error,
            freedom=freedom,
            questions=questions,
            low=0,
            high=0,
            better=1,
            worse=2,
            p=0.5,
        )
        for mean, error, freedom, questions in [
            (0.5, 0.03, 99, 100),
            (0.2, 0.05, 59, 60),
        ]
    ]
    found = over_sets(both)

    # Welch: (a + b)² / (a² / 99 + b² / 59), of the variances 0.0009 and 0.0025.
    assert found.mean == pytest.approx(0.35)
    assert found.error == pytest.approx(0.0034**0.5 / 2)
    assert found.freedom == pytest.approx(0.0034**2 / (9e-4**2 / 99 + 25e-4**2 / 59))
    assert (found.questions, found.better, found.worse) == (160, 2, 4)
    alone = Sampling([0]).compare([1], [0])
    assert (over_sets([alone, alone]).p, over_sets([alone]).p) == (1, 1)


class TestPairing:
    def test_a_hand_worked_bound(self):
        # Of 100 questions the first is worse on 4 and better on none. But for 10 %:
        # z is 1.28155, so one question is added at each end.
        found = pair_questions(np.array([0.0] * 4 + [1.0] * 96), np.ones(100))
        variance = (4 + 2) / 102 - (4 / 102) ** 2
        half = 1.28155 * (variance / 102) ** 0.5

        assert found.below(0.1) == pytest.approx(4 / 102 + half, abs=1e-6)
        assert found.below(0.1, least=True) == pytest.approx(4 / 102 - half, abs=1e-6)

    @pytest.mark.parametrize("doubt", [0.1, 0.02, 0.004])
    def test_where_nothing_differs_less_doubt_leaves_more_room(self, doubt):
        alike = pair_questions(np.ones(40), np.ones(40))

        # The chance to see no question that differs, of which there are so many.
        unseen = (1 - alike.below(doubt)) ** 40
        assert unseen < 0.31
        assert alike.below(doubt / 2) > alike.below(doubt)

    def test_ten_times_the_questions_leave_less_room(self):
        found = pair_questions(np.array([1.0, 0.0] * 20), np.ones(40))

        assert found.below(0.1, 10) < found.below(0.1) - 0.05

    def test_one_question_is_no_pairing(self):
        assert pair_questions(np.array([1.0, np.nan]), np.array([0.0, 1.0])) is None
