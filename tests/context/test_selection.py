"""Which chunks are kept."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.chunk import Chunk, Hit
from oprag.context import FetchPlan
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


def hits(distinct: int, number: int) -> Callable[[], list[Hit]]:
    """So many hits, among them so many that differ."""
    return lambda: [Hit(str(i % distinct), {"source": "a"}) for i in range(number)]


def test_a_plan_asks_for_more_until_the_budget_is_full():
    plan = FetchPlan(token_budget=640)
    assert plan.k == 16

    assert plan.wants_more(hits(16, 16), returned=16, used_all=True)
    assert plan.k == 32
    assert not plan.wants_more(hits(32, 32), returned=32, used_all=False)


def test_a_plan_ends_when_the_store_has_no_more():
    plan = FetchPlan(token_budget=64_000)
    assert plan.k == 1000

    assert not plan.wants_more(hits(400, 400), returned=400, used_all=True)


@given(distinct=st.integers(1, 400), more=st.integers(0, 3), budget=st.integers(1, 9))
def test_a_plan_ends_when_a_store_gives_the_same_again(distinct, more, budget):
    plan = FetchPlan(token_budget=640 * budget)
    asked = [plan.k]
    while plan.wants_more(
        hits(distinct, plan.k + more), returned=plan.k + more, used_all=True
    ):
        asked.append(plan.k)

    assert max(asked) <= max(2 * asked[0], 4 * distinct)


def test_equal_texts_at_two_places_are_no_repetition():
    plan = FetchPlan(token_budget=1)
    footers = [Hit("Page", {"source": "a", "start_index": i}) for i in range(32)]

    assert plan.wants_more(lambda: footers[:16], returned=16, used_all=True)
    assert plan.wants_more(lambda: footers, returned=32, used_all=True)


def test_stores_are_asked_for_enough_to_choose_from():
    assert FetchPlan(1_500, "budget").k == 24  # 1500 / 64
    assert FetchPlan(1_500, "recall").k == 1_200
    assert FetchPlan(100_000, "recall").k == 1_563  # 100000 / 64
