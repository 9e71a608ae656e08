"""Arms side by side: differences, and the sweet spot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from oprag_eval.reports.summary import Difference, SweetSpot
from oprag_eval.statistics import Comparison, Sampling, adjusted

_BASELINE = "vanilla-rag"
_SEVERAL = 2


AS_CHEAP = 1.05
"""Up to so many times the tokens count as no more tokens."""
MARGIN = 0.02
"""An arm that is so much worse than the best may still be advised: 2 points of 100."""
CONFIDENCE = 0.9
"""That it is no worse than that."""
_ENOUGH = 0.5
"""Of the questions that some arm has a value for, an arm needs more than so many."""
_SURELY = 0.1
"""Of the doubt that is left, what goes into saying which arms are surely worse."""


class Compared(NamedTuple):
    """An arm with its values of the measure that arms are compared by."""

    label: str
    system: str
    budget: int | None
    tokens: float
    """Its cost: mean tokens of the prompts, or of the context."""
    values: Sequence[float | None]
    """One per question in one order for all arms; None where a question has none."""


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
            found.append(_difference(first, second, compared))
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


def sweet_spot(arms: Sequence[Compared], sampling: Sampling) -> SweetSpot | None:
    """Find the cheapest arm that is shown to be as good as the best.

    As good: with `CONFIDENCE` at most `MARGIN` worse than whichever is the best. That
    no difference is seen does not show it, so with few questions nothing is chosen.

    Arms are passed over where another has a higher mean for no more tokens; a twentieth
    more tokens count as no more, because systems do not fill a budget equally. Arms
    where half of the questions failed are left out altogether. The best so far has the
    highest mean; of equal means the one with fewer tokens, then the first.

    Returns:
        None where there are not two arms, or none has a value.
    """
    estimates = [sampling.estimate(arm.values) for arm in arms]
    most = max((each.questions for each in estimates if each), default=0)
    held = [
        (estimate.mean, arm)
        for arm, estimate in zip(arms, estimates, strict=True)
        if estimate is not None and estimate.questions > _ENOUGH * most
    ]
    if len(arms) < _SEVERAL or not held:
        return None
    behind = _behind([arm.values for _, arm in held], sampling)
    found = list(zip(held, behind, strict=True))
    (_, best), best_far = min(found, key=lambda one: (-one[0][0], one[0][1].tokens))
    good = [
        (arm, far)
        for (mean, arm), far in found
        if far <= MARGIN
        and not any(m > mean and a.tokens <= arm.tokens * AS_CHEAP for m, a in held)
    ]
    if not good:
        return SweetSpot(None, best.label, best_far, None)
    chosen, far = min(good, key=lambda one: one[0].tokens)
    compared = None if chosen is best else sampling.compare(chosen.values, best.values)
    difference = _difference(chosen, best, compared) if compared else None
    return SweetSpot(chosen.label, best.label, far, difference)


def _behind(arms: Sequence[Sequence[float | None]], sampling: Sampling) -> list[float]:
    """Say of each arm how far it may be below the best of them, whichever that is.

    All statements hold together with `CONFIDENCE`: they need the comparisons with the
    best alone, which share the doubt. Arms that are surely worse than the margin are
    nearly never taken for good ones, and need no share.

    Source:
        Hsu 1984, multiple comparisons with the best; the shares are Bonferroni's.
        Romano, Shaikh and Wolf 2014, the two steps.
    """
    spreads = [
        [sampling.compare(arm, other) for n, other in enumerate(arms) if n != place]
        for place, arm in enumerate(arms)
    ]
    doubt, others = 1 - CONFIDENCE, max(len(arms) - 1, 1)
    surely = doubt * _SURELY / others
    worse = [
        any(s and s.freedom and s.centre + s.reach(surely) < -MARGIN for s in row)
        for row in spreads
    ]
    share = doubt * (1 - _SURELY) / max(worse.count(False) - 1, 1)
    return [max([0.0, *(_bound(spread, share) for spread in row)]) for row in spreads]


def _bound(spread: Comparison | None, doubt: float) -> float:
    """How far the first of a pair may be below the second."""
    if spread is None or not spread.freedom:
        return 1.0
    return min(spread.reach(doubt) - spread.centre, 1.0)


def _difference(first: Compared, second: Compared, compared: Comparison) -> Difference:
    return Difference(
        **vars(compared),
        first=first.label,
        first_tokens=first.tokens,
        second=second.label,
        second_tokens=second.tokens,
    )
