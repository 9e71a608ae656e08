"""Whether a paper's claims come out: of a planned pair, of a figure, of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from oprag_eval.published import Published
from oprag_eval.reports.comparison import MARGIN
from oprag_eval.statistics import Comparison, Figure, Spread, adjusted, chance_below

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


def same_figure(
    ours: Figure | None, paper: Published | None, runs: tuple[int, int], questions: int
) -> Verdict | None:
    """Say whether a figure is the paper's: by equivalence, within `MARGIN`.

    The margin is the 2 points that the advice calls as good. Both asked the same
    questions, so chance is only what differs from run to run: the paper's own
    deviation (ours, where it is larger), of the mean of our runs and of its. A figure
    comes out where it is within the margin with 95 % confidence, and does not where it
    is beyond it with the same. Of fewer questions than the paper's nothing is said, and
    it is None where the paper gives no deviation.
    """
    if paper is None or paper.deviation is None:
        return None
    if ours is None or ours.questions < questions:
        return "too few to tell"
    deviation = max(paper.deviation, ours.deviation or 0)
    error = deviation * math.sqrt(sum(1 / each for each in runs))
    apart = abs(ours.mean - paper.value)
    reach = Spread(apart, apart, error, runs[1] - 1, 0, 0).reach(_DOUBT)
    if apart + reach <= MARGIN:
        return "comes out"
    return "does not come out" if apart - reach > MARGIN else "too few to tell"
