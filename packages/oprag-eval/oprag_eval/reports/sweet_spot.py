"""The sweet spot: the fewest tokens that are shown to do as well as the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oprag_eval.reports.comparison import Compared, difference_of
from oprag_eval.reports.summary import Difference, SweetSpot
from oprag_eval.statistics import (
    FEWEST_PAIRS,
    Pairing,
    Sampling,
    Values,
    as_array,
    pair_questions,
)

AS_CHEAP = 1.05
"""Up to this many times the tokens count as no more tokens."""
MARGINS = (0.02, 0.05, 0.1)
"""How much worse than the best an advised arm may be: 2, 5 and 10 of 100 points.

The first margin that some arm is shown to keep applies.
"""
CONFIDENCE = 0.9
"""The confidence that it is no worse than that."""
_ENOUGH = 0.5
"""Of the questions that some arm has a value for, an arm needs more than this share."""
_SURELY = 0.1
"""Of the doubt that is left, the share for saying which arms are surely worse."""
_TENS = 10
_MOST_NEEDED = 1000
_SEVERAL = 2


def sweet_spot(arms: Sequence[Compared]) -> SweetSpot | None:
    """Find the cheapest arm that is shown to be as good as the best.

    Shown on these documents, over questions like those that were asked. As good: with
    `CONFIDENCE` at most a margin worse than whichever is the best, the smallest of
    `MARGINS` that some arm keeps. That no difference is seen does not show it, so with
    few questions nothing is chosen, and with fewer than `FEWEST_PAIRS` never.

    Arms are passed over if another has a higher mean for no more tokens. A twentieth
    more tokens count as no more, because systems do not fill a budget equally. Arms for
    which half of the questions failed are left out altogether. The best so far has the
    highest mean; of equal means the one with fewer tokens, then the first.

    Returns:
        None if there are not two arms, or none has a value.
    """
    arrays = [as_array(arm.values) for arm in arms]
    counts = [int(np.count_nonzero(~np.isnan(each))) for each in arrays]
    most = max(counts, default=0)
    held = [
        _Held(float(np.nanmean(values)), arm)
        for arm, values, count in zip(arms, arrays, counts, strict=True)
        if count > _ENOUGH * most
    ]
    if len(arms) < _SEVERAL or not held:
        return None
    pairs = _pair_all([as_array(arm.values) for _, arm in held])
    best = min(held, key=lambda one: (-one.mean, one.arm.tokens)).arm
    for margin in MARGINS if most >= FEWEST_PAIRS else ():
        behind = pairs.bounds(margin)
        good = _as_good(held, behind, margin)
        if good:
            chosen, far = min(good, key=lambda one: one[0].tokens)
            return SweetSpot(
                chosen=chosen.label,
                best=best.label,
                at_most_behind=far,
                margin=margin,
                difference=None if chosen is best else _on_questions(chosen, best),
            )
    place = [arm for _, arm in held].index(best)
    far = pairs.bounds(MARGINS[-1])[place]
    return SweetSpot(None, best.label, far, needed=_needed(pairs, held, most))


class _Held(NamedTuple):
    mean: float
    arm: Compared


def _as_good(
    held: Sequence[_Held], behind: Sequence[float], margin: float
) -> list[tuple[Compared, float]]:
    """Choose the arms that keep a margin and that none beats for as few tokens."""
    good = []
    for (mean, arm), far in zip(held, behind, strict=True):
        limit = arm.tokens * AS_CHEAP
        beaten = any(each.mean > mean and each.arm.tokens <= limit for each in held)
        if far <= margin and not beaten:
            good.append((arm, far))
    return good


@dataclass(frozen=True)
class _Pairs:
    """Every arm with every other one, on the same questions."""

    rows: tuple[tuple[Pairing | None, ...], ...]
    """One row for each arm, in their order; None beside itself, and for arms that
    have not two questions in common."""
    complete: Values
    """The scores of all arms, one row each, of the questions that all have."""

    def bounds(self, margin: float, times: float = 1.0) -> list[float]:
        """Return for each arm how far it may be below the best one, whichever that is.

        All statements hold together with `CONFIDENCE`: they need the comparisons with
        the best alone, which share the doubt. Arms that are surely worse than the
        margin are nearly never taken for good ones, and need no share; of the others,
        those that answer alike need one together. With `times` as many questions, if
        they were answered as those that were asked.

        Source:
            Hsu 1984, multiple comparisons with the best; the shares are Bonferroni's.
            Romano, Shaikh and Wolf 2014, the two steps.
        """
        doubt, others = 1 - CONFIDENCE, max(len(self.rows) - 1, 1)
        surely = doubt * _SURELY / others
        worse = [
            any(pair and pair.below(surely, times, least=True) > margin for pair in row)
            for row in self.rows
        ]
        left = doubt * (1 - _SURELY)
        bounds = []
        for place, row in enumerate(self.rows):
            share = left / self._independent(place, worse)
            far = [
                1.0 if pair is None else min(pair.below(share, times), 1.0)
                for other, pair in enumerate(row)
                if other != place
            ]
            bounds.append(max([0.0, *far]))
        return bounds

    def _independent(self, place: int, worse: Sequence[bool]) -> float:
        """Count the comparisons of an arm that each say something new.

        Source:
            Li and Ji 2005, the effective number of tests.
        """
        others = [
            number
            for number, surely in enumerate(worse)
            if number != place and not surely
        ]
        if self.complete.shape[1] < _SEVERAL:
            return max(len(others), 1)
        differences = self.complete[place] - self.complete[others]
        varied = differences[differences.std(axis=1) > 0]
        alike = float(len(varied) < len(others))
        if len(varied) < _SEVERAL:
            return max(len(varied) + alike, 1)
        values = np.linalg.eigvalsh(np.corrcoef(varied)).clip(0)
        found = float(((values >= 1) + values % 1).sum())
        return max(min(found + alike, len(others)), 1)


def _pair_all(arms: Sequence[Values]) -> _Pairs:
    """Pair each arm with every other one."""
    rows = []
    for place, arm in enumerate(arms):
        found = [
            None if other == place else pair_questions(arm, values)
            for other, values in enumerate(arms)
        ]
        rows.append(tuple(found))
    scores = np.array(arms)
    return _Pairs(tuple(rows), scores[:, ~np.isnan(scores).any(axis=0)])


def _needed(pairs: _Pairs, held: Sequence[_Held], questions: int) -> int | None:
    """Return how many questions, answered like these, would show some arm as good.

    Returns:
        In tens; None if 1,000 would not, or arms have not two questions in common.
    """
    first = max(-(-(questions + 1) // _TENS) * _TENS, FEWEST_PAIRS)
    for wanted in range(first, _MOST_NEEDED + 1, _TENS):
        behind = pairs.bounds(MARGINS[-1], wanted / questions)
        if _as_good(held, behind, MARGINS[-1]):
            return wanted
    return None


def _on_questions(first: Compared, second: Compared) -> Difference | None:
    """Compare two arms over questions on these documents, whatever they are on."""
    compared = Sampling(range(len(first.values))).compare(first.values, second.values)
    return None if compared is None else difference_of(first, second, compared)
