"""How time grows with size."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from statistics import linear_regression


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the power of the size that the time grows with: 1 linear, 2 quadratic.

    The slope of the line of least squares through the points, both logarithmic.

    Args:
        points: Sizes and times, at least two of different sizes, all above 0.
    """
    sizes, times = zip(*points, strict=True)
    line = linear_regression([log(size) for size in sizes], [log(t) for t in times])
    return line.slope
