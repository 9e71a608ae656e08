"""How many are asked for, and the steps of one retrieval."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.chaining import Overlaps
from oprag.chunk import Hit
from oprag.context import ContextOptions, OrderedContext, arrange
from oprag.effects import Effect, arun_effects, describe_work, run_effects
from oprag.errors import MissingPositionError
from oprag.retrieving import Fetch, FetchPlan, OwnNumber, Retrieval


def hits(distinct: int, number: int) -> Callable[[], list[Hit]]:
    """So many hits, among them so many that differ."""
    return lambda: [Hit(str(i % distinct), {"source": "a"}) for i in range(number)]


def test_a_plan_asks_for_more_until_the_budget_is_full():
    plan = FetchPlan.to_fill(token_budget=640)
    assert plan.k == 16

    assert plan.wants_more(hits(16, 16), returned=16, used_all=True)
    assert plan.k == 32
    assert not plan.wants_more(hits(32, 32), returned=32, used_all=False)


def test_a_plan_ends_when_the_store_has_no_more():
    plan = FetchPlan.to_fill(token_budget=64_000)
    assert plan.k == 1000

    assert not plan.wants_more(hits(400, 400), returned=400, used_all=True)


@given(distinct=st.integers(1, 400), more=st.integers(0, 3), budget=st.integers(1, 9))
def test_a_plan_ends_when_a_store_gives_the_same_again(distinct, more, budget):
    plan = FetchPlan.to_fill(token_budget=640 * budget)
    asked = [plan.k]
    while plan.wants_more(
        hits(distinct, plan.k + more), returned=plan.k + more, used_all=True
    ):
        asked.append(plan.k)

    assert max(asked) <= max(2 * asked[0], 4 * distinct)


def test_equal_texts_at_two_places_are_no_repetition():
    plan = FetchPlan.to_fill(token_budget=1)
    footers = [Hit("Page", {"source": "a", "start_index": i}) for i in range(32)]

    assert plan.wants_more(lambda: footers[:16], returned=16, used_all=True)
    assert plan.wants_more(lambda: footers, returned=32, used_all=True)


def test_stores_are_asked_for_enough_to_choose_from():
    assert FetchPlan.to_fill(1_500, "budget").k == 24  # 1500 / 64
    assert FetchPlan.to_fill(1_500, "recall").k == 1_200
    assert FetchPlan.to_fill(100_000, "recall").k == 1_563  # 100000 / 64


def test_fewer_hits_are_asked_for_where_neighbours_come_too():
    asked = [
        FetchPlan.to_fill(64 * 90, widen=widen).k for widen in (None, 1, 4, "fill")
    ]

    assert asked == [90, 30, 16, 20]
    # Chosen by position, neighbours compete with hits, and two searches are fused.
    assert [FetchPlan.to_fill(64 * n, "recall", "fill").k for n in (90, 600)] == [
        320,
        600,
    ]


@dataclass(kw_only=True)
class Plain(Retrieval[Hit]):
    """A retrieval of plain hits, as an adapter of no framework gives it."""

    found: list[Hit]
    asked: list[int] = field(default_factory=list)

    def ask(self) -> Effect:
        self.asked.append(self.fetch.k_to_ask)
        return describe_work(lambda: self.found[: self.fetch.k_to_ask or 4])

    def make_hits(self, found: Sequence[Hit]) -> list[Hit]:
        return [*found]

    def load_stored(self, chunks):
        raise AssertionError

    def find_neighbours(self, found, search):
        raise AssertionError

    def open_store(self) -> None:
        return None

    def arrange(self, hits, options, neighbours) -> OrderedContext[Hit]:
        arranged = arrange(hits, options, neighbours=neighbours)
        return arranged.map(lambda passage: passage.chunks[0].source)


def plain(fetch: Fetch, hits: list[Hit], **options) -> Plain:
    return Plain(
        question="Which line?",
        fetch=fetch,
        options=ContextOptions(token_counter=len, separator="", **options),
        overlaps=Overlaps(),
        widen=None,
        word_search=None,
        found=hits,
    )


def lines(number: int) -> list[Hit]:
    """Hits of one document, the last of its lines first."""
    return [
        Hit("word", {"source": "a", "start_index": 10 * n}, source=n)
        for n in reversed(range(number))
    ]


@pytest.mark.parametrize("awaited", [False, True])
async def test_a_store_is_asked_until_the_budget_is_full(awaited):
    fetch = Fetch(
        OwnNumber(None, is_default=True), plan=FetchPlan.to_fill(token_budget=200)
    )
    retrieval = plain(fetch, lines(100), token_budget=200)

    steps = retrieval.run()
    ordered = await arun_effects(steps) if awaited else run_effects(steps)

    assert retrieval.asked == [16, 32, 64]
    assert ordered.passages == [*range(50, 100)]


def test_of_what_takes_no_number_is_said_that_more_may_come():
    ordered = run_effects(plain(Fetch(None), lines(9)).run())

    assert (ordered.passages, ordered.too_few) == ([5, 6, 7, 8], 4)


def test_with_a_number_of_ones_own_nothing_more_is_expected():
    fetch = Fetch(OwnNumber(2, is_default=False), k=3)
    ordered = run_effects(plain(fetch, lines(9), top_n=3).run())

    assert (ordered.passages, ordered.too_few) == ([6, 7, 8], None)


def test_without_a_store_what_lacks_a_position_fails_as_it_is():
    hits = [Hit(text, {"source": "a"}) for text in ("one", "two")]

    with pytest.raises(MissingPositionError):
        run_effects(plain(Fetch(None), hits).run())
