"""Whether a paper's claims come out: of a planned pair, and of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from oprag_eval.statistics import Comparison, adjusted, chance_below

Verdict: TypeAlias = Literal["comes out", "does not come out", "too few to tell"]

LEAST = 0.01
"""A difference of a paper's that is smaller is no claim."""
PART = 0.5
"""Of the paper's difference, what is too little."""
_DEVIATIONS = 2
_DOUBT = 0.05


@dataclass(frozen=True)
class Claim:
    """A planned pair: our difference, first minus second, beside the paper's."""

    first: str
    second: str
    measure: str
    ours: Comparison | None
    paper: float | None
    """None where the paper does not print both figures."""
    spread: float = 0.0
    """Standard deviation of the paper's, over its runs; 0: not given."""
    p: float | None = None
    """Holm's, over the claims; like the verdict None where nothing is claimed."""
    verdict: Verdict | None = None

    @property
    def claims(self) -> bool:
        """Whether the paper has a difference that its own runs do not explain."""
        return abs(self.paper or 0) >= max(LEAST, _DEVIATIONS * self.spread)


def judge(pairs: Sequence[Claim]) -> list[Claim]:
    """Say of each claim whether it comes out.

    It does where our difference is not 0 and lies on the paper's side; it does not
    where ours is less than `PART` of the paper's, or on the other side. What is
    neither is too few to tell. Both are shown with 95 % confidence, corrected for the
    number of claims (Holm), so that a table without any effect has a claim that comes
    out in at most 5 % of runs. A pair without a claim is not judged.
    """
    judged = list(pairs)
    known = []
    for place, each in enumerate(pairs):
        if each.claims:
            judged[place] = replace(each, verdict="too few to tell")
            if each.ours is not None and each.paper is not None:
                known.append((place, each.ours, each.paper))
    chances = adjusted([ours.p for _, ours, _ in known])
    short = adjusted([_short(ours, paper) for _, ours, paper in known])
    for (place, ours, paper), p, less in zip(known, chances, short, strict=True):
        verdict = judged[place].verdict
        if less < _DOUBT:
            verdict = "does not come out"
        elif p < _DOUBT and ours.mean * paper > 0:
            verdict = "comes out"
        judged[place] = replace(pairs[place], p=p, verdict=verdict)
    return judged


def _short(ours: Comparison, paper: float) -> float:
    """The two-sided p of so small a difference, were `PART` of the paper's true."""
    below = math.copysign(ours.mean, ours.mean * paper) - PART * abs(paper)
    return min(2 * chance_below(below, ours.error, ours.freedom), 1.0)


def verdict_of(pairs: Sequence[Claim]) -> Verdict | None:
    """Say of a table what more of its claims do: come out, or not; None without any."""
    verdicts = [each.verdict for each in pairs if each.claims]
    come = verdicts.count("comes out")
    fail = verdicts.count("does not come out")
    if come == fail:
        return "too few to tell" if verdicts else None
    return "comes out" if come > fail else "does not come out"
