"""The results as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.recall.arms import BUDGETS
from benchmarks.recall.measuring import Kept


class Row(NamedTuple):
    """One arm on one set; per cent for each budget."""

    set: str
    arm: str
    questions: int
    full: tuple[float, ...]
    characters: tuple[float, ...]

    @classmethod
    def of(cls, name: str, arm: str, kept: Sequence[Sequence[Kept]]) -> Row:
        """Average over the questions."""
        columns = list(zip(*kept, strict=True))
        full = [100 * sum(f for f, _ in column) / len(kept) for column in columns]
        shares = [100 * sum(s for _, s in column) / len(kept) for column in columns]
        return cls(
            name,
            arm,
            len(kept),
            tuple(round(value, 1) for value in full),
            tuple(round(value, 1) for value in shares),
        )


def as_markdown(rows: Sequence[Row]) -> str:
    """All rows, set by set, with both measures."""
    lines = ["# Evidence in the context at equal tokens", ""]
    lines += ["Made by `make bench-recall`; `README.md` says what is measured.", ""]
    for name in dict.fromkeys(row.set for row in rows):
        of_set = [row for row in rows if row.set == name]
        lines += [f"## {name}: {of_set[0].questions} questions", ""]
        for title, field in (
            ("Questions whose evidence is wholly in the context, %", "full"),
            ("Characters of the evidence in the context, %", "characters"),
        ):
            head = " | ".join(f"{budget:,}" for budget in BUDGETS)
            lines += [f"{title}:", "", f"| arm | {head} |"]
            lines.append("|---|" + "---|" * len(BUDGETS))
            for row in of_set:
                cells = " | ".join(f"{value:.1f}" for value in getattr(row, field))
                lines.append(f"| {row.arm} | {cells} |")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"
