"""How long an event loop stood still while something was awaited."""

import asyncio
import gc
import time
import warnings
from collections.abc import Awaitable, Callable
from functools import partial

from tests.kit.material import Component, Material

LIMIT = 0.05
"""Seconds."""
LENGTH = 1_000_000
"""Characters of a text."""

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


async def shortest_block(component: Component, way: str) -> float:
    """For how many seconds a component blocks its event loop, on a busy machine.

    That is the least of ten times, or the first below the limit.
    """
    least = float("inf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        await _asked(component, way, Material(20_000))  # what is loaded once is loaded
        for _ in range(10):
            material = Material(LENGTH).prepared(stored=component.stored)
            work = partial(_asked, component, way, material)
            least = min(least, await longest_block(work))
            if least < LIMIT:
                break
    return least


async def _asked(component: Component, way: str, material: Material) -> object:
    return await component.ways[way](component.make(material), material)
