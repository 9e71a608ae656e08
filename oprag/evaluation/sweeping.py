"""Sweeps: which budgets to ask, by which measure, and where the sweet spot is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oprag.errors import InvalidOptionError
from oprag.evaluation.data import Dataset
from oprag.evaluation.statistics import Comparison, Estimate, Resampling
from oprag.tokens import TokenCounter

_LADDER = (250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)


def budgets_for(dataset: Dataset, token_counter: TokenCounter) -> list[int]:
    """Choose budgets that make a difference: those that the documents exceed.

    Returns:
        250, 500, 1,000 and so on, doubling up to 64,000, as far as they are less than
        the tokens that some question is asked of; at least the first.
    """
    tokens: dict[str, int] = {}
    largest = 0
    for doc_ids in dict.fromkeys(question.doc_ids for question in dataset.questions):
        total = 0
        for name in doc_ids or tuple(dataset.documents):
            if name not in tokens:
                tokens[name] = token_counter(dataset.document(name).text)
            total += tokens[name]
        largest = max(largest, total)
    return [budget for budget in _LADDER if budget < largest] or [_LADDER[0]]


def with_answer_recall(dataset: Dataset) -> Dataset:
    """Add the measure of whether contexts hold an answer, where no evidence is known.

    It comes with LongRAG's match, whose rule it is. Only for open questions: the text
    of an option need not stand in the document.
    """
    questions = dataset.questions
    wanted = all(q.answers and not q.options and not q.evidence for q in questions)
    if not wanted or "longrag_match" in dataset.metrics:
        return dataset
    return dataclasses.replace(dataset, metrics=(*dataset.metrics, "longrag_match"))


def sweep_measure(dataset: Dataset, *, offline: bool) -> str:
    """Name the measure that systems and budgets are compared by.

    Args:
        dataset: What is asked; in a sweep after `with_answer_recall`.
        offline: Whether no language model answers. Then answers say little, and what
            the contexts hold is measured: the evidence, else the answer's text.

    Returns:
        Empty for the set's own, by which a model's answers are measured.
    """
    if not offline:
        return ""
    if any(question.evidence for question in dataset.questions):
        return "evidence_recall"
    return "answer_recall" if "longrag_match" in dataset.metrics else ""


AS_CHEAP = 1.05
"""Up to so many times the tokens count as no more tokens."""


class Candidate(NamedTuple):
    """One arm: a system at a budget, and how it did."""

    name: str
    """For people; not looked at."""
    tokens: float
    """What it takes: mean tokens of the context, or of the prompts."""
    values: Sequence[float | None]
    """Its measure, one per question in one order for all arms; None where a question
    has none."""


class SweetSpot(NamedTuple):
    """Which arm to use, and the evidence for it."""

    chosen: int
    """Index of the sweet spot among the candidates."""
    best: int
    """Index of the arm with the highest mean; the same where it is the sweet spot."""
    estimate: Estimate
    """Of the chosen arm."""
    best_estimate: Estimate
    """Of the best one."""
    comparison: Comparison
    """Chosen minus best, paired by question; all zero where they are the same."""


def sweet_spot(
    candidates: Sequence[Candidate], resampling: Resampling
) -> SweetSpot | None:
    """Find the cheapest arm that is not significantly worse than the best.

    The best has the highest mean; of equal means the one with fewer tokens, then the
    first. From the fewest tokens on, each arm is compared with it on the questions
    that both have; the first is taken whose 95 % interval of the difference reaches
    zero. Arms are passed over where another has a higher mean for no more tokens:
    their intervals may reach zero because they are wide. A twentieth more tokens count
    as no more, because systems do not fill a budget equally.

    With few questions intervals are wide and this finds small budgets: the interval
    in `comparison` says how much may be lost.

    Returns:
        None where no arm has a value.

    Raises:
        InvalidOptionError: There is no candidate, or one has not one value per
            question.
    """
    if not candidates:
        message = "There is no arm to choose from."
        raise InvalidOptionError(message, option="candidates", value=candidates)
    estimates = {
        index: estimate
        for index, candidate in enumerate(candidates)
        if (estimate := resampling.estimate(candidate.values)) is not None
    }
    if not estimates:
        return None

    def cost(index: int) -> tuple[float, int]:
        return candidates[index].tokens, index

    best = min(estimates, key=lambda index: (-estimates[index].mean, cost(index)))

    compared = (
        (index, resampling.compare(candidates[index].values, candidates[best].values))
        for index in sorted(estimates, key=cost)
        if not _outdone(index, candidates, estimates)
    )
    chosen, comparison = next(  # the best itself at the latest
        (index, found)
        for index, found in compared
        if found is not None and found.difference.high >= 0
    )
    return SweetSpot(chosen, best, estimates[chosen], estimates[best], comparison)


def _outdone(
    index: int, candidates: Sequence[Candidate], estimates: Mapping[int, Estimate]
) -> bool:
    most = candidates[index].tokens * AS_CHEAP
    return any(
        found.mean > estimates[index].mean and candidates[other].tokens <= most
        for other, found in estimates.items()
    )
