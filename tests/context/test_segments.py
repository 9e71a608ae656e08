"""Relevant segments: the contiguous runs worth most."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.chunk import Chunk, Span
from oprag.context import extract_segments
from oprag.context.segments import Segment, segment_order


def _places(segments):
    return [(segment.run, segment.first, segment.last) for segment in segments]


def test_a_weak_piece_between_two_strong_ones_comes_along():
    # 5 - 1 + 4 = 8 for all three; the two alone are worth 5 and 4.
    run = [(5.0, 1), (-1.0, 1), (4.0, 1)]
    (segment,) = extract_segments([run], max_segment=3, total=3)
    assert segment == Segment(0, 0, 3, 8.0)


def test_a_piece_worth_less_than_it_joins_does_not():
    run = [(5.0, 1), (-4.5, 1), (4.0, 1)]
    segments = extract_segments([run], max_segment=3, total=3)
    assert _places(segments) == [(0, 0, 1), (0, 2, 3)]


def test_a_segment_keeps_its_own_limit_and_all_keep_the_total():
    run = [(3.0, 4), (2.0, 4), (1.0, 4)]
    # Two pieces take 8 of at most 8; the third fits the total of 12, not of 11.
    assert _places(extract_segments([run], max_segment=8, total=12)) == [
        (0, 0, 2),
        (0, 2, 3),
    ]
    assert _places(extract_segments([run], max_segment=8, total=11)) == [(0, 0, 2)]


def test_segments_do_not_run_from_one_document_into_another():
    segments = extract_segments([[(1.0, 1)], [(2.0, 1)]], max_segment=9, total=9)
    assert _places(segments) == [(1, 0, 1), (0, 0, 1)]


def test_what_is_worth_less_than_the_minimum_is_left():
    runs = [[(0.6, 1)], [(0.4, 1)]]
    assert _places(extract_segments(runs, max_segment=9, total=9, minimum=0.5)) == [
        (0, 0, 1)
    ]


def test_official_rules_count_chunks():
    # dsRAG's balanced preset: value exp(-rank / 30) * similarity - 0.18, unretrieved
    # chunks -0.18, at most 15 chunks in a segment and 30 in all, at least 0.5.
    ranks = {2: 0, 4: 1, 9: 40}
    run = [
        (math.exp(-ranks[n] / 30) * 0.9 - 0.18 if n in ranks else -0.18, 1)
        for n in range(12)
    ]
    (segment,) = extract_segments([run], max_segment=15, total=30, minimum=0.5)
    # Chunk 3 costs 0.18 and joins 0.72 and 0.690; chunk 9 is worth
    # 0.9 * exp(-4/3) - 0.18 = 0.057 and four chunks before it cost 0.72.
    assert _places([segment]) == [(0, 2, 5)]
    assert segment.value == pytest.approx(0.72 + (0.9 * math.exp(-1 / 30) - 0.36))


def _brute_force(runs, max_segment, total):
    """Every segment there is, the best first, again and again."""
    taken, used, left = [], set(), total
    while True:
        options = []
        for r, run in enumerate(runs):
            for a in range(len(run)):
                for b in range(a + 1, len(run) + 1):
                    size = sum(s for _, s in run[a:b])
                    if (
                        (size <= max_segment or b == a + 1)
                        and size <= left
                        and not used & {(r, i) for i in range(a, b)}
                    ):
                        options.append((sum(v for v, _ in run[a:b]), r, a, b))
        best = max((o[0] for o in options), default=0)
        if best <= 0:
            return taken
        _, r, a, b = next(o for o in options if o[0] == best)
        taken.append((r, a, b))
        used |= {(r, i) for i in range(a, b)}
        left -= sum(s for _, s in runs[r][a:b])


# Halves add up exactly; no zeros, which would make equal segments of two lengths.
_PIECE = st.tuples(
    st.integers(-6, 6).filter(bool).map(lambda n: n / 2), st.integers(1, 4)
)


@given(
    st.lists(st.lists(_PIECE, max_size=6), max_size=3),
    st.integers(1, 8),
    st.integers(1, 16),
)
def test_the_segments_are_those_of_a_full_search(runs, max_segment, total):
    found = extract_segments(runs, max_segment=max_segment, total=total)
    expected = _brute_force(runs, max_segment, total)

    def worth(places):
        return [sum(v for v, _ in runs[r][a:b]) for r, a, b in places]

    assert worth(_places(found)) == worth(expected)
    assert _places(found) == expected


def _chunk(rank, start, end, document="d"):
    return Chunk("x" * (end - start), document, rank, (0, start, end), Span(start, end))


def _order(chunks, budget, **options):
    kept = segment_order(
        chunks, budget, cost=lambda c: len(c.text), max_gap=0, **options
    )
    return [tuple(chunk.span) for chunk in kept]


def test_candidates_that_touch_make_a_segment():
    chunks = [_chunk(0, 20, 30), _chunk(1, 50, 60), _chunk(2, 30, 40)]
    # A segment takes at most half of the budget: 2 pieces of 10 of 40.
    assert _order(chunks, 40) == [(20, 30), (30, 40), (50, 60)]


def test_text_between_candidates_is_read_from_the_full_text_where_it_is_worth_it():
    chunks = [_chunk(0, 0, 10), _chunk(1, 15, 25)]
    text = "x" * 25
    # The gap of half a chunk costs 0.09 and joins 0.82 and 0.787.
    assert _order(chunks, 50, source_text={"d": text}.get) == [
        (0, 10),
        (10, 15),
        (15, 25),
    ]
    assert _order(chunks, 50) == [(0, 10), (15, 25)]


def test_candidates_worth_nothing_are_not_read_though_there_is_room():
    chunks = [_chunk(rank, 100 * rank, 100 * rank + 10) for rank in range(80)]
    # exp(-r / 30) > 0.18 as long as r < 30 * 1.715 = 51.4; the decay stays 30
    # while the budget holds no more than 30 candidates.
    assert len(_order(chunks, 300)) == 30
    # With room for 40, decay is 40, and 0.18 is reached at 68.6: room decides.
    assert len(_order(chunks, 400)) == 40
    assert _order([], 10) == []
