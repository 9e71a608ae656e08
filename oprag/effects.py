"""One way for sync and async code: steps that ask for I/O, and code that does the I/O.

Code that reads a store or asks a retriever is written once, as a generator that does no
I/O. It yields the calls to make, and is sent their results.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

_T = TypeVar("_T")
_RequestT = TypeVar("_RequestT")


class Effect(NamedTuple):
    """I/O that is to be done."""

    now: Callable[[], Any]
    """Does the I/O, for sync code."""
    later: Callable[[], Awaitable[Any]]
    """Does the same, awaited."""


Effects: TypeAlias = Generator[Effect, Any, _T]


def describe_call(
    call: Callable[..., Any], acall: Callable[..., Awaitable[Any]], *arguments: Any
) -> Effect:
    """Return a call that sync code makes; async code awaits its async version."""

    def make_call() -> Any:
        return call(*arguments)

    async def await_call() -> Any:
        return await acall(*arguments)

    return Effect(make_call, await_call)


def describe_work(work: Callable[..., Any], *arguments: Any) -> Effect:
    """Return work that sync code does directly, and async code in a thread."""

    def do_work() -> Any:
        return work(*arguments)

    async def await_work() -> Any:
        return await run_in_thread(do_work)

    return Effect(do_work, await_work)


@dataclass(frozen=True, slots=True)
class Finished(Generic[_T]):
    """The end of steps."""

    result: _T


def advance(
    steps: Generator[_RequestT, Any, _T],
    answer: Any = None,
    error: Exception | None = None,
) -> _RequestT | Finished[_T]:
    """Send steps a result or an error; return the next request, or the end."""
    try:
        return steps.send(answer) if error is None else steps.throw(error)
    except StopIteration as stop:
        return Finished(stop.value)


def run_effects(steps: Effects[_T]) -> _T:
    """Do the requests of steps; return their result. Failures are thrown into them."""
    step = advance(steps)
    while not isinstance(step, Finished):
        answer = error = None
        try:
            answer = step.now()
        except Exception as raised:  # noqa: BLE001 -- the steps decide about it
            error = raised
        step = advance(steps, answer, error)
    return step.result


async def run_in_thread(work: Callable[[], _T]) -> _T:
    """Do work in a thread of the event loop, with the caller's context variables.

    A caller that is cancelled goes on immediately; the thread ends when its work is
    done.
    """
    from asyncio import to_thread  # here, because its import takes long

    return await to_thread(work)


async def arun_effects(
    steps: Effects[_T], run_in_thread: Callable[..., Awaitable[Any]] = run_in_thread
) -> _T:
    """Async version of `run_effects`; the steps' own work is done in a thread.

    They may work on long texts, or load a tokenizer.
    """
    step = await run_in_thread(partial(advance, steps))
    while not isinstance(step, Finished):
        answer = error = None
        try:
            answer = await step.later()
        except Exception as raised:  # noqa: BLE001 -- as above
            error = raised
        step = await run_in_thread(partial(advance, steps, answer, error))
    return step.result  # type: ignore[no-any-return]  # that of the steps
