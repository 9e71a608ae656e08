"""Times functions in turns, so that a busy machine is busy for all of them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from benchmarks.speed.setup import Setup


class Times(NamedTuple):
    """What one function took, run by run."""

    wall: list[float]
    """Seconds on the clock."""
    cpu: list[float]
    """Seconds of processor time, all threads of the process together."""


class Measured(NamedTuple):
    """One row of the table."""

    key: str
    """The row, see `bounds.BOUNDS`."""
    value: float | None
    """The median; None where it could not be measured, `facts` then says why."""
    low: float | None = None
    """The lowest of all runs."""
    high: float | None = None
    """The highest."""
    facts: Mapping[str, Any] = {}
    """What stands behind it: medians in seconds, sizes, counts, points of a plot."""


def race(
    functions: Mapping[str, Callable[[], object]],
    setup: Setup,
    *,
    repeats: int | None = None,
) -> dict[str, Times]:
    """Run functions in turns, each once before for what is loaded the first time.

    Objects that are there before are frozen: none pays for collecting what the
    others, or the packages that are loaded, left behind.

    Args:
        functions: By name.
        setup: How many turns are measured, at least 1 and for how long.
        repeats: Turns, where they are others.
    """
    for function in functions.values():
        function()
    gc.collect()
    gc.freeze()
    times = {name: Times([], []) for name in functions}
    end = time.monotonic() + setup.least_seconds
    most = setup.most_turns
    least = min(setup.repeats if repeats is None else repeats, most)
    turn = 0
    while turn < least or (turn < most and time.monotonic() < end):
        turn += 1
        for name, function in functions.items():
            wall, cpu = time.perf_counter(), time.process_time()
            function()
            times[name].cpu.append(time.process_time() - cpu)
            times[name].wall.append(time.perf_counter() - wall)
    gc.unfreeze()
    return times


def ratio(
    key: str, peer: Times, ours: Times, *, threads: int = 1, two: Times | None = None
) -> Measured:
    """How many times as long as ours the peer took, turn by turn.

    Args:
        key: The row.
        peer: What the peer took.
        ours: What oprag took.
        threads: With one, processor time is compared, which a busy machine disturbs
            less and which is the same as time on the clock on an idle one. With
            more, time on the clock.
        two: What `work_for_two` took in the same turns. It says how many processors
            were free.
    """
    clock = "cpu" if threads == 1 else "wall"
    facts: dict[str, Any] = {"clock": clock}
    facts |= {"peer": medians(peer), "oprag": medians(ours)}
    if two:
        facts["free"] = median(c / w for c, w in zip(two.cpu, two.wall, strict=True))
    return _turn_by_turn(key, getattr(peer, clock), getattr(ours, clock), facts)


def as_long(key: str, ours: Times, peer: Times) -> Measured:
    """How many times as long as the peer ours took in processor time, turn by turn."""
    facts = {"clock": "cpu", "peer": medians(peer), "oprag": medians(ours)}
    return _turn_by_turn(key, ours.cpu, peer.cpu, facts)


def seconds(key: str, times: Times, *, scale: float = 1.0) -> Measured:
    """The processor time of one function, times a scale (1,000 for milliseconds)."""
    scaled = [scale * taken for taken in times.cpu]
    return Measured(key, median(scaled), min(scaled), max(scaled), medians(times))


def share(key: str, ours: Times, whole: Times) -> Measured:
    """Per cent that ours takes of something else, by the clock, turn by turn.

    By the clock because Chroma has threads of its own.
    """
    facts = {"whole": medians(whole), "oprag": medians(ours)}
    return _turn_by_turn(key, [100 * taken for taken in ours.wall], whole.wall, facts)


def throughput(key: str, times: Times, amount: float) -> Measured:
    """An amount (megabytes) by the processor time of one function."""
    rates = [amount / taken for taken in times.cpu]
    return Measured(key, median(rates), min(rates), max(rates), medians(times))


def medians(times: Times) -> dict[str, float]:
    """The medians in seconds, by clock."""
    return {"wall": median(times.wall), "cpu": median(times.cpu)}


def _turn_by_turn(
    key: str, above: Sequence[float], below: Sequence[float], facts: Mapping[str, Any]
) -> Measured:
    """One column divided by the other: the median, the lowest and the highest."""
    ratios = [a / b for a, b in zip(above, below, strict=True)]
    return Measured(key, median(ratios), min(ratios), max(ratios), facts)
