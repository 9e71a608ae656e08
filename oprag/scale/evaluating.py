"""The questions of a run, asked by workers on a Ray cluster."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from oprag.errors import ClusterError
from oprag.evaluation.bench import Bench
from oprag.evaluation.models import Model
from oprag.evaluation.running.runner import Arm, Outcome, Task
from oprag.evaluation.workers import map_concurrently
from oprag.scale.question_worker import ArmName, MakeBench, Reply, Work
from oprag.scale.worker_pool import Worker, WorkerPool, cause_of, lost_worker
from oprag.scale.worker_requests import WorkerRequests

_LOSSES = 3
"""Workers that one answer may cost; then it is an error, and may be their cause."""


class QuestionsOnRay:
    """Asks the questions of a run on a cluster: the `asking` of `run`.

    The account, the cache and the folder of the run are the driver's, as without a
    cluster; workers have what they need from it. So the folder is the same, whatever
    the number of workers. Where a worker is lost, another takes its place and asks
    again what it had not answered; calls that it had under way count as the most that
    they can take, as do those of a run that is interrupted.

    Args:
        ray: The module, connected to the cluster.
        make: Makes a worker's bench from the set and the vectors. It is pickled, and
            finds on each node what it imports and the keys of chat models.
        capped: Puts a model under the account of the run, as `CappedModel` does;
            without it, nothing is counted.
        workers: How many, each with a core of its own; None: as many as questions are
            asked at a time, and not more than the cluster has cores.
    """

    def __init__(
        self,
        ray: Any,
        make: MakeBench,
        *,
        capped: Callable[[Model], Model] = lambda model: model,
        workers: int | None = None,
    ) -> None:
        self._ray = ray
        self._make = make
        self._capped = capped
        self._workers = workers

    async def __call__(
        self,
        tasks: Sequence[Task],
        bench: Bench,
        hand_on: Callable[[Task, Outcome], None],
        concurrency: int,
    ) -> None:
        """Ask; see `Asking`. What one question is asked of, one worker does in turn.

        Raises:
            ClusterError: Workers die as they begin.
            SpendingCapError: The run may not spend more.
        """
        questions = [
            deque(of_one) for _, of_one in itertools.groupby(tasks, _question_id)
        ]
        if not questions:
            return
        workers = self._workers or _cores(self._ray, concurrency)
        work = self._work(tasks, bench)
        pool = WorkerPool(self._ray, work, workers, -(-concurrency // workers))
        with ThreadPoolExecutor(1) as keeper:
            lost = partial(lost_worker, self._ray, "one was killed.")
            requests = partial(WorkerRequests, bench, self._capped, keeper, lost)
            asked = _Asked(self._ray, pool, requests, hand_on)
            try:
                await map_concurrently(asked.all_of, questions, at_once=concurrency)
            finally:
                pool.end()

    def _work(self, tasks: Sequence[Task], bench: Bench) -> Work:
        return Work(
            self._make,
            {_name(task.arm): task.arm for task in tasks},
            replace(bench.dataset, documents={}),
            tuple(bench.dataset.documents),
            bench.vectors.name,
        )


class _Asked:
    """Questions that are asked of workers, until one of them ends the run."""

    def __init__(
        self,
        ray: Any,
        pool: WorkerPool,
        requests: Callable[[Callable[[int, Reply], None]], WorkerRequests],
        hand_on: Callable[[Task, Outcome], None],
    ) -> None:
        self._ray = ray
        self._pool = pool
        self._requests = requests
        self._hand_on = hand_on
        self._ended = False

    async def all_of(self, tasks: deque[Task]) -> None:
        """Do the tasks of one question, one after the other, at one worker.

        Raises:
            SpendingCapError: The run may not spend more.
        """
        losses = 0
        while tasks and not self._ended:
            worker = await self._pool.take()
            try:
                while tasks and not self._ended:
                    outcome = await self._outcome(worker, tasks[0])
                    self._hand_on(tasks.popleft(), outcome)
                    losses = 0
            except ClusterError as error:
                self._pool.replace(worker)
                losses += 1
                if losses == _LOSSES:
                    told = {"error": type(error).__name__, "message": error.message}
                    self._hand_on(tasks.popleft(), Outcome(told, failed=True))
                    losses = 0
            except BaseException:  # a cap, a fault, Ctrl-C: nothing more is begun
                self._ended = True
                raise
            else:
                self._pool.give_back(worker)

    async def _outcome(self, worker: Worker, task: Task) -> Outcome:
        """Do one task.

        Raises:
            ClusterError: The worker is gone.
            SpendingCapError: The run may not spend more.
        """
        errors = self._ray.exceptions
        requests = self._requests(worker.reply)
        asked = worker.actor.ask.remote(_name(task.arm), task.question)
        try:
            async for item in asked:
                message = await item
                if isinstance(message, Outcome):
                    return message
                requests.take(message)
        except errors.RayTaskError as error:
            raise cause_of(error) from None
        except errors.RayError as error:
            raise lost_worker(self._ray, error) from error
        finally:
            await requests.end()
        message = "A worker ended a question without an outcome."
        raise AssertionError(message)


def _cores(ray: Any, most: int) -> int:
    """Return how many cores the cluster has, at least 1 and not more than asked for."""
    return max(1, min(most, int(ray.cluster_resources().get("CPU", 1))))


def _question_id(task: Task) -> str:
    return task.question.question_id


def _name(arm: Arm) -> ArmName:
    return arm.system.name, arm.budget, arm.run
