"""`python -m benchmarks.speed`: measure, write the table, compare with the bounds."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.speed.against import GROUPS as COMPARED
from benchmarks.speed.against import compare
from benchmarks.speed.bounds import BOUNDS
from benchmarks.speed.groups import GROUPS, measure
from benchmarks.speed.machine import machine, versions
from benchmarks.speed.plot import plot_growth
from benchmarks.speed.setup import FULL, SMALL, Setup
from benchmarks.speed.table import as_markdown, checks, shown
from benchmarks.speed.texts import default_text, read_text
from benchmarks.speed.timing import Measured

_HERE = Path(__file__).resolve().parents[1]
_BOUNDS = {bound.key: bound for bound in BOUNDS}
_VERDICT = {True: "reached", False: "NOT    ", None: "(busy) "}
_SMALLEST, _SIZE = 60_000, 1_500_000
"""Characters of the text of the shortest run, and of the usual one: minutes."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed")
    parser.add_argument("--text", type=Path, help="a text file, or a folder of them")
    parser.add_argument("--out", type=Path, help="folder for what is measured")
    parser.add_argument("--full", action="store_true", help="all texts, up to 100 MB")
    parser.add_argument("--small", action="store_true", help="see that every row runs")
    parser.add_argument("--check", action="store_true", help="fail below a bound")
    parser.add_argument("--against", type=Path, help="compare with another checkout")
    parser.add_argument("--groups", nargs="*", choices=GROUPS, default=GROUPS)
    given = parser.parse_args()
    if given.text:
        text = read_text(given.text)
    else:
        size = _SMALLEST if given.small else _SIZE
        text = default_text(None if given.full else size)
    how = FULL if given.full else SMALL if given.small else {}
    setup = Setup(text, **how)
    if given.against:
        sys.exit(_against(given.against, given.groups, setup))
    made_with = {**machine(), "characters": len(text), **versions()}
    rows = _measured(given.groups, setup)
    if given.small:
        sys.exit(_missing(rows, given.groups))
    out = given.out or (_HERE / "full" if given.full else _HERE)
    _write(rows, made_with, out)
    if given.check:
        missed = _compare(rows, given.groups)
        print(f"{missed or 'No'} bounds are missed. The table: {out / 'speed.md'}")
        sys.exit(1 if missed else 0)


def _against(other: Path, groups: list[str], setup: Setup) -> int:
    """Print how long today's code takes beside the other's; 1 where it is slower."""
    worse = 0
    for group in COMPARED:
        if group in groups:
            try:
                for row in compare(group, other, setup):
                    print(row, flush=True)
                    worse += row.slower
            except RuntimeError as error:  # the others are compared all the same
                print(f"{group}: {error}", flush=True)
                worse += 1
    return 1 if worse else 0


def _measured(groups: list[str], setup: Setup) -> list[Measured]:
    rows = []
    for group in groups:
        start = time.monotonic()
        try:
            for row in measure(group, setup):
                bound = _BOUNDS[row.key]
                print(f"{row.key:34} {shown(bound, row.value)}", flush=True)
                rows.append(row)
        except RuntimeError as error:  # the others are measured all the same
            print(error, flush=True)
        print(f"({group}: {time.monotonic() - start:.0f} s)", flush=True)
    return rows


def _missing(rows: list[Measured], groups: list[str]) -> int:
    """Say which rows were not measured; 1 where there are any."""
    measured = {row.key for row in rows}
    missing = [
        bound.key
        for bound in BOUNDS
        if bound.key.partition(".")[0] in groups and bound.key not in measured
    ]
    for key in missing:
        print(f"not measured: {key}", flush=True)
    return 1 if missing else 0


def _write(rows: list[Measured], made_with: Mapping[str, object], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "speed.md").write_text(as_markdown(rows, made_with), "utf-8")
    found = {"made_with": made_with, "rows": [row._asdict() for row in rows]}
    (out / "speed.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    plot_growth(rows, out / "growth.svg")


def _compare(rows: list[Measured], groups: list[str]) -> int:
    """Say of each row whether it reached its bound; return how many did not."""
    missed = 0
    for bound, row, reached in checks(rows):
        if bound.key.partition(".")[0] in groups:
            missed += reached is False
            sign = "≥" if bound.at_least else "≤"
            found = shown(bound, row.value if row else None)
            print(
                f"{_VERDICT[reached]}  {bound.key:34} {found:>12}"
                f"  ({sign} {shown(bound, bound.limit)})"
            )
    return missed


if __name__ == "__main__":
    main()
