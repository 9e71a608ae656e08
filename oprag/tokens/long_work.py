"""Work on long texts, which no event loop waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from oprag.errors import from_user

_T = TypeVar("_T")

_LONG = 50_000
"""Characters; to count as many takes some 10 ms, and several times as long where they
are compared or cut as well. A thread for less would take longer than it spares."""


async def in_thread_if_long(characters: int, work: Callable[[], _T]) -> _T:
    """Do work on texts: at once if they are short, else in a thread.

    Context variables are those of the caller. A caller that is cancelled goes on at
    once; the thread, one of the event loop's own, ends when its work is done.

    Args:
        characters: Of all texts that the work looks at.
        work: What to do.
    """
    if characters < _LONG:
        return work()
    from asyncio import to_thread  # here, because its import takes long

    return await to_thread(from_user(work))
