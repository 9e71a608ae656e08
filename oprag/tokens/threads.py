"""Work that no event loop waits for: to arrange texts, to load what counts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


async def in_thread(work: Callable[[], _T]) -> _T:
    """Do work in a thread of the event loop's own; context variables are the caller's.

    A caller that is cancelled goes on at once; the thread ends when its work is done.
    """
    from asyncio import to_thread  # here, because its import takes long

    return await to_thread(work)
