"""Arms side by side: differences, sweet spots, what routing saves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oprag.errors import invalid_option
from oprag.evaluation.metrics import token_share
from oprag.evaluation.reports.arms import Arm
from oprag.evaluation.reports.summary import (
    ArmSummary,
    Difference,
    Routing,
    SweetSpotSummary,
)
from oprag.evaluation.statistics import Comparison, Resampling
from oprag.evaluation.sweeping import Candidate, sweet_spot

_BASELINE = "vanilla-rag"
_CONTROL = "order-"
_CONTROL_BASELINE = "order-document"
_FULL = "full-document"
_FULL_RUNG = "full"
_SEVERAL = 2


class Compared(NamedTuple):
    """An arm with its values of the measure that arms are compared by."""

    arm: Arm
    row: ArmSummary
    values: Sequence[float | None]


def baseline_of(systems: Sequence[str], wanted: str = "") -> str:
    """Name the system that others are compared with.

    Args:
        systems: Of the run, in the order of the plan.
        wanted: What the user said; empty: vanilla RAG, or the first system.

    Raises:
        InvalidOptionError: The run has no such system.
    """
    if not wanted:
        return _BASELINE if _BASELINE in systems else systems[0]
    if wanted not in systems:
        takes = f"The run has {', '.join(systems)}."
        raise invalid_option("baseline", wanted, takes)
    return wanted


def comparisons(
    arms: Sequence[Compared], baseline: str, resampling: Resampling
) -> tuple[Difference, ...]:
    """Compare every arm with the baseline at the same budget.

    It is also compared with each system that has no budget, such as the full
    document; two of these once. An order control is compared with the document's
    order alone, where that was run.
    """
    found = []
    for first, second in _pairs(arms, baseline):
        compared = resampling.compare(first.values, second.values)
        if compared is not None:
            labels = first.arm.label, second.arm.label
            found.append(_difference(*labels, compared))
    return tuple(found)


def _pairs(
    arms: Sequence[Compared], baseline: str
) -> Iterator[tuple[Compared, Compared]]:
    controlled = any(each.arm.system == _CONTROL_BASELINE for each in arms)
    for place, first in enumerate(arms):
        system, budget = first.arm.system, first.arm.budget
        control = controlled and system.startswith(_CONTROL)
        against = _CONTROL_BASELINE if control else baseline
        for earlier, second in enumerate(arms):
            if second.arm.system == system:
                continue
            if second.arm.budget is None:
                if not control and (budget is not None or earlier < place):
                    yield first, second
            elif (second.arm.budget, second.arm.system) == (budget, against):
                yield first, second


def sweet_spots(
    arms: Sequence[Compared], resampling: Resampling
) -> tuple[SweetSpotSummary, ...]:
    """Find the sweet spot of each system with several budgets, then of all arms.

    A system's arms are ordered by budget, all arms by their mean tokens. Order
    controls are nothing to use, so among all arms they count only where there are no
    others.
    """
    groups: dict[str, list[Compared]] = {}
    for each in arms:
        groups.setdefault(each.arm.system, []).append(each)
    several = {name: held for name, held in groups.items() if len(held) >= _SEVERAL}
    spots = [_spot(name, held, resampling) for name, held in several.items()]
    if len(groups) >= _SEVERAL:
        of_use = [e for e in arms if not e.arm.system.startswith(_CONTROL)]
        spots.append(_spot("", of_use or arms, resampling))
    return tuple(spot for spot in spots if spot is not None)


def _spot(
    system: str, arms: Sequence[Compared], resampling: Resampling
) -> SweetSpotSummary | None:
    candidates = [
        Candidate(
            each.arm.label,
            (each.arm.budget if system else None) or each.row.tokens,
            each.values,
        )
        for each in arms
    ]
    found = sweet_spot(candidates, resampling)
    if found is None:
        return None
    chosen, best = arms[found.chosen], arms[found.best]
    return SweetSpotSummary(
        system,
        chosen.arm.label,
        chosen.arm.system,
        chosen.arm.budget,
        chosen.row.tokens,
        best.arm.label,
        best.row.tokens,
        _difference(chosen.arm.label, best.arm.label, found.comparison),
    )


def routing(arms: Sequence[Arm]) -> tuple[Routing, ...]:
    """Say of each routed arm how often it did without the full documents, and its cost.

    Answers with a route are routed. Their tokens are compared with those that the
    full documents alone take for the same question: as the run's `full-document` took
    them in the same run, else as the account of the answer has them, which may be
    estimated.

    Source:
        Self-Route (arXiv:2407.16833): "answerable %" and "token %".
    """
    full = next((arm for arm in arms if arm.system.startswith(_FULL)), None)
    alone = {} if full is None else {_key(line): _input(line) for line in full.lines}
    return tuple(
        _routing(arm, alone) for arm in arms if any(line["route"] for line in arm.lines)
    )


def _routing(arm: Arm, alone: Mapping[tuple[int, str], int]) -> Routing:
    early = sum(line["answered"] and line["route"] != _FULL_RUNG for line in arm.lines)
    used = long_context = compared = estimated = 0
    for line in arm.lines:
        measured = alone.get(_key(line))
        tokens = measured or line["long_context_tokens"]
        if tokens:
            used, long_context = used + _input(line), long_context + tokens
            compared += 1
            estimated += not measured and line.get("long_context_estimated", False)
    return Routing(
        arm.label,
        early / len(arm.lines),
        token_share(used, long_context) if compared else None,
        len(arm.lines),
        compared,
        estimated,
    )


def _key(line: Mapping[str, Any]) -> tuple[int, str]:
    return line["run"], line["question_id"]


def _input(line: Mapping[str, Any]) -> int:
    tokens: int = line["usage"]["asked"]["input_tokens"]
    return tokens


def _difference(first: str, second: str, compared: Comparison) -> Difference:
    counts = {"better": compared.better, "worse": compared.worse}
    return Difference(first, second, **compared.difference._asdict(), **counts)
