"""dsRAG's segments: hand-worked values, and an oracle that tries every run."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.evaluation.catalogue import make_system
from oprag.evaluation.official.segments import BALANCED, SegmentRules, official_segments
from tests.evaluation.small import Replies, bench_of

TENTHS = st.integers(min_value=0, max_value=10).map(lambda tenths: tenths / 10)


def found(ranked, n_chunks: int, rules: SegmentRules = BALANCED):
    segments = official_segments(ranked, {"d": n_chunks}, rules)
    return [(each.first, each.last) for each in segments]


def test_the_balanced_preset():
    assert BALANCED[:5] == (15, 30, 0.5, 0.18, 30)


def test_a_weak_chunk_between_two_strong_ones_comes_along():
    # 0.9 - 0.18 = 0.72; -0.18; exp(-1/30) · 0.8 - 0.18 = 0.594: together 1.134.
    (segment,) = official_segments([("d", 1, 0.9), ("d", 3, 0.8)], {"d": 5})

    assert (segment.first, segment.last) == (1, 4)
    assert segment.value == pytest.approx(
        0.9 - 0.18 - 0.18 + math.exp(-1 / 30) * 0.8 - 0.18
    )


def test_a_long_weak_stretch_does_not_come_along():
    # Four chunks between: 0.72 - 4 · 0.18 + 0.594 = 0.594 < 0.72.
    assert found([("d", 1, 0.9), ("d", 6, 0.8)], 8) == [(1, 2), (6, 7)]


def test_what_is_worth_less_than_the_minimum_is_left_out():
    # exp(-1/30) · 0.7 - 0.18 = 0.497 < 0.5.
    assert found([("d", 1, 0.9), ("d", 7, 0.7)], 9) == [(1, 2)]


def test_segments_end_at_documents_and_at_the_limits():
    ranked = [("a", 1, 1.0), ("b", 0, 1.0), ("b", 1, 1.0), ("b", 2, 1.0)]
    rules = BALANCED._replace(longest=2, total=3)
    segments = official_segments(ranked, {"a": 2, "b": 3}, rules)

    # b's first two, 0.787 + 0.755, then a's one; b's third would be a fourth chunk.
    places = [(each.document, each.first, each.last) for each in segments]
    assert places == [("b", 0, 2), ("a", 1, 2)]


def test_chunks_beyond_the_search_are_worth_nothing():
    assert found([("d", 0, 1.0), ("d", 1, 1.0)], 2, BALANCED._replace(ranked=1)) == [
        (0, 1)
    ]


def tried(values: list[float], rules: SegmentRules) -> list[tuple[int, int]]:
    """Every run in turn, as dsRAG goes through them."""
    taken: list[tuple[int, int]] = []
    while True:
        left = rules.total - sum(last - first for first, last in taken)
        best, best_value = None, 0.0
        for first in range(len(values)):
            for last in range(first + 1, len(values) + 1):
                overlaps = any(first < b and last > a for a, b in taken)
                if overlaps or last - first > min(rules.longest, left):
                    continue
                value = math.fsum(values[first:last])
                if value > best_value + 1e-12:
                    best, best_value = (first, last), value
        if best is None or best_value < rules.minimum:
            return taken
        taken.append(best)


@given(
    st.lists(TENTHS, min_size=1, max_size=12),
    st.randoms(use_true_random=False),
    st.integers(min_value=1, max_value=5),
    st.integers(min_value=1, max_value=9),
)
def test_equal_to_trying_every_run(similarities, random, longest, total):
    # A minimum that no sum of these values meets exactly.
    rules = SegmentRules(longest, total, 0.3331, 0.18, 30)
    numbers = list(range(len(similarities)))
    random.shuffle(numbers)
    values = [0.0] * len(similarities)
    for rank, number in enumerate(numbers):
        values[number] = math.exp(-rank / 30) * similarities[number] - 0.18
    ranked = [("d", number, similarities[number]) for number in numbers]

    assert found(ranked, len(numbers), rules) == tried(values, rules)


def test_the_official_system_reads_whole_segments_best_first():
    model = Replies()
    bench = bench_of(model)
    system = make_system("segments:compat=official,unit=words,size=10")
    question = bench.dataset.questions[0]
    attempt = asyncio.run(system.attempt(question, None, bench))

    text = bench.dataset.document("harbour").text
    parts = [text[piece.start : piece.end] for piece in attempt.pieces]
    assert parts
    assert model.calls[0].facts["context"] == "\n\n".join(parts)
