"""Which answers a run consists of, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oprag.errors import InvalidOptionError
from oprag.evaluation.counting import number_of
from oprag.evaluation.data import Question
from oprag.evaluation.running.run_directory import AnswerKey
from oprag.evaluation.systems.system import System


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

    Args:
        systems: With names of their own.
        budgets: Tokens, ascending.
        questions: In the order of the set.
        runs: How often each question is asked of each.

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
            message = f"systems={names} is not possible. Each needs a name of its own."
            raise InvalidOptionError(message, option="systems", value=names)
        self.questions = tuple(questions)
        self.arms = tuple(
            Arm(system, budget, run)
            for system in systems
            for budget in (sorted(set(budgets)) if system.budgeted else [None])
            for run in range(runs)
        )
        if not self.arms or not self.questions:
            message = (
                f"There is nothing to run: {number_of(len(names), 'system')}, "
                f"{number_of(len(budgets), 'budget')}, "
                f"{number_of(len(self.questions), 'question')}, "
                f"{number_of(runs, 'run')}."
            )
            raise InvalidOptionError(message, option="systems", value=names)

    def __len__(self) -> int:
        return len(self.arms) * len(self.questions)

    def tasks(self) -> Iterator[tuple[Arm, Question]]:
        """In the order in which they are asked: a question's arms together.

        They share its ranking and its documents.
        """
        for question in self.questions:
            for arm in self.arms:
                yield arm, question

    def keys(self) -> list[AnswerKey]:
        """In the order in which they are kept: an arm's questions together."""
        return [arm.key(question) for arm in self.arms for question in self.questions]
