"""Several things made at a time, in an order that does not depend on which is first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Made = TypeVar("Made")

_AT_ONCE = 4


async def made_together(
    makers: Sequence[Callable[[], Awaitable[Made]]], *, at_once: int = _AT_ONCE
) -> list[Made]:
    """Make things, a few at a time.

    Args:
        makers: Each makes one.
        at_once: How many are under way at a time.

    Returns:
        What they made, in the order of the makers.

    Raises:
        Exception: The first that one of them raised; those under way are then
            cancelled, and no other is begun.
    """
    places = asyncio.Semaphore(at_once)

    async def made(make: Callable[[], Awaitable[Made]]) -> Made:
        async with places:
            return await make()

    tasks = [asyncio.ensure_future(made(make)) for make in makers]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
