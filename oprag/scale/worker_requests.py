"""What a worker asks of the driver for a question, and how the driver serves it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any

from oprag.calls import carried
from oprag.errors import ClusterError
from oprag.evaluation.bench import Bench
from oprag.evaluation.models import Call, Completion, Model
from oprag.scale.question_worker import Done, Reply, Used, Wanted


class _FailedThereError(Exception):
    """What a worker was told to do raised there; it has the error itself."""


class WorkerRequests:
    """Serves one worker for one question, from what the driver keeps for all of them.

    Documents and vectors are read and made one after the other, in the order in which
    they are asked for. What a model makes of a document is made by the worker that
    asks first, while others wait. A model is called by the worker, and only once the
    account has kept free what the call can take.

    Args:
        bench: The driver's.
        capped: Puts a model under the account of the run.
        keeper: A single thread, which reads and embeds.
        lost: Makes the error that says that the worker is gone.
        reply: Sends the reply to a request to the worker; does not wait.
    """

    def __init__(
        self,
        bench: Bench,
        capped: Callable[[Model], Model],
        keeper: Executor,
        lost: Callable[[], ClusterError],
        reply: Callable[[int, Reply], None],
    ) -> None:
        self._bench = bench
        self._capped = capped
        self._keeper = keeper
        self._reply = reply
        self._lost = lost
        self._open: dict[int, asyncio.Task[None]] = {}
        self._under_way: dict[int, asyncio.Future[Any]] = {}

    def take(self, message: Wanted | Done | Used) -> None:
        """Take what the worker says."""
        if isinstance(message, Wanted):
            serving = asyncio.create_task(self._serve(message))
            self._open[message.number] = serving
        elif isinstance(message, Done):
            came = self._under_way[message.number]
            if message.failed:
                came.set_exception(_FailedThereError)
            else:
                came.set_result(message.value)
        elif self._bench.on_made is not None:
            document = self._bench.dataset.document(message.document)
            self._bench.on_made(message.kind, document, message.made)

    async def end(self) -> None:
        """End what is open, where the worker is gone or the run is stopped.

        A call that the worker was told to make may have been sent, and counts as the
        most that it can take; so no cap is passed, whenever a worker dies.
        """
        for number, serving in self._open.items():
            if (came := self._under_way.get(number)) is None:
                serving.cancel()
            elif not came.done():
                came.set_exception(self._lost())
        await asyncio.gather(*self._open.values(), return_exceptions=True)

    async def _serve(self, wanted: Wanted) -> None:
        try:
            reply = Reply(await self._value(wanted))
        except ClusterError:
            return  # nobody is there to be told
        except _FailedThereError:
            reply = Reply()
        except Exception as error:  # noqa: BLE001 -- the worker raises it
            reply = Reply(error=carried(error))
        self._reply(wanted.number, reply)
        self._open.pop(wanted.number)
        self._under_way.pop(wanted.number, None)

    async def _value(self, wanted: Wanted) -> Any:
        bench, value = self._bench, wanted.value
        if wanted.kind == "made":
            kind, of = value
            return await bench.artifacts.made(
                kind, of, lambda: self._there(wanted.number, None)
            )
        if wanted.kind == "call":
            name, call = value
            model = self._capped(_ModelThere(name, partial(self._there, wanted.number)))
            return await model.complete(call)
        read: Callable[[Any], Any] = {
            "document": bench.dataset.document,
            "texts": bench.vectors.of_texts,
            "query": bench.vectors.of_query,
        }[wanted.kind]
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._keeper, read, value)

    async def _there(self, number: int, value: Any) -> Any:
        """Let the worker do what it asked for."""
        came = self._under_way[number] = asyncio.get_running_loop().create_future()
        self._reply(number, Reply(value, do=True))
        return await came


class _ModelThere(Model):
    """A model that a worker calls."""

    def __init__(
        self, name: str, there: Callable[[int | None], Awaitable[Completion]]
    ) -> None:
        self.name = name
        self._there = there

    async def complete(self, call: Call) -> Completion:
        """Let the worker call it.

        Raises:
            ClusterError: The worker is gone.
        """
        return await self._there(call.max_output_tokens)
