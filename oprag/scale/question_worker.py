"""A worker that is asked questions; what all workers share is the driver's.

Documents, vectors, what models made of documents, and leave to call a model come from
the driver, which alone keeps them: so they are made once for the whole cluster, and as
one process makes them.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import itertools
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

from oprag.evaluation.artifacts import Artifacts, Facts
from oprag.evaluation.bench import Bench
from oprag.evaluation.data import Dataset, Document, Question
from oprag.evaluation.data.records import LazyDocuments
from oprag.evaluation.models import Call, Completion, Model
from oprag.evaluation.running.runner import Arm, Outcome, Task, attempt
from oprag.evaluation.safe_files import json_line
from oprag.evaluation.vectors import Matrix, Vectors

_KEPT_DOCUMENTS = 64
"""Documents that a worker keeps; others are asked for again."""

MakeBench: TypeAlias = Callable[[Dataset, Vectors], Bench]
"""Makes a worker's bench, its chat models included. It is pickled."""

ArmName: TypeAlias = tuple[str, int | None, int]
"""System, budget and run."""


class Wanted(NamedTuple):
    """What a worker asks of the driver."""

    number: int
    """Of the request; another for each of a worker's."""
    kind: Literal["document", "texts", "query", "made", "call"]
    """Whose value is: the id of a document; texts, or a query, to be embedded; the
    kind of what is made of a document and what decides it; a model's name and a
    call."""
    value: Any


class Done(NamedTuple):
    """What came of something that a worker was told to do."""

    number: int
    """Of the request."""
    value: Any = None
    failed: bool = False
    """Whether it raised; the error stays with the worker."""


class Used(NamedTuple):
    """What a question used of what was made of a document."""

    kind: str
    document: str
    made: Mapping[str, Any]


class Reply(NamedTuple):
    """What the driver replies to a request."""

    value: Any = None
    error: Exception | None = None
    """Raised where the worker asked; None where there is none."""
    do: bool = False
    """Whether the worker is to do it itself, now, and to say what came of it."""


Message: TypeAlias = Wanted | Done | Used | Outcome


class Work(NamedTuple):
    """What a worker is made from."""

    make: MakeBench
    arms: Mapping[ArmName, Arm]
    dataset: Dataset
    """Without its documents."""
    documents: Sequence[str]
    """Their ids, in the order of the set."""
    vectors: str
    """Name of the embedding model."""


_TELL: ContextVar[Callable[[Message], None]] = ContextVar("tell")
"""Hands a message to the driver, of the question that is being asked."""


class Driver:
    """The driver, as a worker sees it."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Reply]] = {}

    def ask(self, kind: Literal["document", "texts", "query"], value: Any) -> Any:
        """Return what the driver has; everything else waits meanwhile."""
        wanted = Wanted(next(self._numbers), kind, value)
        return _value(self._said(wanted).result())

    async def let(
        self,
        kind: Literal["made", "call"],
        value: Any,
        do: Callable[[Any], Awaitable[Any]],
    ) -> Any:
        """Return what the driver has, or do it if the driver says so.

        Args:
            kind: See `Wanted`.
            value: The same.
            do: Takes what the driver says about it; what it returns the driver gets.

        Raises:
            SpendingCapError: A call could pass the cap.
        """
        wanted = Wanted(next(self._numbers), kind, value)
        reply = await asyncio.wrap_future(self._said(wanted))
        if not reply.do:
            return _value(reply)
        try:
            done = Done(wanted.number, await do(reply.value))
        except Exception:
            failed = Done(wanted.number, failed=True)
            await asyncio.wrap_future(self._said(failed))
            raise
        return _value(await asyncio.wrap_future(self._said(done)))

    def hear(self, number: int, reply: Reply) -> None:
        """Take a reply, in whatever thread it comes."""
        self._waiting.pop(number).set_result(reply)

    def _said(self, message: Wanted | Done) -> Future[Reply]:
        replied = self._waiting[message.number] = Future()
        _TELL.get()(message)
        return replied


def _value(reply: Reply) -> Any:
    if reply.error is not None:
        raise reply.error
    return reply.value


class _DriversVectors(Vectors):
    """Vectors that the driver makes and keeps."""

    def __init__(self, name: str, driver: Driver) -> None:
        self.name = name
        self.folder = None
        self._driver = driver

    def of_texts(self, texts: Sequence[str]) -> Matrix:
        """One row per text, as the driver has it."""
        rows: Matrix = self._driver.ask("texts", list(texts))
        return rows.copy()  # what comes from Ray cannot be written to

    def of_query(self, query: str) -> Matrix:
        """The vector to search with, as the driver has it."""
        row: Matrix = self._driver.ask("query", query)
        return row.copy()

    def close(self) -> None:
        """Nothing is open."""


class _DriversArtifacts(Artifacts):
    """What is made of documents, once for all workers."""

    def __init__(self, driver: Driver) -> None:
        super().__init__()
        self._driver = driver

    async def made(
        self, kind: str, of: Facts, make: Callable[[], Awaitable[Facts]]
    ) -> dict[str, Any]:
        """Return what the driver has; made here if no worker has made it."""
        value = (kind, dict(of))
        made: dict[str, Any] = await self._driver.let("made", value, lambda _: make())
        return made


class _AllowedModel(Model):
    """A model that is called when the driver's account allows it."""

    def __init__(self, model: Model, driver: Driver) -> None:
        self.name = model.name
        self._model = model
        self._driver = driver

    async def complete(self, call: Call) -> Completion:
        """Reply, if the cap of the whole cluster allows it.

        Raises:
            SpendingCapError: It does not.
        """

        async def do(most: int | None) -> Completion:
            return await self._model.complete(replace(call, max_output_tokens=most))

        told = replace(call, facts={})  # which hold the prompt's parts a second time
        completion: Completion = await self._driver.let("call", (self.name, told), do)
        return completion


