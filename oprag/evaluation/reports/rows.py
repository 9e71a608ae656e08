"""One row of the table: what an arm scored and what it took."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oprag.calls import Price
from oprag.evaluation.data import Dataset
from oprag.evaluation.reports.arms import Arm
from oprag.evaluation.reports.measuring import corpus_scores
from oprag.evaluation.reports.summary import ArmSummary, Figure
from oprag.evaluation.statistics import Resampling, mean_and_deviation


@dataclass(frozen=True)
class Rows:
    """Makes the rows of one run.

    Args:
        dataset: The set that was asked.
        answers: Lines of `answers.jsonl`.
        question_ids: Of the questions that were asked, in the order of the set.
        expected: Answers that each arm should have.
        measures: What is shown.
        resampling: Over these questions.
        price: None: no cost is told.
    """

    dataset: Dataset
    answers: Sequence[Mapping[str, Any]]
    question_ids: Sequence[str]
    expected: int
    measures: Sequence[str]
    resampling: Resampling
    price: Price | None

    def row(self, arm: Arm) -> ArmSummary:
        """Summarise one arm."""
        asked = arm.asked()
        index = arm.index()
        costs = [self.price.cost(usage) for usage in asked] if self.price else None
        return ArmSummary(
            system=arm.system,
            budget=arm.budget,
            runs=len(arm.runs),
            questions=len({line["question_id"] for line in arm.lines}),
            answers=len(arm.lines),
            missing=self.expected - len(arm.lines),
            declined=arm.declined(),
            measures={**self._figures(arm), **self._of_corpus(arm)},
            context_tokens=arm.context_tokens(),
            input_tokens=statistics.fmean(usage.input_tokens for usage in asked),
            output_tokens=statistics.fmean(usage.output_tokens for usage in asked),
            index_tokens=index.input_tokens + index.output_tokens,
            estimated=any(usage.estimated for usage in [*asked, index]),
            cost=statistics.fmean(costs) if costs else None,
            index_cost=self.price.cost(index) if self.price else None,
        )

    def _figures(self, arm: Arm) -> dict[str, Figure]:
        figures = {}
        for measure in self.measures:
            values = arm.values(measure, self.question_ids)
            found = self.resampling.estimate(values)
            if found is not None:
                _, deviation = mean_and_deviation(arm.run_means(measure))
                figures[measure] = Figure(
                    found.mean,
                    found.low,
                    found.high,
                    deviation,
                    found.questions,
                    found.documents,
                )
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
