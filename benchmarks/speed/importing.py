"""What importing the packages takes, each time in a new interpreter."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.speed.fresh import run
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured, Times, race, ratio

_CODE = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import {package}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""
_PEERS = {
    "langchain": ("langchain_oprag", "langchain_core.retrievers"),
    "llamaindex": ("llamaindex_oprag", "llama_index.core"),
}


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group."""
    ours = _imported(["oprag"], setup.imports)["oprag"]
    # The interpreter itself is there already: what is measured is what comes on top.
    milliseconds = [1000 * taken for taken in ours.cpu]
    yield Measured("importing.core", *_spread(milliseconds))
    for framework, (package, peer) in _PEERS.items():
        times = _imported([package, peer], setup.imports)
        # How many times as long as the peer's the import takes.
        yield ratio(f"importing.{framework}", times[package], times[peer])


def _imported(packages: list[str], repeats: int) -> dict[str, Times]:
    """Import packages in turns, after one turn that fills the caches of the disk."""
    times = {package: Times([], []) for package in packages}

    def once(package: str) -> None:
        wall, cpu = map(float, run(_CODE.format(package=package)).split())
        times[package].wall.append(wall)
        times[package].cpu.append(cpu)

    race({p: lambda p=p: once(p) for p in packages}, repeats)  # type: ignore[misc]
    return {p: Times(t.wall[1:], t.cpu[1:]) for p, t in times.items()}


def _spread(values: list[float]) -> tuple[float, float, float]:
    from statistics import median

    return median(values), min(values), max(values)
