"""The scores of a run, arm by arm: one system at one budget, over all its runs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oprag.calls import Price, TokenUsage
from oprag_eval.data import Dataset
from oprag_eval.reports.measures import corpus_scores
from oprag_eval.reports.summary import ArmSummary, arm_label
from oprag_eval.statistics import Figure, Sampling


@dataclass(frozen=True)
class Arm:
    """The scores of one system at one budget."""

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

    def values(self, measure: str, question_ids: Sequence[str]) -> list[float | None]:
        """Return a measure of each question, the mean over its runs.

        Returns:
            None for a question that was not answered, or that the measure does not fit.
        """
        found = self.means("question_id", measure)
        return [found.get(name) for name in question_ids]

    def means(self, field: str, measure: str) -> dict[Any, float]:
        """Return the means of a measure over its lines, by a field of theirs."""
        found: dict[Any, list[float]] = {}
        for line in self.lines:
            if (value := line.get(measure)) is not None:
                found.setdefault(line[field], []).append(float(value))
        return {key: statistics.fmean(values) for key, values in found.items()}

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


def row_of(
    arm: Arm,
    figures: Mapping[str, Figure],
    *,
    expected: int,
    price: Price | None,
    index_price: Price | None,
) -> ArmSummary:
    """Summarise one arm."""
    asked = [TokenUsage(**line["usage"]["asked"]) for line in arm.lines]
    index = arm.index()
    of_index = index_price or price
    costs = [price.cost(usage) for usage in asked] if price else None
    return ArmSummary(
        system=arm.system,
        budget=arm.budget,
        runs=len({line["run"] for line in arm.lines}),
        questions=len({line["question_id"] for line in arm.lines}),
        answers=len(arm.lines),
        missing=expected - len(arm.lines),
        declined=sum(not line["answered"] for line in arm.lines),
        read_whole=arm.read(whole=True),
        cut=arm.read(whole=False),
        measures=figures,
        context_tokens=statistics.fmean(line["context_tokens"] for line in arm.lines),
        input_tokens=statistics.fmean(usage.input_tokens for usage in asked),
        output_tokens=statistics.fmean(usage.output_tokens for usage in asked),
        index_tokens=index.input_tokens + index.output_tokens,
        estimated=any(usage.estimated for usage in [*asked, index]),
        cost=statistics.fmean(costs) if costs else None,
        index_cost=of_index.cost(index) if of_index else None,
    )


def figures_of(
    arm: Arm, measures: Sequence[str], question_ids: Sequence[str], sampling: Sampling
) -> dict[str, Figure]:
    """Return the measures of an arm; one that fits no question is absent."""
    figures = {}
    for measure in measures:
        if found := sampling.estimate(arm.values(measure, question_ids)):
            deviation = _deviation([*arm.means("run", measure).values()])
            figures[measure] = replace(found, deviation=deviation)
    return figures


def corpus_figures(
    arm: Arm, answers: Sequence[Mapping[str, Any]], dataset: Dataset
) -> dict[str, Figure]:
    """Return measures of all answers together: the mean of the runs, no interval."""
    runs: dict[int, list[Mapping[str, Any]]] = {}
    for answer in answers:
        if (answer["system"], answer["budget"]) == (arm.system, arm.budget):
            runs.setdefault(answer["run"], []).append(answer)
    scores = [corpus_scores(runs[run], dataset) for run in sorted(runs)]
    questions = len({line["question_id"] for line in arm.lines})
    documents = len({name for line in arm.lines for name in line["doc_ids"]})
    figures = {}
    for name in {name: None for score in scores for name in score}:
        values = [score[name] for score in scores if name in score]
        known = statistics.fmean(values), None, None, questions, documents
        figures[name] = Figure(*known, _deviation(values))
    return figures


def _deviation(values: Sequence[float]) -> float | None:
    """The sample's standard deviation over runs; None for one run."""
    return statistics.stdev(values) if len(values) > 1 else None
