"""The answers of a run, and the asking of those that are not there yet."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from oprag.calls import hide_secrets, read_error_message
from oprag.errors import InvalidOptionError, OpragError, invalid_option
from oprag_eval.bench import Bench
from oprag_eval.data import Question
from oprag_eval.errors import SpendingCapError
from oprag_eval.running.run_directory import (
    ANSWERS,
    AnswerKey,
    LineFile,
    RunDirectory,
    key_of,
)
from oprag_eval.system import Attempt, System
from oprag_eval.workers import map_concurrently


@dataclass(frozen=True)
class Arm:
    """One system at one budget, in one of several runs."""

    system: System
    budget: int | None
    run: int

    def key(self, question: Question) -> AnswerKey:
        """Name its answer to a question."""
        return AnswerKey(self.system.name, self.budget, self.run, question.question_id)


class Plan:
    """Every question, for every system, budget and run.

    Raises:
        InvalidOptionError: Two systems have one name, or there is nothing to do.
    """

    def __init__(
        self,
        systems: Sequence[System],
        budgets: Sequence[int],
        questions: Sequence[Question],
        *,
        runs: int = 1,
    ) -> None:
        names = [system.name for system in systems]
        if len(set(names)) < len(names):
            takes = "Each needs a name of its own."
            raise invalid_option("systems", names, takes)
        self.questions = tuple(questions)
        self.arms = tuple(
            Arm(system, budget, run)
            for system in systems
            for budget in (sorted(set(budgets)) if system.budgeted else [None])
            for run in range(runs)
        )
        if not self.arms or not self.questions:
            message = (
                f"There is nothing to run: systems={names}, budgets={list(budgets)}, "
                f"runs={runs}, {len(self.questions)} questions."
            )
            raise InvalidOptionError(message, option="systems", value=names)

    def __len__(self) -> int:
        return len(self.arms) * len(self.questions)

    def without(self, kind: type[System]) -> tuple[Plan | None, list[str]]:
        """Leave out a kind of system.

        Returns:
            The plan of the others, None if there are none; and the names left out.
        """
        out = dict.fromkeys(
            a.system.name for a in self.arms if isinstance(a.system, kind)
        )
        plan = copy.copy(self)
        plan.arms = tuple(arm for arm in self.arms if arm.system.name not in out)
        return (plan if plan.arms else None), [*out]

    def keys(self) -> list[AnswerKey]:
        """Return the keys in the order of the file: an arm's questions together."""
        return [arm.key(question) for arm in self.arms for question in self.questions]


@dataclass
class RunReport:
    """The end of a run."""

    asked: int = 0
    """Answers that came now."""
    known: int = 0
    """Answers that were there before."""
    errors: list[dict[str, Any]] = field(default_factory=list)
    """Questions without an answer: the key, and the error's type and message."""
    stopped: SpendingCapError | None = None
    """The cap that was reached; None if there was none."""

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
    advanced: Callable[[int, int], None] = lambda _done, _all: None,
) -> RunReport:
    """Ask everything that the directory does not have.

    An error of one question does not end the run: it is reported, and the question is
    asked again when the run is resumed. A cap does.

    `advanced` is called with the number of answers that are there, and of all.

    Returns:
        How it ended. The answers that are there are in the plan's order.
    """
    known = {key_of(answer) for answer in directory.answers()}
    keys = plan.keys()
    report = RunReport(known=sum(key in known for key in keys))
    advanced(report.known, len(keys))
    # A question's arms together: they share its ranking and its documents.
    tasks = [
        (arm, question)
        for question in plan.questions
        for arm in plan.arms
        if arm.key(question) not in known
    ]
    with LineFile(directory.path / ANSWERS) as file:

        async def ask(task: tuple[Arm, Question]) -> None:
            arm, question = task
            key = arm.key(question)._asdict()
            try:
                made = await arm.system.attempt(question, arm.budget, bench)
            except SpendingCapError:
                raise
            except Exception as error:  # noqa: BLE001 -- no text may end a paid run
                message = f"{type(error).__name__}: {read_error_message(error)}"
                if isinstance(error, OpragError):
                    message = hide_secrets(error.message)
                failure = {"error": type(error).__name__, "message": message}
                report.errors.append({**key, **failure})
                return
            file.add({**key, **_as_json(made)})
            report.asked += 1
            advanced(report.known + report.asked, len(keys))

        try:
            await map_concurrently(ask, tasks, at_once=concurrency)
        except SpendingCapError as error:
            report.stopped = error
    order = {key: place for place, key in enumerate(keys)}
    report.errors.sort(key=lambda error: order[key_of(error)])
    directory.write_errors(report.errors)
    directory.arrange(keys)
    return report


def _as_json(attempt: Attempt) -> dict[str, Any]:
    """Return an attempt as plain JSON values."""
    return {
        **vars(attempt),
        "pieces": [[p.document, p.start, p.end, p.note] for p in attempt.pieces],
        "steps": [{**vars(s), "usage": s.usage.to_dict()} for s in attempt.steps],
        "usage": {stage: usage.to_dict() for stage, usage in attempt.usage.items()},
    }
