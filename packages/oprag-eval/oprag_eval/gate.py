"""A gate for CI: whether a run is under a bound, or worse than an earlier run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np

from oprag.errors import invalid_option
from oprag.files import unreadable
from oprag_eval.reports.summary import Summary, arm_label
from oprag_eval.reports.tables import HELD, heading_of, number_of
from oprag_eval.rows import ROWS, Row
from oprag_eval.running.run_directory import read_lines
from oprag_eval.statistics import FEWEST_PAIRS, Sampling, adjusted

DOUBT = 0.05
"""Share of runs without a regression that a comparison may call worse."""
_POWER = 0.8
_STEP = 0.005
_FLIPS = 20_000
_DIGITS = 9
_Asked: TypeAlias = tuple[str, str]
_Arm: TypeAlias = tuple[str, int | None]


@dataclass(frozen=True)
class Change:
    """One system at one budget, in this run and in an earlier one."""

    arm: str
    questions: int
    """Questions that both runs asked."""
    before: float
    after: float
    low: float | None
    """Lower end of the 95 % interval of the difference, over questions on these
    documents; None with too few questions."""
    high: float | None
    worse: int
    better: int
    p: float
    """Chance of such a drop if there is none, corrected for the number of arms."""
    seen_from: float | None
    """The smallest drop that would be called worse in four of five runs; None if no
    drop would."""

    @property
    def red(self) -> bool:
        """Whether it is worse, and no accident."""
        return self.p <= DOUBT


@dataclass(frozen=True)
class Under:
    """A score that is under its bound."""

    arm: str
    measure: str
    bound: float
    score: float


def measure_named(name: str, summary: Summary) -> str:
    """Return the measure that a name means; `recall` is that of the passages."""
    known = {measure for arm in summary.arms for measure in arm.measures}
    wanted = name
    if name == "recall":
        wanted = next((each for each in HELD if each in known), name)
    if wanted not in known:
        takes = f"This run has {', '.join(sorted(known))}."
        raise invalid_option("--fail-under", name, takes)
    return wanted


def find_under(summary: Summary, bounds: Mapping[str, float]) -> list[Under]:
    """Find the scores of all arms that are under their bounds; from 0 to 1."""
    found = []
    for name, bound in bounds.items():
        measure = measure_named(name, summary)
        for arm in summary.arms:
            figure = arm.measures.get(measure)
            score = 0.0 if figure is None else figure.mean
            if score < bound:
                found.append(Under(arm.label, measure, bound, score))
    return found


def read_rows(run: Path) -> list[Row]:
    """Read the rows of an earlier run."""
    path = run / ROWS
    if not path.exists():
        raise unreadable(path, "is not there: `oprag sweep` writes it with each run")
    return read_lines(path)


def compare_runs(
    before: Sequence[Row], after: Sequence[Row], measure: str
) -> list[Change]:
    """Compare the arms that two runs share, on the questions that both asked.

    Questions are the same by their words and their document, whatever their number. A
    drop is called worse by a one-sided test of the questions that changed: exact if
    each is right or wrong, else by 20,000 random signs (seed 42). The p are corrected
    for the number of arms (Holm), so that all arms together are called worse without a
    regression in at most 5 % of runs.

    Raises:
        InvalidOptionError: They share no arm with a question that has the measure.
    """
    was, now = _by_arm(before, measure), _by_arm(after, measure)
    shared = [arm for arm in now if was.get(arm, {}).keys() & now[arm].keys()]
    if not shared:
        had = ", ".join(arm_label(*arm) for arm in was) or "no such score"
        takes = f"It has {had}: no system, budget, question and measure of this run."
        raise invalid_option("--compare", measure, takes)
    drawn = []
    for arm in shared:
        asked = [each for each in now[arm] if each in was[arm]]
        drawn.append([(was[arm][each], now[arm][each]) for each in asked])
    chances = adjusted([drop_chance([b - a for b, a in pairs]) for pairs in drawn])
    return [
        _change(arm_label(*arm), pairs, p, len(shared))
        for arm, pairs, p in zip(shared, drawn, chances, strict=True)
    ]


def _by_arm(rows: Iterable[Row], measure: str) -> dict[_Arm, dict[_Asked, float]]:
    """Group the scores of rows, the mean over their runs."""
    found: dict[_Arm, dict[_Asked, list[float]]] = {}
    for row in rows:
        if row.get(measure) is not None:
            arm, asked = (row["system"], row["budget"]), _asked(row)
            found.setdefault(arm, {}).setdefault(asked, []).append(row[measure])
    return {
        arm: {asked: fmean(values) for asked, values in scores.items()}
        for arm, scores in found.items()
    }


def _asked(row: Row) -> _Asked:
    return row["user_input"], row["document"] or ""


def _change(
    arm: str, pairs: Sequence[tuple[float, float]], p: float, arms: int
) -> Change:
    before, after = ([*each] for each in zip(*pairs, strict=True))
    compared = Sampling(range(len(pairs))).compare(after, before)
    wide = compared is None or len(pairs) < FEWEST_PAIRS
    differ = 0 if compared is None else compared.better + compared.worse
    return Change(
        arm=arm,
        questions=len(pairs),
        before=fmean(before),
        after=fmean(after),
        low=None if compared is None or wide else compared.low,
        high=None if compared is None or wide else compared.high,
        worse=0 if compared is None else compared.worse,
        better=0 if compared is None else compared.better,
        p=p,
        seen_from=smallest_seen(len(pairs), differ / len(pairs), DOUBT / arms),
    )


def drop_chance(drops: Sequence[float]) -> float:
    """Return the chance of such a drop, or a larger one, if there is none.

    Source:
        McNemar 1947, in its exact form; Pitman 1937, random signs.
    """
    changed = np.round(np.array([drop for drop in drops if drop]), _DIGITS)
    changed = changed[changed != 0]
    if not len(changed):
        return 1.0
    if len(set(np.abs(changed).tolist())) == 1:
        return _tail(len(changed), int((changed > 0).sum()), 0.5)
    signs = np.random.default_rng(42).integers(0, 2, (_FLIPS, len(changed))) * 2 - 1
    as_large = signs @ changed >= changed.sum() - 10**-_DIGITS
    return float(1 + as_large.sum()) / (1 + _FLIPS)


def _tail(trials: int, least: int, chance: float) -> float:
    from scipy import stats

    return float(stats.binom.sf(least - 1, trials, chance))


def smallest_seen(questions: int, differ: float, doubt: float) -> float | None:
    """Return the smallest drop that would be called worse in four of five runs.

    Args:
        questions: Questions that both runs ask.
        differ: Share of them that change, as seen; a larger drop changes more.
        doubt: Share of runs without a drop that may be called worse.

    Returns:
        In steps of half a point; None if no drop is large enough.
    """
    for step in range(1, int(1 / _STEP) + 1):
        drop = step * _STEP
        if power_of(questions, drop, max(differ, drop), doubt) >= _POWER:
            return round(drop, _DIGITS)
    return None


def power_of(questions: int, drop: float, differ: float, doubt: float) -> float:
    """Return the chance that a drop is called worse.

    Args:
        questions: Questions that both runs ask.
        drop: The true drop, from 0 to 1.
        differ: Share of the questions that change, at least the drop.
        doubt: Share of runs without a drop that may be called worse.
    """
    from scipy import stats

    changed = np.arange(questions + 1)
    # The fewest of the changed that have to be worse: the tail is at most the doubt.
    least = stats.binom.isf(doubt, changed, 0.5) + 1
    called = stats.binom.sf(least - 1, changed, (1 + drop / differ) / 2)
    return float(stats.binom.pmf(changed, questions, differ) @ called)


@dataclass(frozen=True)
class Verdict:
    """The verdict of a gate on a run."""

    under: tuple[Under, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def red(self) -> bool:
        """Whether the build has to fail."""
        return bool(self.under) or any(change.red for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        changes = [{**asdict(each), "red": each.red} for each in self.changes]
        return {
            "red": self.red,
            "under": [asdict(each) for each in self.under],
            "changes": changes,
        }

    def lines(self, summary: Summary, run: Path | None) -> Iterator[str]:
        """Tell it in sentences."""
        for each in self.under:
            yield (
                f"Red: {each.arm} has {heading_of(each.measure, summary)} "
                f"{each.score:.4f}, under {each.bound:g}."
            )
        for change in self.changes:
            yield f"{'Red' if change.red else 'Green'}: {_told(change, run)}"
        if not self.red:
            yield "The gate is green."


def _told(change: Change, run: Path | None) -> str:
    points = 100 * (change.after - change.before)
    interval = ""
    if change.low is not None and change.high is not None:
        interval = f" [{100 * change.low:+.1f}, {100 * change.high:+.1f}]"
    seen = "No drop could have been seen: ask more questions."
    if change.seen_from is not None:
        seen = (
            f"The smallest drop that it could have seen, in four of five runs: "
            f"{100 * change.seen_from:g} points."
        )
    rounded = math.floor(1000 * change.p + 0.5) / 1000
    return (
        f"{change.arm}, beside {run}: {100 * change.before:.2f} before, "
        f"{100 * change.after:.2f} now, {points:+.1f} points{interval}; worse on "
        f"{change.worse:,}, better on {change.better:,} of "
        f"{number_of(change.questions, 'question')}, p {rounded:.3f}. {seen}"
    )
