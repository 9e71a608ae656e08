"""How long an event loop stood still while something was awaited."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable

_BEAT = 0.002
"""Seconds between two beats."""


async def longest_block(work: Callable[[], Awaitable[object]]) -> float:
    """Await something, and return the longest time in which nothing else could run.

    Returns:
        Seconds between two beats, or the processor time that this process used
        between them if that is less: what other processes took does not count.
        What a thread of this process computes shows if it lets no other one run.
    """
    longest = 0.0
    beating = True

    async def beat() -> None:
        nonlocal longest
        while beating:
            clock, used = time.perf_counter(), time.process_time()
            await asyncio.sleep(_BEAT)
            passed = time.perf_counter() - clock - _BEAT
            longest = max(longest, min(passed, time.process_time() - used))

    beats = asyncio.create_task(beat())
    # Else the objects of all tests before are gone through meanwhile.
    gc.collect()
    gc.freeze()
    await asyncio.sleep(5 * _BEAT)
    longest = 0.0
    try:
        await work()
        await asyncio.sleep(5 * _BEAT)
    finally:
        beating = False
        gc.unfreeze()
        await beats
    return longest
