"""The same work on many items, a few at a time."""

import asyncio

import pytest

from oprag_eval.workers import map_concurrently


def test_results_come_in_the_order_of_the_items():
    under_way = most = 0

    async def work(number: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(10 - number):
            await asyncio.sleep(0)
        under_way -= 1
        return number

    results = asyncio.run(map_concurrently(work, range(10), at_once=3))
    assert results == list(range(10))
    assert most == 3


def test_after_a_failure_nothing_more_is_begun_and_what_is_under_way_is_finished():
    begun, finished = [], []

    async def work(number: int) -> None:
        begun.append(number)
        await asyncio.sleep(0)
        if number == 1:
            raise ValueError(number)
        for _ in range(5):
            await asyncio.sleep(0)
        finished.append(number)

    with pytest.raises(ValueError, match="1"):
        asyncio.run(map_concurrently(work, range(50), at_once=2))
    assert len(begun) < 6
    assert sorted([*finished, 1]) == begun