class QuestionWorker:
    """Asks questions that it is given, several at a time, in an event loop of its own.

    It is an actor of Ray. Replies come in the actor's own event loop, so that the
    other one may wait for them.

    Args:
        work: What it is made from.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._driver = Driver()
        self._used: set[tuple[str, str, str]] = set()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    async def begin(self) -> None:
        """Make the bench.

        Raises:
            ModelCallError: A chat model cannot be used on this node.
        """
        self._bench = await self._in_loop(self._made())

    async def ask(self, arm: ArmName, question: Question) -> AsyncIterator[Message]:
        """Ask one question.

        Yields:
            What is asked of the driver meanwhile, and in the end the outcome.

        Raises:
            SpendingCapError: The run may not spend more.
        """
        here = asyncio.get_running_loop()
        told: asyncio.Queue[Message | None] = asyncio.Queue()

        def tell(message: Message | None) -> None:
            here.call_soon_threadsafe(told.put_nowait, message)

        async def asked() -> Outcome:
            _TELL.set(tell)
            return await attempt(Task(self._work.arms[arm], question), self._bench)

        outcome = asyncio.run_coroutine_threadsafe(asked(), self._loop)
        outcome.add_done_callback(lambda _: tell(None))
        while (message := await told.get()) is not None:
            yield message
        yield _without_facts(outcome.result())

    async def reply(self, number: int, reply: Reply) -> None:
        """Take the driver's reply to a request."""
        self._driver.hear(number, reply)

    def _in_loop(self, work: Any) -> Any:
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _made(self) -> Bench:
        work, driver = self._work, self._driver
        ask = functools.lru_cache(_KEPT_DOCUMENTS)(driver.ask)

        def read(name: str, _: None) -> Document:
            document: Document = ask("document", name)
            return document

        documents = LazyDocuments(dict.fromkeys(work.documents), read)
        dataset = replace(work.dataset, documents=documents)
        bench = work.make(dataset, _DriversVectors(work.vectors, driver))
        bench.artifacts = _DriversArtifacts(driver)
        bench.on_made = self._tell_used
        bench.index_model = _AllowedModel(bench.index_model, driver)
        bench.model = _AllowedModel(bench.model, driver)
        return bench

    def _tell_used(self, kind: str, document: Document, made: Facts) -> None:
        """Tell it once: it is as long as the document."""
        key = (kind, document.doc_id, hashlib.sha256(json_line(made)).hexdigest())
        if key not in self._used:
            self._used.add(key)
            _TELL.get()(Used(kind, document.doc_id, made))


def _without_facts(outcome: Outcome) -> Outcome:
    """Leave out what no file keeps of the calls."""
    exchanges = [
        replace(each, call=replace(each.call, facts={})) for each in outcome.exchanges
    ]
    return outcome._replace(exchanges=exchanges)
