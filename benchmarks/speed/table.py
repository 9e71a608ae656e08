"""The results as a table, and what was reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.speed.bounds import BOUNDS, Bound
from benchmarks.speed.timing import Measured

_WORDS = {True: "yes", False: "**no**", None: ""}


def as_markdown(rows: Sequence[Measured], made_with: Mapping[str, Any]) -> str:
    """All rows in the order of the bounds, with what they were measured with."""
    measured = {row.key: row for row in rows}
    lines = ["# Speed beside the frameworks' own", ""]
    lines += ["Made by `make bench`; `README.md` says what is measured.", ""]
    lines += [
        "| work | against | threads | median | lowest–highest | bound | reached |"
    ]
    lines.append("|---|---|--:|--:|--:|--:|---|")
    for bound in BOUNDS:
        if bound.key in measured:
            lines.append(_line(bound, measured[bound.key]))
    lines += ["", "![growth over size](growth.svg)", ""]
    lines += [f"- {name}: {value}" for name, value in made_with.items()]
    return "\n".join(lines) + "\n"


def checks(rows: Sequence[Measured]) -> list[tuple[Bound, Measured | None, bool]]:
    """For every row with a bound whether it was reached; not measured: not reached."""
    measured = {row.key: row for row in rows}
    found = []
    for bound in BOUNDS:
        if bound.limit is not None:
            row = measured.get(bound.key)
            reached = bool(bound.reached(row.value if row else None))
            found.append((bound, row, reached))
    return found


def shown(bound: Bound, value: float | None) -> str:
    """A value with its unit: `12.3 ×`, `450 MB/s`."""
    if value is None:
        return "–"
    digits = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004
    return digits if bound.unit == "slope" else f"{digits} {bound.unit}"


def _line(bound: Bound, row: Measured) -> str:
    spread = ""
    if row.low is not None and row.high is not None:
        spread = f"{shown(bound, row.low)} – {shown(bound, row.high)}"
    limit = ""
    if bound.limit is not None:
        limit = f"{'≥' if bound.at_least else '≤'} {shown(bound, bound.limit)}"
    reached = _WORDS[bound.reached(row.value)]
    cells = (bound.work, bound.against, bound.threads, shown(bound, row.value), spread)
    return f"| {' | '.join(map(str, cells))} | {limit} | {reached} |"
