"""The scores of a run, arm by arm: one system at one budget, over all its runs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oprag.calls import Price, TokenUsage
from oprag_eval.data import Dataset
from oprag_eval.reports.measuring import corpus_scores
from oprag_eval.reports.summary import ArmSummary, Figure, arm_label
from oprag_eval.statistics import Sampling, mean_and_deviation


@dataclass(frozen=True)
class Arm:
    """What one system scored at one budget."""

    system: str
    budget: int | None
    """Tokens; None for a system without a budget."""
    lines: tuple[Mapping[str, Any], ...]
    """Its lines of `scores.jsonl`, in their order."""

    @property
    def label(self) -> str:
        """Name it in a table or legend: `dos-rag, 1,500`."""
        return arm_label(self.system, self.budget, cut=bool(self.read(whole=False)))

    def read(self, *, whole: bool) -> int:
        """Count the answers for which full documents were read, whole or cut."""
        return sum(line.get("whole") is whole for line in self.lines)

    @property
    def runs(self) -> list[int]:
        """The runs that have answers, ascending."""
        return sorted({line["run"] for line in self.lines})

    def values(self, measure: str, question_ids: Sequence[str]) -> list[float | None]:
        """Return a measure of each question, the mean over its runs.

        Args:
            measure: One of the line's measures.
            question_ids: In the order that the values are wanted in.

        Returns:
            None for a question that was not answered, or that the measure does not
            fit.
        """
        found = self._values_by("question_id", measure)
        return [
            statistics.fmean(found[name]) if name in found else None
            for name in question_ids
        ]

    def run_means(self, measure: str) -> list[float]:
        """Return the mean of a measure in each run that has one."""
        found = self._values_by("run", measure)
        return [statistics.fmean(found[run]) for run in sorted(found)]

    def _values_by(self, field: str, measure: str) -> dict[Any, list[float]]:
        found: dict[Any, list[float]] = {}
        for line in self.lines:
            if (value := line.get(measure)) is not None:
                found.setdefault(line[field], []).append(float(value))
        return found

    def index(self) -> TokenUsage:
        """Return the tokens of what was made of the documents, each made once.

        Questions on the same documents carry the same figure; it is added once.
        """
        by_documents = {
            tuple(line["doc_ids"]): TokenUsage(**line["usage"]["index"])
            for line in self.lines
        }
        return sum(by_documents.values(), TokenUsage())


def arms_of(scores: Iterable[Mapping[str, Any]]) -> list[Arm]:
    """Group lines of `scores.jsonl` by system and budget.

    Returns:
        In the order of their first lines, which is that of the plan.
    """
    groups: dict[tuple[str, int | None], list[Mapping[str, Any]]] = {}
    for line in scores:
        groups.setdefault((line["system"], line["budget"]), []).append(line)
    return [
        Arm(system, budget, tuple(lines)) for (system, budget), lines in groups.items()
    ]


@dataclass(frozen=True)
class Rows:
    """Makes the rows of one run.

    Args:
        dataset: The set that was asked.
        answers: Lines of `answers.jsonl`.
        question_ids: Of the questions that were asked, in the order of the set.
        expected: Answers that each arm should have.
        measures: What is shown.
        sampling: Of these questions.
        price: None: no cost is told.
        index_price: Of what was made beforehand; None: the same.
    """

    dataset: Dataset
    answers: Sequence[Mapping[str, Any]]
    question_ids: Sequence[str]
    expected: int
    measures: Sequence[str]
    sampling: Sampling
    price: Price | None
    index_price: Price | None = None

    def row(self, arm: Arm) -> ArmSummary:
        """Summarise one arm."""
        asked = [TokenUsage(**line["usage"]["asked"]) for line in arm.lines]
        index = arm.index()
        of_index = self.index_price or self.price
        costs = [self.price.cost(usage) for usage in asked] if self.price else None
        return ArmSummary(
            system=arm.system,
            budget=arm.budget,
            runs=len(arm.runs),
            questions=len({line["question_id"] for line in arm.lines}),
            answers=len(arm.lines),
            missing=self.expected - len(arm.lines),
            declined=sum(not line["answered"] for line in arm.lines),
            read_whole=arm.read(whole=True),
            cut=arm.read(whole=False),
            measures={**self._figures(arm), **self._of_corpus(arm)},
            context_tokens=statistics.fmean(
                line["context_tokens"] for line in arm.lines
            ),
            input_tokens=statistics.fmean(usage.input_tokens for usage in asked),
            output_tokens=statistics.fmean(usage.output_tokens for usage in asked),
            index_tokens=index.input_tokens + index.output_tokens,
            estimated=any(usage.estimated for usage in [*asked, index]),
            cost=statistics.fmean(costs) if costs else None,
            index_cost=of_index.cost(index) if of_index else None,
        )

    def _figures(self, arm: Arm) -> dict[str, Figure]:
        figures = {}
        for measure in self.measures:
            values = arm.values(measure, self.question_ids)
            found = self.sampling.estimate(values)
            if found is not None:
                _, deviation = mean_and_deviation(arm.run_means(measure))
                figures[measure] = Figure(**found._asdict(), deviation=deviation)
        return figures

    def _of_corpus(self, arm: Arm) -> dict[str, Figure]:
        """Measures of all answers together: the mean of the runs, no interval."""
        runs: dict[int, list[Mapping[str, Any]]] = {}
        for answer in self.answers:
            if (answer["system"], answer["budget"]) == (arm.system, arm.budget):
                runs.setdefault(answer["run"], []).append(answer)
        scores = [corpus_scores(runs[run], self.dataset) for run in sorted(runs)]
        names = {name: None for score in scores for name in score}
        questions = len({line["question_id"] for line in arm.lines})
        documents = len({name for line in arm.lines for name in line["doc_ids"]})
        figures = {}
        for name in names:
            values = [score[name] for score in scores if name in score]
            mean, deviation = mean_and_deviation(values)
            figures[name] = Figure(mean, None, None, deviation, questions, documents)
        return figures
