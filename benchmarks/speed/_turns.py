"""One side of a comparison: runs rows of today's benchmarks with a checkout's code.

A script, so that nothing of the project is imported before it is said from where.
"""

from __future__ import annotations

import gc
import importlib
import json
import logging
import math
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TODAY = Path(__file__).resolve().parents[2]
_PACKAGES = ("oprag", "langchain_oprag", "llamaindex_oprag")
_TURN = 0.05
"""Seconds that a turn takes at least; what is shorter is repeated."""


def _functions(checkout: Path, group: str, setup: list[Any]) -> dict[str, Callable]:
    """Import the rows from here and what they measure from the checkout."""
    # The folder of this script goes: it holds a file `langchain.py`.
    sys.path[0] = str(_TODAY)
    given = importlib.import_module("benchmarks.speed.setup").Setup(*setup)
    sys.path[0] = str(checkout)
    functions = importlib.import_module(f"benchmarks.speed.{group}").ours(given)
    for package in _PACKAGES:
        if package in sys.modules:
            found = Path(str(sys.modules[package].__file__)).resolve()
            assert found.is_relative_to(checkout), (found, checkout)
    return dict(functions)


def _seconds(function: Callable[[], object], repeats: int) -> float:
    """Return the processor time of so many calls, children's included."""
    gc.collect()
    gc.freeze()
    start = _processor_time()
    for _ in range(repeats):
        function()
    taken = _processor_time() - start
    gc.unfreeze()
    return taken


def _processor_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    """Answer the requests on stdin, one JSON value in a line."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    _, checkout, group = sys.argv
    functions = _functions(Path(checkout), group, json.loads(sys.stdin.readline()))
    print("true", file=answers, flush=True)
    for line in sys.stdin:
        kind, row, *repeats = json.loads(line)
        answer: float = _seconds(functions[row], *(repeats or [1]))
        if kind == "prepare":
            # Once more: the first run loads what the others find.
            answer = math.ceil(_TURN / max(_seconds(functions[row], 1), 1e-6))
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
