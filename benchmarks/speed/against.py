"""Today's code beside another checkout's: two interpreters that take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

from benchmarks.speed.setup import Setup

GROUPS = {
    "windows": ("chunks", "documents"),
    "huggingface": ("chunks", "documents"),
    "sentences": ("chunks",),
    "locating": ("exact", "whitespace", "short"),
    "langchain": ("passed", "merged", "uncounted"),
    "llamaindex": ("passed", "merged", "shown"),
    "neighbours": ("memory", "docstore"),
    "rebuilding": ("overlap",),
    "widening": ("fill",),
    "importing": ("oprag", "langchain_oprag", "llamaindex_oprag"),
}
"""Groups whose module has a function `ours`, and its rows."""

_ROOT = Path(__file__).resolve().parents[2]
_WORKER = Path(__file__).with_name("_turns.py")
_ROUNDS = 3
"""Pairs of interpreters: where in memory one puts things makes some per cent."""
_TOLERATED = 1.05
"""Of code that is the same, three quarters of the turns differ by less than this."""


class Compared(NamedTuple):
    """How many times as long as the other checkout today's code takes."""

    key: str
    value: float
    """The median of all turns."""
    low: float
    """A quarter of the turns is below."""
    high: float
    """A quarter of the turns is above."""
    turns: int

    @property
    def slower(self) -> bool:
        """Whether three quarters of the turns were slower, by more than chance."""
        return self.low > _TOLERATED

    def __str__(self) -> str:
        spread = f"{self.low:.2f} – {self.high:.2f}"
        word = "SLOWER" if self.slower else ""
        line = f"{self.key:28} {self.value:5.2f} × as long  ({spread}, "
        return f"{line}{self.turns} turns) {word}".rstrip()


def compare(
    group: str, other: Path, setup: Setup, *, today: Path = _ROOT
) -> Iterator[Compared]:
    """Measure one group in both checkouts and return its rows.

    Both run the rows of today's benchmarks on the same text. They differ in what
    `oprag`, `langchain_oprag` and `llamaindex_oprag` are.

    Args:
        group: One of `GROUPS`.
        other: The root of a checkout.
        setup: The text, and how long a row is measured.
        today: The root of the checkout that is compared with it.

    Raises:
        RuntimeError: A row failed in one of them; what it said stands on stderr.
    """
    ratios: dict[str, list[float]] = {row: [] for row in GROUPS[group]}
    for _ in range(_ROUNDS):
        with (
            _interpreter(today, group, setup) as mine,
            _interpreter(other, group, setup) as theirs,
        ):
            for row, found in ratios.items():
                found.extend(_ratios(row, mine, theirs, setup))
    for row, found in ratios.items():
        low, middle, high = quantiles(found, n=4, method="inclusive")
        yield Compared(f"{group}.{row}", middle, low, high, len(found))


def _ratios(
    row: str, mine: _Interpreter, theirs: _Interpreter, setup: Setup
) -> Iterator[float]:
    # What is loaded the first time; and how often a turn repeats what is short.
    repeats = min(side.prepare(row) for side in (mine, theirs))
    end = time.monotonic() + setup.least_seconds / _ROUNDS
    turn = 0
    while turn < setup.repeats or time.monotonic() < end:
        turn += 1
        # Who runs second finds the machine as the first one left it: so by turns.
        order = (mine, theirs) if turn % 2 else (theirs, mine)
        taken = {side: side.run(row, repeats) for side in order}
        yield taken[mine] / taken[theirs]


class _Interpreter:
    """An interpreter that runs the rows of a group with the code of a checkout."""

    def __init__(self, child: subprocess.Popen[str], checkout: Path) -> None:
        self._child = child
        self._checkout = checkout

    def prepare(self, row: str) -> int:
        """Run a row for the first time; return how often it fits a turn."""
        return int(self.ask(["prepare", row]))

    def run(self, row: str, repeats: int) -> float:
        """Run a row so many times; return the seconds of processor time."""
        return float(self.ask(["run", row, repeats]))

    def ask(self, request: list[Any]) -> Any:
        """Send one request and wait for its answer."""
        assert self._child.stdin
        assert self._child.stdout
        print(json.dumps(request), file=self._child.stdin, flush=True)
        line = self._child.stdout.readline()
        if not line:
            message = f"The code of {self._checkout} failed; see above."
            raise RuntimeError(message)
        return json.loads(line)


@contextmanager
def _interpreter(checkout: Path, group: str, setup: Setup) -> Iterator[_Interpreter]:
    checkout = checkout.resolve()
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"}
    # Compiled files are kept, as those of installed packages are.
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH"):
        environment.pop(name, None)
    with subprocess.Popen(  # noqa: S603 -- this interpreter, our own code
        [sys.executable, str(_WORKER), str(checkout), group],
        cwd=checkout,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as child:
        interpreter = _Interpreter(child, checkout)
        interpreter.ask(list(setup))
        yield interpreter
