"""The scores of a run, arm by arm: one system at one budget, over all its runs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oprag.calls import TokenUsage


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
        return self.system if self.budget is None else f"{self.system}, {self.budget:,}"

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
        found: dict[str, list[float]] = {}
        for line in self.lines:
            value = line.get(measure)
            if value is not None:
                found.setdefault(line["question_id"], []).append(float(value))
        return [
            statistics.fmean(found[name]) if name in found else None
            for name in question_ids
        ]

    def run_means(self, measure: str) -> list[float]:
        """Return the mean of a measure in each run that has one."""
        found: dict[int, list[float]] = {}
        for line in self.lines:
            value = line.get(measure)
            if value is not None:
                found.setdefault(line["run"], []).append(float(value))
        return [statistics.fmean(found[run]) for run in sorted(found)]

    def asked(self) -> list[TokenUsage]:
        """Return the tokens of each answer's own calls."""
        return [TokenUsage(**line["usage"]["asked"]) for line in self.lines]

    def index(self) -> TokenUsage:
        """Return the tokens of what was made of the documents, each made once.

        Questions on the same documents carry the same figure; it is added once.
        """
        by_documents = {
            tuple(line["doc_ids"]): TokenUsage(**line["usage"]["index"])
            for line in self.lines
        }
        return sum(by_documents.values(), TokenUsage())

    def context_tokens(self) -> float:
        """Return the mean tokens of the contexts."""
        return statistics.fmean(line["context_tokens"] for line in self.lines)

    def declined(self) -> int:
        """Count the answers that decline."""
        return sum(not line["answered"] for line in self.lines)


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
