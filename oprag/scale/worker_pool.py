"""Workers that are asked questions: begun, replaced where one is lost, ended."""

from __future__ import annotations

import asyncio
from typing import Any

from oprag.errors import ClusterError
from oprag.scale.question_worker import QuestionWorker, Reply, Work

_LOSSES = 5
"""Workers that may die one after the other as they begin."""


def lost_worker(ray: Any, error: object) -> ClusterError:
    """Return the error that says that a worker is gone."""
    said = str(error).strip().partition("\n")[0]
    message = (
        f"Workers on the cluster died: {said} See whether its nodes have this version "
        "of oprag, with the same extras, and enough memory."
    )
    return ClusterError(message, address=ray.get_runtime_context().gcs_address)


class Worker:
    """An actor, and whether it is still there."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.lost = False

    def reply(self, number: int, reply: Reply) -> None:
        """Send a reply; one that is gone needs none."""
        self.actor.reply.remote(number, reply)


class WorkerPool:
    """Workers, each of which is asked a few questions at a time.

    Args:
        ray: The module.
        work: What they are made from.
        workers: How many.
        at_once: Questions that one is asked at a time.
    """

    def __init__(self, ray: Any, work: Work, workers: int, at_once: int) -> None:
        self._ray = ray
        self._work = ray.put(work)
        self._at_once = at_once
        self._losses = 0
        self._free: asyncio.Queue[Worker | Exception] = asyncio.Queue()
        self._there: list[Worker] = []
        self._beginning: set[asyncio.Task[None]] = set()
        for _ in range(workers):
            self._begin()

    async def take(self) -> Worker:
        """Wait for a worker that can be asked one question more.

        Raises:
            ClusterError: They die as they begin.
            ModelCallError: A chat model cannot be used on a node.
        """
        while True:
            found = await self._free.get()
            if isinstance(found, Exception):
                self._free.put_nowait(found)  # for the others who wait
                raise found
            if not found.lost:
                return found

    def give_back(self, worker: Worker) -> None:
        """Let others have it."""
        self._free.put_nowait(worker)

    def replace(self, worker: Worker) -> None:
        """Begin another in the place of one that is lost; once, whoever noticed it."""
        if worker.lost:
            return
        worker.lost = True
        self._there.remove(worker)
        self._ray.kill(worker.actor)
        self._begin()

    def end(self) -> None:
        """End all of them."""
        for beginning in self._beginning:
            beginning.cancel()
        for worker in self._there:
            self._ray.kill(worker.actor)

    def _begin(self) -> None:
        actors = self._ray.remote(QuestionWorker).options(
            num_cpus=1, scheduling_strategy="SPREAD"
        )
        worker = Worker(actors.remote(self._work))
        self._there.append(worker)
        beginning = asyncio.create_task(self._begun(worker))
        self._beginning.add(beginning)
        beginning.add_done_callback(self._beginning.discard)

    async def _begun(self, worker: Worker) -> None:
        errors = self._ray.exceptions
        try:
            await worker.actor.begin.remote()
        except errors.RayTaskError as error:
            self._free.put_nowait(cause_of(error))
        except errors.RayError as error:
            self._losses += 1
            if self._losses < _LOSSES:
                self.replace(worker)
            else:
                self._free.put_nowait(lost_worker(self._ray, error))
        else:
            self._losses = 0
            for _ in range(self._at_once):
                self._free.put_nowait(worker)


def cause_of(error: Any) -> Exception:
    """Return what a worker raised; Ray's own error where that could not be pickled."""
    cause: object = error.cause
    return cause if isinstance(cause, Exception) else error
