"""The results as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.recall.arms import BUDGETS, Arm
from benchmarks.recall.choosing import interval
from benchmarks.recall.measuring import Kept


class Row(NamedTuple):
    """One arm on one set; per cent for each budget."""

    set: str
    arm: str
    questions: int
    full: tuple[float, ...]
    """Questions whose evidence is wholly in the context."""
    characters: tuple[float, ...]
    """Characters of the evidence that are."""
    filled: tuple[float, ...]
    """Of the budget, by all questions but each twentieth."""

    @classmethod
    def of(cls, name: str, arm: str, kept: Sequence[Sequence[Kept]]) -> Row:
        """Average over the questions."""
        found = np.array(kept, float)  # questions, budgets, measures
        full, characters, _ = (100 * found.mean(0)).T
        filled = 100 * np.percentile(found[..., 2], 5, axis=0)
        columns = (tuple(map(float, c.round(1))) for c in (full, characters, filled))
        return cls(name, arm, len(kept), *columns)


class Difference(NamedTuple):
    """One arm less another on one set, in points for each budget."""

    set: str
    arm: str
    less: str
    points: tuple[tuple[float, float, float], ...]
    """The difference, and from where to where 95 % of the means lie if documents
    are drawn anew."""

    @classmethod
    def of(
        cls,
        name: str,
        arms: tuple[str, str],
        kept: tuple[Sequence[Sequence[Kept]], Sequence[Sequence[Kept]]],
        documents: Sequence[str],
    ) -> Difference:
        """Compare two arms question by question."""
        ours, theirs = (np.array(each, float)[..., 0] for each in kept)
        columns = (100 * (ours - theirs)).T
        points = [(float(c.mean()), *interval(c, documents)) for c in columns]
        rounded = tuple((round(a, 1), round(b, 1), round(c, 1)) for a, b, c in points)
        return cls(name, *arms, rounded)


def differences(
    name: str,
    measured: Sequence[tuple[Arm, Sequence[Sequence[Kept]]]],
    documents: Sequence[str],
) -> list[Difference]:
    """All that the arms are to be compared with."""
    by_name = {arm.name: kept for arm, kept in measured}
    return [
        Difference.of(name, (arm.name, other), (kept, by_name[other]), documents)
        for arm, kept in measured
        for other in arm.against
        if other in by_name
    ]


def as_markdown(rows: Sequence[Row], compared: Sequence[Difference] = ()) -> str:
    """All rows in one table, and what is compared in another."""
    head = " | ".join(f"{budget:,}" for budget in BUDGETS)
    line = "|---" * (len(BUDGETS) + 2) + "|---|"
    lines = ["# Evidence in the context at equal tokens", ""]
    lines += ["Made by `make bench-recall`; `README.md` says what is measured.", ""]
    lines += ["Questions whose evidence is wholly in the context, %:", ""]
    lines += [f"| set (questions) | arm | {head} | mean misses |", line]
    for row in _with_means(rows):
        cells = " | ".join(f"{value:.1f}" for value in row.full)
        asked = f" ({row.questions})" if row.questions else ""
        missed = 100 - sum(row.full) / len(row.full)
        lines.append(f"| {row.set}{asked} | {row.arm} | {cells} | {missed:.1f} |")
    lines += ["", "Of the budget that is filled, %, by all questions but a twentieth:"]
    lines += ["", f"| set | arm | {head} |", line[4:]]
    for row in rows:
        cells = " | ".join(f"{value:.1f}" for value in row.filled)
        lines.append(f"| {row.set} | {row.arm} | {cells} |")
    lines += ["", "Points that an arm is above another, and the 95 % interval if"]
    lines += ["documents are drawn anew (paired by question):", ""]
    lines += [f"| set | arm | less | {head} |", line]
    for each in compared:
        cells = " | ".join(f"{d:+.1f} ({a:+.1f} … {b:+.1f})" for d, a, b in each.points)
        lines.append(f"| {each.set} | {each.arm} | {each.less} | {cells} |")
    return "\n".join(lines).rstrip() + "\n"


def _with_means(rows: Sequence[Row]) -> list[Row]:
    """The rows, and for each arm one over all sets, each of which counts as much."""
    means = []
    for arm in dict.fromkeys(row.arm for row in rows):
        of_arm = [row for row in rows if row.arm == arm]
        full, characters, filled = (
            tuple(map(float, np.mean([row[n] for row in of_arm], 0))) for n in (3, 4, 5)
        )
        means.append(Row("mean of the sets", arm, 0, full, characters, filled))
    return [*rows, *means]
