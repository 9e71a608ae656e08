"""Intervals and paired differences: by hand, by brute force, and what they promise."""

from __future__ import annotations

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.errors import InvalidOptionError
from oprag.evaluation.data import Question
from oprag.evaluation.statistics import Resampling, clusters_of, mean_and_deviation
from tests.evaluation.metrics.cases import seeded


def question(number: int, *doc_ids: str) -> Question:
    return Question(f"q{number}", doc_ids, "?")


class TestClusters:
    def test_questions_on_one_document_are_one_group(self):
        asked = [question(1, "a"), question(2, "b"), question(3, "a")]
        assert clusters_of(asked) == [0, 1, 0]

    def test_documents_are_joined_by_a_question_on_both(self):
        asked = [question(1, "a"), question(2, "b"), question(3, "c", "b", "a")]
        assert clusters_of([*asked, question(4, "d")]) == [0, 0, 0, 1]

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
        # Two documents: 1, 0 and 1. Draws of two: the first twice 1/2 (1 of 4), both
        # 2/3 (2 of 4), the second twice 1 (1 of 4). The ends hold 2.5 % each, so the
        # interval is from the lowest to the highest.
        found = Resampling([0, 0, 1]).estimate([1, 0, 1])

        assert found.mean == pytest.approx(2 / 3)
        assert (found.low, found.high) == (pytest.approx(1 / 2), pytest.approx(1))
        assert (found.questions, found.documents) == (3, 2)

    def test_the_means_are_those_of_documents_written_out_as_often_as_drawn(self):
        rng = seeded(3)
        clusters = [0, 0, 1, 2, 2, 2, 3]
        values = [rng.random() for _ in clusters]
        values[2] = None
        resampling = Resampling(clusters, resamples=400)
        means = []
        for times in resampling._times:
            assert times.sum() == 4
            drawn = [
                value
                for group, value in zip(clusters, values, strict=True)
                for _ in range(times[group])
                if value is not None
            ]
            if drawn:
                means.append(statistics.fmean(drawn))

        found = resampling.estimate(values)

        assert found.low == pytest.approx(np.quantile(means, 0.025))
        assert found.high == pytest.approx(np.quantile(means, 0.975))
        assert (found.questions, found.documents) == (6, 3)

    def test_it_is_near_the_interval_over_every_possible_draw(self):
        values = {0: [0.1, 0.9, 0.4], 1: [0.3], 2: [0.8, 0.7], 3: [0.2], 4: [0.6, 0.5]}
        every = [
            statistics.fmean([v for group in draw for v in values[group]])
            for draw in itertools.product(values, repeat=5)  # all 3,125, equally likely
        ]
        clusters = [group for group, held in values.items() for _ in held]

        found = Resampling(clusters, resamples=20_000).estimate(
            [value for held in values.values() for value in held]
        )

        assert found.low == pytest.approx(np.quantile(every, 0.025), abs=0.01)
        assert found.high == pytest.approx(np.quantile(every, 0.975), abs=0.01)

    def test_repeating_questions_of_a_document_says_nothing_new(self):
        values = [0.0, 1.0, 1.0, 0.0, 1.0]
        once = Resampling(range(5)).estimate(values)
        ten_times = Resampling([n for n in range(5) for _ in range(10)]).estimate(
            [value for value in values for _ in range(10)]
        )

        assert ten_times[:3] == pytest.approx(once[:3])
        assert (once.questions, ten_times.questions) == (5, 50)

    @pytest.mark.slow
    def test_it_holds_the_truth_about_as_often_as_it_says(self):
        rng = np.random.default_rng(8)
        held = 0
        for _ in range(200):
            # 30 documents of 4 questions; half of what varies belongs to the document.
            document = np.repeat(rng.normal(0.5, 1, 30), 4)
            values = document + rng.normal(0, 1, 120)
            clusters = np.repeat(np.arange(30), 4).tolist()
            found = Resampling(clusters, resamples=300).estimate(values.tolist())
            held += found.low <= 0.5 <= found.high
            alone = Resampling(range(120), resamples=300).estimate(values.tolist())
            assert alone.high - alone.low < found.high - found.low

        assert 0.88 <= held / 200 <= 0.99

    def test_one_document_draws_its_questions_and_says_so(self):
        resampling = Resampling([0, 0, 0, 0])
        found = resampling.estimate([0, 1, 0, 1])

        assert (resampling.unit, resampling.groups) == ("questions", 4)
        assert found.low == 0
        assert found.high == 1
        assert found.documents == 1
        assert Resampling([0, 1]).unit == "documents"

    def test_without_a_value_there_is_none(self):
        assert Resampling([0, 1]).estimate([None, None]) is None

    def test_a_seed_decides_the_draws(self):
        rng = seeded(1)
        values = [rng.random() for _ in range(40)]
        of = [Resampling(range(40), seed=s).estimate(values) for s in (1, 1, 2)]

        assert of[0] == of[1]
        assert of[0] != of[2]

    def test_one_value_belongs_to_each_question(self):
        with pytest.raises(InvalidOptionError, match="1 values for 2 questions"):
            Resampling([0, 1]).estimate([1.0])

    @pytest.mark.parametrize(("clusters", "resamples"), [([], 10), ([0], 0)])
    def test_nothing_to_draw_is_an_error(self, clusters, resamples):
        with pytest.raises(InvalidOptionError, match="nothing to draw from"):
            Resampling(clusters, resamples=resamples)


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
        resampling = Resampling([0, 0, 1, 1, 2])
        found = resampling.compare([1, 0, 1, 1, 1], [0, 1, 1, 0, None])

        assert found.difference.mean == pytest.approx(1 / 4)
        assert (found.better, found.worse) == (2, 1)
        assert (found.difference.questions, found.difference.documents) == (4, 2)

    def test_pairs_make_intervals_that_means_alone_do_not(self):
        rng = seeded(4)
        first = [rng.random() for _ in range(60)]
        second = [value - 0.05 - 0.02 * rng.random() for value in first]
        resampling = Resampling(range(60))
        alone = [resampling.estimate(values) for values in (first, second)]

        found = resampling.compare(first, second)

        assert alone[0].low < alone[1].high  # the two intervals overlap widely
        assert 0.05 < found.difference.low < found.difference.high < 0.07
        assert (found.better, found.worse) == (60, 0)

    @given(SCORES)
    def test_the_other_way_round_it_is_the_negative(self, pairs):
        first, second = zip(*pairs, strict=True)
        resampling = Resampling([n // 2 for n in range(len(pairs))], resamples=50)
        found = resampling.compare(first, second)
        back = resampling.compare(second, first)

        if found is None:
            assert back is None
            assert all(None in pair for pair in pairs)
            return
        assert back.difference.mean == pytest.approx(-found.difference.mean)
        assert back.difference.low == pytest.approx(-found.difference.high)
        assert back.difference.high == pytest.approx(-found.difference.low)
        assert (back.better, back.worse) == (found.worse, found.better)
        assert found.difference.questions == sum(None not in pair for pair in pairs)

    def test_what_is_lost_in_the_last_digit_is_no_difference(self):
        found = Resampling([0, 1]).compare([0.1 + 0.2, 0.3], [0.3, 0.3])

        assert 0.1 + 0.2 > 0.3
        assert found.difference[:3] == (0, 0, 0)
        assert (found.better, found.worse) == (0, 0)

    def test_an_arm_against_itself_differs_by_nothing(self):
        values = [0.5, None, 1.0]
        found = Resampling([0, 1, 2]).compare(values, values)

        assert found.difference[:3] == (0, 0, 0)
        assert (found.better, found.worse, found.difference.questions) == (0, 0, 2)


def test_the_deviation_over_runs_is_the_samples():
    # Mean 2; squares 1 + 0 + 1 over 3 - 1.
    assert mean_and_deviation([1.0, 2.0, 3.0]) == (2.0, 1.0)
    assert mean_and_deviation([5.0]) == (5.0, None)
    with pytest.raises(InvalidOptionError, match="no run"):
        mean_and_deviation([])
