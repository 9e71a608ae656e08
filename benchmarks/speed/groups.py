"""Groups of rows, each measured in an interpreter of its own.

So that nothing pays for what another group has loaded, and threads can be set.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured

GROUPS = (
    "windows",
    "huggingface",
    "sentences",
    "locating",
    "langchain",
    "llamaindex",
    "files",
    "neighbours",
    "rebuilding",
    "widening",
    "importing",
    "memory",
)
"""Modules with a function `measure`, in the order of the table."""

_ROOT = Path(__file__).resolve().parents[2]
_THREADS = "2"


def measure(group: str, setup: Setup) -> Iterator[Measured]:
    """Measure one group; give its rows as they are done.

    Raises:
        RuntimeError: The group failed; what it said stands on stderr.
    """
    child = subprocess.Popen(  # noqa: S603 -- this interpreter, our own module
        [sys.executable, "-m", __name__, group],
        cwd=_ROOT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "RAYON_NUM_THREADS": _THREADS},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with child:
        assert child.stdin
        assert child.stdout
        json.dump(setup, child.stdin)
        child.stdin.close()
        for line in child.stdout:
            yield Measured(*json.loads(line))
    if child.returncode:
        message = f"The group {group!r} failed with status {child.returncode}."
        raise RuntimeError(message)


def _main() -> None:
    """Measure the group that is named, with the setup on stdin."""
    # What is printed by others must not stand among the rows; warnings say nothing new.
    rows = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    logging.disable(logging.WARNING)
    module = importlib.import_module(f"benchmarks.speed.{sys.argv[1]}")
    for row in module.measure(Setup(*json.load(sys.stdin))):
        print(json.dumps(row), file=rows, flush=True)


if __name__ == "__main__":
    _main()
