"""One way for sync and async code: steps that ask for I/O, and what carries them out.

What reads a store or asks a retriever is written once, as a generator that does no I/O:
it yields what is to be done, and is sent what came of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

_T = TypeVar("_T")


class Do(NamedTuple):
    """I/O that is to be done."""

    now: Callable[[], Any]
    """Does it, for sync code."""
    later: Callable[[], Awaitable[Any]]
    """Does the same, awaited."""


Steps: TypeAlias = Generator[Do, Any, _T]


class _End(NamedTuple):
    result: Any


def carry_out(steps: Steps[_T]) -> _T:
    """Do what the steps ask for; return their result."""
    step = _next(steps)
    while isinstance(step, Do):
        step = _next(steps, step.now())
    return step.result  # type: ignore[no-any-return]  # that of the steps


async def acarry_out(steps: Steps[_T]) -> _T:
    """Async version of `carry_out`; what the steps do themselves is done in a thread.

    They may be at long texts, or load what counts tokens.
    """
    step = await in_thread(partial(_next, steps))
    while isinstance(step, Do):
        step = await in_thread(partial(_next, steps, await step.later()))
    return step.result  # type: ignore[no-any-return]  # as above


def _next(steps: Steps[Any], result: Any = None) -> Do | _End:
    try:
        return steps.send(result)
    except StopIteration as end:
        return _End(end.value)


async def in_thread(work: Callable[[], _T]) -> _T:
    """Do work in a thread of the event loop's own; context variables are the caller's.

    A caller that is cancelled goes on at once; the thread ends when its work is done.
    """
    from asyncio import to_thread  # here, because its import takes long

    return await to_thread(work)
