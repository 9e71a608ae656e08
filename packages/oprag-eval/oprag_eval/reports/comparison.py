"""Arms side by side: planned differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from oprag_eval.reports.summary import Difference
from oprag_eval.statistics import Comparison, Sampling, adjusted

_BASELINE = "vanilla-rag"


class Compared(NamedTuple):
    """An arm with its values of the measure that arms are compared by."""

    label: str
    system: str
    budget: int | None
    tokens: float
    """Its cost: mean tokens of the prompts, or of the context."""
    values: Sequence[float | None]
    """One per question in one order for all arms; None if a question has none."""


def comparisons(
    arms: Sequence[Compared],
    sampling: Sampling,
    planned: Sequence[tuple[str, str]] = (),
) -> tuple[Difference, ...]:
    """Compare planned pairs of systems at the same budget, first minus second.

    They are planned before any score is seen, and p is corrected for their number.
    Without a plan every system is compared with vanilla RAG, or the first one; one
    without a budget with others that have none, but as the second of a pair with all.
    """
    found = []
    for first, second in _pairs(arms, planned):
        compared = sampling.compare(first.values, second.values)
        if compared is not None:
            found.append(difference_of(first, second, compared))
    corrected = adjusted([each.p for each in found])
    return tuple(
        replace(each, p_adjusted=p) for each, p in zip(found, corrected, strict=True)
    )


def _pairs(
    arms: Sequence[Compared], planned: Sequence[tuple[str, str]]
) -> Iterator[tuple[Compared, Compared]]:
    systems = list(dict.fromkeys(each.system for each in arms))
    baseline = _BASELINE if _BASELINE in systems else next(iter(systems), "")
    free = [each.system for each in arms if each.budget is None]
    for first in arms:
        system, budget = first.system, first.budget
        lone = budget is None and baseline not in free
        against = {other for one, other in planned if one == system}
        if not planned:
            against = {free[0] if lone else baseline} - {system}
        for second in arms:
            if second.system in against and second.budget in {None, budget}:
                yield first, second


def difference_of(
    first: Compared, second: Compared, compared: Comparison
) -> Difference:
    """Name the arms of a comparison and their tokens."""
    return Difference(
        **vars(compared),
        first=first.label,
        first_tokens=first.tokens,
        second=second.label,
        second_tokens=second.tokens,
    )
