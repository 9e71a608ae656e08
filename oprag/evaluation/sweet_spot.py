"""The sweet spot: the fewest tokens that do not do measurably worse than the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oprag.errors import InvalidOptionError
from oprag.evaluation.statistics import Comparison, Estimate, Resampling

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

    Args:
        candidates: Arms, of one system over its budgets or of several systems.
        resampling: Draws, for the same questions.

    Returns:
        None where no arm has a value.

    Raises:
        InvalidOptionError: An arm has not one value per question.
        InvalidOptionError: There is no candidate.
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
        (
            index,
            resampling.compare(candidates[index].values, candidates[best].values),
        )
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
