"""LangChain's driver: carries out what a question asks for, however it is invoked.

Sync and async, whole and streamed, for every method whose dialogue the core writes.
"""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable, Iterator
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
)
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.utils import (
    AddableDict,
    ConfigurableFieldSpec,
    get_unique_config_specs,
)

from langchain_oprag._answer_run import anotify, notify
from langchain_oprag._answering import Answering, Step, Steps
from oprag.calls import CallModel
from oprag.errors import refuse_unknown
from oprag.tokens import TokenizerSpec, in_thread, resolve_token_counter

ChainInput: TypeAlias = str | dict[str, Any]
"""A question, `{"input": …}`, perhaps with `chat_history`, or `{"messages": […]}`."""


def carry_out(answering: Answering, *, streaming: bool) -> Iterator[AddableDict]:
    """Do what a question asks for; give the pieces of the output."""
    run = answering.run
    try:
        with contextlib.closing(
            _pieces(answering, streaming=streaming or run.shown)
        ) as pieces:
            for piece in pieces:
                if text := piece.get("answer"):
                    notify(run.say(text))
                yield piece
        message = run.message(answering.ledger, answering.facts)
        notify(run.end(message))
        if answering.question.of_messages:
            yield AddableDict(messages=[message])
    except BaseException as error:
        notify(run.fail(error))
        raise


async def acarry_out(
    answering: Answering, *, streaming: bool
) -> AsyncGenerator[AddableDict, None]:
    """Async version of `carry_out`."""
    run = answering.run
    try:
        async with contextlib.aclosing(
            _apieces(answering, streaming=streaming or run.shown)
        ) as pieces:
            async for piece in pieces:
                if text := piece.get("answer"):
                    await anotify(run.say(text))
                yield piece
        message = run.message(answering.ledger, answering.facts)
        await anotify(run.end(message))
        if answering.question.of_messages:
            yield AddableDict(messages=[message])
    except BaseException as error:
        await anotify(run.fail(error))
        raise


def _pieces(
    answering: Answering, *, streaming: bool
) -> Generator[AddableDict, None, None]:
    steps = answering.steps()
    result, failure = None, None
    with contextlib.closing(steps):
        while (step := _next(steps, result, failure)) is not None:
            result, failure = None, None
            if isinstance(step, AddableDict):
                yield step
                continue
            try:
                if isinstance(step, CallModel):
                    call = answering.begin(step)
                    with contextlib.closing(call.pieces(streaming=streaming)) as pieces:
                        for piece in pieces:
                            yield from call.take(piece)
                    yield from call.finish()
                    result = call.reply()
                else:
                    result = answering.fetch(step)
            except Exception as error:  # noqa: BLE001 -- the dialogue decides
                failure = error


async def _apieces(
    answering: Answering, *, streaming: bool
) -> AsyncGenerator[AddableDict, None]:
    """Async version of `_pieces`; what is done with long texts blocks no loop."""
    # Not closed here: of a question that was cancelled, a thread may still be at it.
    steps = answering.steps()
    result, failure = None, None
    while step := await in_thread(partial(_next, steps, result, failure)):
        result, failure = None, None
        if isinstance(step, AddableDict):
            yield step
            continue
        try:
            if isinstance(step, CallModel):
                call = await in_thread(partial(answering.begin, step))
                replying = call.apieces(streaming=streaming)
                async with contextlib.aclosing(replying) as pieces:
                    async for piece in pieces:
                        for chunk in call.take(piece):
                            yield chunk
                for chunk in call.finish():
                    yield chunk
                result = await in_thread(call.reply)
            else:
                result = await answering.afetch(step)
        except Exception as error:  # noqa: BLE001 -- the dialogue decides
            failure = error


def _next(steps: Steps, result: Any, failure: Exception | None) -> Step | None:
    """Say what came of the last step; return the next one, None after the last."""
    try:
        return steps.send(result) if failure is None else steps.throw(failure)
    except StopIteration:
        return None


class DrivenRunnable(RunnableSerializable[ChainInput, dict[str, Any]]):
    """A runnable that answers questions, the same in every way of asking."""

    if TYPE_CHECKING:
        token_counter: TokenizerSpec = None

    @abstractmethod
    def _answering(self, given: Any, config: RunnableConfig) -> Answering:
        """Begin to answer an input.

        Args:
            given: The input.
            config: With the callbacks that make calls children of this run.
        """

    @abstractmethod
    def _inside(self) -> Iterable[Runnable[Any, Any]]:
        """Return what is asked: models and retrievers."""

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Configurable fields of the retriever and the models."""
        return get_unique_config_specs(
            spec for runnable in self._inside() for spec in runnable.config_specs
        )

    def invoke(
        self,
        input: ChainInput,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Answer a question; see the class for input and output.

        Raises:
            InvalidOptionError: There are arguments besides input and config.
        """
        refuse_unknown(kwargs, ())
        return self._call_with_config(self._invoke, input, config)

    async def ainvoke(
        self,
        input: ChainInput,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Async version of `invoke`."""
        refuse_unknown(kwargs, ())
        return await self._acall_with_config(self._ainvoke, input, config)

    def stream(
        self,
        input: ChainInput,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[dict[str, Any]]:
        """Answer a question in pieces that add up to what `invoke` gives."""
        refuse_unknown(kwargs, ())
        yield from self._transform_stream_with_config(
            iter([input]), self._transform, config
        )

    async def astream(
        self,
        input: ChainInput,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[dict[str, Any]]:
        """Async version of `stream`."""

        async def only() -> AsyncIterator[ChainInput]:
            yield input

        refuse_unknown(kwargs, ())
        chunks = self._atransform_stream_with_config(only(), self._atransform, config)
        async for chunk in chunks:
            yield chunk

    def _invoke(
        self,
        given: ChainInput,
        run_manager: CallbackManagerForChainRun,
        config: RunnableConfig,
    ) -> dict[str, Any]:
        chunks = carry_out(self._answering(given, config), streaming=False)
        return dict(reduce(add, chunks))

    async def _ainvoke(
        self,
        given: ChainInput,
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
    ) -> dict[str, Any]:
        await in_thread(partial(resolve_token_counter, self.token_counter))
        chunks = acarry_out(self._answering(given, config), streaming=False)
        return dict(reduce(add, [chunk async for chunk in chunks]))

    def _transform(
        self,
        given: Iterator[ChainInput],
        run_manager: CallbackManagerForChainRun,
        config: RunnableConfig,
    ) -> Iterator[dict[str, Any]]:
        (question,) = given
        yield from carry_out(self._answering(question, config), streaming=True)

    async def _atransform(
        self,
        given: AsyncIterator[ChainInput],
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
    ) -> AsyncIterator[dict[str, Any]]:
        (question,) = [piece async for piece in given]
        await in_thread(partial(resolve_token_counter, self.token_counter))
        chunks = acarry_out(self._answering(question, config), streaming=True)
        async with contextlib.aclosing(chunks):
            async for chunk in chunks:
                yield chunk
