"""How many are asked for, and the steps of one retrieval."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from oprag.chunk import Hit
from oprag.retrieving import FetchPlan


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


def test_fewer_hits_are_asked_for_where_neighbours_come_too():
    asked = [FetchPlan(64 * 90, widen=widen).k for widen in (None, 1, 4, "fill")]

    assert asked == [90, 30, 16, 20]
    # Chosen by position, neighbours compete with hits, and two searches are fused.
    assert [FetchPlan(64 * n, "recall", "fill").k for n in (90, 600)] == [320, 600]
