"""How far each of several arms may be below the best of them, whichever that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from oprag_eval.statistics import Sampling, Spread, Values

_SURELY = 0.1
"""Of the doubt that is left, what goes into saying which arms are surely worse."""
_MOST_TIMES = 40.0
"""As a power of two; more questions than that are without end."""
_HALVINGS = 40
_DIAGONAL = 1 + 1e-9
"""So that arms that are alike have a Cholesky factor."""


class Behind(NamedTuple):
    """How far an arm may be below the best of several."""

    most: float
    """At most so much, with the confidence that was asked for; 0 or more."""
    times: float
    """So many times the questions would show that it is within the margin, if all
    means stay as they are; at most 1 where this is shown, infinite where it is not
    within the margin."""


def behind(
    sampling: Sampling,
    arms: Sequence[Sequence[float | None]],
    *,
    margin: float,
    confidence: float,
    draws: int = 2000,
    seed: int = 42,
) -> list[Behind]:
    """Say of each arm how far it may be below the best of them.

    All statements hold together with the confidence, whichever arm is the best.

    Args:
        sampling: Of the questions.
        arms: The values of each, as in `Sampling.estimate`.
        margin: What counts as no worse.
        confidence: Between 0 and 1.
        draws: How often chance is drawn.
        seed: Of the draws.

    Returns:
        One for each arm.

    Source:
        Hsu 1984, multiple comparisons with the best. Romano, Shaikh and Wolf 2014, the
        two steps: first what is nearly surely worse, then the rest. The correlation of
        arms is that of their differences between documents.
    """
    found = [Behind(0.0, 0.0)] * len(arms)
    for best in range(len(arms)):
        others = [place for place in range(len(arms)) if place != best]
        spreads = [sampling.spread(arms[place], arms[best]) for place in others]
        known = [s for s in spreads if s is not None and s.freedom]
        generator = np.random.default_rng(seed)
        normal = generator.standard_normal((draws, len(known)))
        factors = _factors(known, normal, generator, margin, confidence)
        for place, spread in zip(others, spreads, strict=True):
            one = _behind(spread, factors, margin)
            found[place] = Behind(*map(max, found[place], one))
    return found


def _factors(
    spreads: Sequence[Spread],
    normal: Values,
    generator: np.random.Generator,
    margin: float,
    confidence: float,
) -> tuple[float, float]:
    """So many standard errors bound all differences together, now and in the end.

    In the end: with documents without number, and the same correlation. An arm that is
    nearly surely worse by more than the margin will not be taken for a good one, so it
    hardly counts; never fewer than for a single arm.
    """
    if not spreads:
        return 0.0, 0.0
    parts = np.stack([spread.parts for spread in spreads])
    correlation = parts @ parts.T
    np.fill_diagonal(correlation, _DIAGONAL)
    freedom = min(spread.freedom for spread in spreads)
    scale = np.sqrt(generator.chisquare(freedom, len(normal)) / freedom)
    in_the_end = normal @ np.linalg.cholesky(correlation).T
    together = in_the_end / scale[:, np.newaxis]
    unlikely = (1 - confidence) * _SURELY
    reach = np.quantile(together.max(axis=1), 1 - unlikely)
    above = [reach + (spread.centre + margin) / spread.error for spread in spreads]
    counted, level = np.minimum(above, 0.0), confidence + unlikely

    def bound(values: Values) -> float:
        single = np.quantile(values[:, 0], level)
        return float(max(np.quantile((values + counted).max(axis=1), level), single))

    now = bound(together)
    return now, min(bound(in_the_end), now)


def _behind(
    spread: Spread | None, factors: tuple[float, float], margin: float
) -> Behind:
    """How far the first of a pair may be below the second."""
    if spread is None or not spread.freedom:
        return Behind(1.0, math.inf)
    most = min(max(factors[0] * spread.error - spread.centre, 0.0), 1.0)
    return Behind(most, _times(spread, factors, margin))


def _times(spread: Spread, factors: tuple[float, float], margin: float) -> float:
    """So many times the questions bring the bound within the margin."""
    room = spread.centre + margin
    now, in_the_end = factors
    varies = float(spread.parts @ spread.parts)

    def reach(times: float) -> float:
        factor = in_the_end + (now - in_the_end) / times
        return factor * spread.error * math.sqrt(max(varies / times, times**-2))

    low, high = 0.0, _MOST_TIMES  # powers of two
    if room <= 0 or reach(2**high) > room:
        return math.inf
    if reach(1.0) <= room:
        return 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if reach(2**middle) > room else (low, middle)
    return float(2**high)
