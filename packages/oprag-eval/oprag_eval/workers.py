"""The same work on many items, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def map_concurrently(
    work: Callable[[Item], Awaitable[Result]],
    items: Iterable[Item],
    *,
    at_once: int = 4,
) -> list[Result]:
    """Do the same work on every item, results in their order.

    After a failure no other is begun, and it is raised.
    """
    waiting = enumerate(items)
    results: dict[int, Result] = {}
    failures: list[Exception] = []

    async def worker() -> None:
        for place, item in waiting:
            await asyncio.sleep(0)  # Ctrl-C is heard here, whatever the work does
            if failures:
                return
            try:
                results[place] = await work(item)
            except Exception as error:  # noqa: BLE001 -- raised when all have ended
                failures.append(error)

    await asyncio.gather(*(worker() for _ in range(at_once)))
    if failures:
        raise failures[0]
    return [results[place] for place in sorted(results)]
