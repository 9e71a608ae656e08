"""What importing the packages takes, each time in a new interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.speed.fresh import run
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured, Times, as_long, race, seconds

_CODE = """
import time
wall, cpu = time.perf_counter(), time.process_time()
{statement}
print(time.perf_counter() - wall, time.process_time() - cpu, time.process_time())
"""
_PEERS = {
    "langchain": ("langchain_oprag", "langchain_core.retrievers"),
    "llamaindex": ("llamaindex_oprag", "llama_index.core"),
}


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group."""
    # The core needs nothing but the standard library: without `site`, which takes
    # longer the more is installed.
    whole, on_top = _run(["pass", "import oprag"], setup, site=False)
    yield as_long("importing.core", whole["import oprag"], whole["pass"])
    yield seconds("importing.core.time", on_top["import oprag"], scale=1000)
    for framework, packages in _PEERS.items():
        statements = [f"import {package}" for package in packages]
        _, times = _run(statements, setup)
        yield as_long(f"importing.{framework}", *(times[each] for each in statements))


def _run(
    statements: list[str], setup: Setup, *, site: bool = True
) -> tuple[dict[str, Times], dict[str, Times]]:
    """Run statements in turns, after one turn that fills the caches of the disk.

    Returns:
        What the interpreters took, and what the statements took in them.
    """
    whole = {statement: Times([], []) for statement in statements}
    alone = {statement: Times([], []) for statement in statements}

    def once(statement: str) -> None:
        printed = run(_CODE.format(statement=statement), site=site)
        wall, cpu, all_cpu = map(float, printed.split())
        alone[statement].wall.append(wall)
        alone[statement].cpu.append(cpu)
        # When it was started an interpreter does not know, but what it took so far.
        whole[statement].wall.append(all_cpu)
        whole[statement].cpu.append(all_cpu)

    race({s: lambda s=s: once(s) for s in statements}, setup, repeats=setup.imports)  # type: ignore[misc]
    for times in (*whole.values(), *alone.values()):
        del times.wall[0], times.cpu[0]
    return whole, alone


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another: what lies in this folder."""
    del setup  # no text is needed
    here = Path.cwd()
    packages = ("oprag", "langchain_oprag", "llamaindex_oprag")
    return {
        package: lambda p=package: run(f"import {p}", folder=here)  # type: ignore[misc]
        for package in packages
    }
