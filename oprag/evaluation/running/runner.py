"""Asks what is still to be asked, several questions at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from oprag.errors import OpragError, SpendingCapError
from oprag.evaluation.bench import Bench
from oprag.evaluation.data import Question
from oprag.evaluation.running.plan import Arm, Plan
from oprag.evaluation.running.run_directory import AnswerFile, RunDirectory, key_of
from oprag.evaluation.systems.system import Attempt


@dataclass
class RunReport:
    """How a run ended."""

    asked: int = 0
    """Answers that came now."""
    known: int = 0
    """Answers that were there before."""
    errors: list[dict[str, Any]] = field(default_factory=list)
    """What could not be answered: its key, and the error's type and message."""
    stopped: SpendingCapError | None = None
    """The cap that was reached; None where there was none."""

    @property
    def complete(self) -> bool:
        """Whether every answer is there."""
        return not self.errors and self.stopped is None


async def run(
    plan: Plan,
    bench: Bench,
    directory: RunDirectory,
    *,
    concurrency: int = 4,
    answered: Callable[[Mapping[str, Any]], None] = lambda _: None,
) -> RunReport:
    """Ask everything that the directory does not have.

    An error of one question does not end the run: it is told, and the question is
    asked again when the run is resumed. A cap does.

    Args:
        plan: What belongs to the run.
        bench: What the systems work with.
        directory: Begun, with the plan's settings.
        concurrency: Questions that are asked at a time.
        answered: Called with each answer that is there, those of before first.

    Returns:
        How it ended. The answers that are there are in the plan's order.
    """
    known = {key_of(answer): answer for answer in directory.answers()}
    keys = plan.keys()
    report = RunReport(known=sum(key in known for key in keys))
    for key in keys:
        if key in known:
            answered(known[key])
    tasks = (task for task in plan.tasks() if task[0].key(task[1]) not in known)
    with directory.open_answers() as file:
        worker = _Worker(bench, file, report, answered)
        await asyncio.gather(*(worker.work(tasks) for _ in range(concurrency)))
    order = {key: place for place, key in enumerate(keys)}
    report.errors.sort(key=lambda error: order[key_of(error)])
    directory.write_errors(report.errors)
    directory.arrange(keys)
    return report


class _Worker:
    """Takes tasks from what all workers share, until there are none."""

    def __init__(
        self,
        bench: Bench,
        file: AnswerFile,
        report: RunReport,
        answered: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._bench = bench
        self._file = file
        self._report = report
        self._answered = answered

    async def work(self, tasks: Iterator[tuple[Arm, Question]]) -> None:
        for arm, question in tasks:
            await asyncio.sleep(0)  # Ctrl-C is heard here, whatever the model does
            if self._report.stopped is not None:
                return
            key = arm.key(question)._asdict()
            began = time.perf_counter()
            try:
                attempt = await arm.system.attempt(question, arm.budget, self._bench)
            except SpendingCapError as error:
                self._report.stopped = error
                return
            except OpragError as error:
                told = {"error": type(error).__name__, "message": error.message}
                self._report.errors.append({**key, **told})
                continue
            answer = {**key, **as_json(attempt)}
            self._file.add(answer, time.perf_counter() - began)
            self._report.asked += 1
            self._answered(answer)


def as_json(attempt: Attempt) -> dict[str, Any]:
    """Return an attempt as plain JSON values."""
    return {
        "prediction": attempt.prediction,
        "answered": attempt.answered,
        "reply": attempt.reply,
        "pieces": [[p.document, p.start, p.end, p.note] for p in attempt.pieces],
        "context_tokens": attempt.context_tokens,
        "chunk_set": attempt.chunk_set,
        "choice": attempt.choice,
        "route": attempt.route,
        "long_context_tokens": attempt.long_context_tokens,
        "usage": {stage: usage.to_dict() for stage, usage in attempt.usage.items()},
        "calls": dict(attempt.calls),
    }
