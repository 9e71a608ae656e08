"""What Self-Route needs done while it answers one question, and who does it.

The order of events is one generator, the same for sync and async code and for
streams. It yields what is to be done; one of the two functions here does it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from langchain_oprag._replies import Reply
from oprag.documents import DocumentSource


@dataclass(frozen=True, slots=True)
class Retrieve:
    """Ask the retriever; what it returns is wanted."""

    retriever: Runnable[Any, Any]
    query: Any
    config: RunnableConfig
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Read:
    """Read full texts; a list of them in the order of the names is wanted."""

    source: DocumentSource
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """Call the model, and hand on what the reply gives out."""

    model: Runnable[Any, Any]
    messages: list[BaseMessage]
    config: RunnableConfig
    reply: Reply
    hand_on: Callable[[str], list[AddableDict]]
    """What is handed on for a piece of the answer."""

    def take(self, piece: Any) -> list[AddableDict]:
        """Take a piece of the reply; give what is to be handed on."""
        return self.hand_on(self.reply.take(piece))


Task: TypeAlias = Retrieve | Read | Call
Step: TypeAlias = Task | AddableDict
"""What is to be done; an `AddableDict` is a piece of the chain's output."""

Steps: TypeAlias = Generator[Step, Any, None]
"""What was wanted is sent into the generator, an error is thrown into it."""


class _Course:
    """How far the steps are."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._result: Any = None
        self._error: Exception | None = None

    def next(self) -> Step | None:
        """Return the next step; None after the last."""
        result, error = self._result, self._error
        self._result = self._error = None
        try:
            if error is not None:
                return self._steps.throw(error)
            return self._steps.send(result)
        except StopIteration:
            return None

    def take(self, step: Task, result: Any) -> list[AddableDict]:
        """Take what came of a step; give what is to be handed on."""
        self._result = result
        return step.take(result) if isinstance(step, Call) else []

    def fail(self, error: Exception) -> None:
        """Leave it to the steps what the error means."""
        self._error = error


def carry_out(steps: Steps, *, streaming: bool) -> Iterator[AddableDict]:
    """Do what the steps ask for; give the pieces of the output."""
    course = _Course(steps)
    with contextlib.closing(steps):
        while (step := course.next()) is not None:
            if isinstance(step, AddableDict):
                yield step
            else:
                yield from _done(step, course, streaming=streaming)


async def acarry_out(
    steps: Steps, *, streaming: bool
) -> AsyncGenerator[AddableDict, None]:
    """Async version of `carry_out`."""
    course = _Course(steps)
    with contextlib.closing(steps):
        while (step := course.next()) is not None:
            if isinstance(step, AddableDict):
                yield step
                continue
            async with contextlib.aclosing(
                _adone(step, course, streaming=streaming)
            ) as chunks:
                async for chunk in chunks:
                    yield chunk


def _done(step: Task, course: _Course, *, streaming: bool) -> Iterator[AddableDict]:
    with contextlib.closing(_results(step, streaming=streaming)) as results:
        while True:
            try:
                chunks = course.take(step, next(results))
            except StopIteration:
                return
            except Exception as error:  # noqa: BLE001 -- the steps decide
                course.fail(error)
                return
            yield from chunks


async def _adone(
    step: Task, course: _Course, *, streaming: bool
) -> AsyncGenerator[AddableDict, None]:
    async with contextlib.aclosing(_aresults(step, streaming=streaming)) as results:
        while True:
            try:
                chunks = course.take(step, await anext(results))
            except StopAsyncIteration:
                return
            except Exception as error:  # noqa: BLE001 -- the steps decide
                course.fail(error)
                return
            for chunk in chunks:
                yield chunk


def _results(step: Task, *, streaming: bool) -> Generator[Any, None, None]:
    if isinstance(step, Retrieve):
        yield step.retriever.invoke(step.query, step.config, **step.arguments)
    elif isinstance(step, Read):
        yield [step.source.get(name) for name in step.names]
    elif streaming and step.reply.streams:
        yield from step.model.stream(step.messages, step.config)
    else:
        yield step.model.invoke(step.messages, step.config)


async def _aresults(step: Task, *, streaming: bool) -> AsyncGenerator[Any, None]:
    if isinstance(step, Retrieve):
        yield await step.retriever.ainvoke(step.query, step.config, **step.arguments)
    elif isinstance(step, Read):
        yield await asyncio.gather(*(step.source.aget(name) for name in step.names))
    elif streaming and step.reply.streams:
        pieces = step.model.astream(step.messages, step.config)
        try:
            async for piece in pieces:
                yield piece
        finally:
            # A stream that is left must be closed here, not whenever it is collected.
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()
    else:
        yield await step.model.ainvoke(step.messages, step.config)
