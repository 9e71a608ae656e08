"""Which chunks are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.chunk import Chunk
from oprag.context.budget import fill_budget
from oprag.errors import BudgetTooSmallError


def _chunks(*sizes):
    return [Chunk("x" * size, "d", rank) for rank, size in enumerate(sizes)]


def _fill(sizes, budget, **options):
    kept = fill_budget(_chunks(*sizes), budget, cost=lambda c: len(c.text), **options)
    return [chunk.rank for chunk in kept]


def test_texts_after_the_budget_are_not_counted():
    counted = []

    def cost(chunk):
        counted.append(chunk.rank)
        return len(chunk.text)

    fill_budget(_chunks(4, 4, 4, 4, 4), 9, cost=cost)
    assert counted == [0, 1, 2]


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.integers(1, 40),
    st.integers(0, 3),
)
def test_stop_keeps_the_longest_prefix_that_fits(sizes, budget, join):
    fitting = [
        count
        for count in range(1, len(sizes) + 1)
        if sum(sizes[:count]) + join * (count - 1) <= budget
    ]
    if not fitting:
        with pytest.raises(BudgetTooSmallError):
            _fill(sizes, budget, join_cost=join)
        return

    assert _fill(sizes, budget, join_cost=join) == list(range(max(fitting)))
