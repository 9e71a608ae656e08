"""How the time for some work grows with its size, on a machine of any speed."""

import time
from collections.abc import Callable

LINEAR = 9.0
"""Less than this is no square: four times the work takes 4 times as long, or 16."""


def time_growth(make_work: Callable[[int], Callable[[], object]], size: int) -> float:
    """Measure how many times as long something takes for four times as much.

    Args:
        make_work: Makes the work for a size; what it does itself is not measured.
        size: The larger size.

    Returns:
        Processor time for `size` over that for a quarter of it, the least of three
        each, in turns.
    """
    less, all_ = [], []
    for _ in range(3):
        less.append(_seconds(make_work(size // 4)))
        all_.append(_seconds(make_work(size)))
    return min(all_) / min(less)


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
