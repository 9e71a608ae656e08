"""Arms side by side: differences, sweet spots, what routing saves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from oprag_eval.reports.arms import Arm
from oprag_eval.reports.summary import ArmSummary, Difference, Routing, SweetSpotSummary
from oprag_eval.statistics import Comparison, Sampling, adjusted
from oprag_eval.sweeping import AS_CHEAP, Candidate, sweet_spot

_BASELINE = "vanilla-rag"
_FULL = "full-document"
_FULL_RUNG = "full"
_SEVERAL = 2


class Compared(NamedTuple):
    """An arm with its values of the measure that arms are compared by."""

    arm: Arm
    row: ArmSummary
    values: Sequence[float | None]


def comparisons(arms: Sequence[Compared], sampling: Sampling) -> tuple[Difference, ...]:
    """Compare every arm with vanilla RAG, or the first system, at the same budget.

    These are planned, before any score is seen, and p is corrected for their number.
    A system without a budget, such as the full document, is compared with others that
    have none; as the baseline, with all.
    """
    found = []
    for first, second in _pairs(arms):
        compared = sampling.compare(first.values, second.values)
        if compared is not None:
            found.append(_difference(first, second, compared))
    corrected = adjusted([each.p for each in found])
    return tuple(
        replace(each, p_adjusted=p) for each, p in zip(found, corrected, strict=True)
    )


def _pairs(arms: Sequence[Compared]) -> Iterator[tuple[Compared, Compared]]:
    systems = list(dict.fromkeys(each.arm.system for each in arms))
    baseline = _BASELINE if _BASELINE in systems else systems[0]
    free = [each.arm.system for each in arms if each.arm.budget is None]
    for first in arms:
        system, budget = first.arm.system, first.arm.budget
        against = free[0] if budget is None and baseline not in free else baseline
        for second in arms:
            if second.arm.system == against != system and (
                second.arm.budget in {None, budget}
            ):
                yield first, second


def sweet_spots(
    arms: Sequence[Compared], sampling: Sampling, **draws: int
) -> tuple[SweetSpotSummary, ...]:
    """Find the sweet spot of each system with several budgets, then of all arms.

    A system's arms are ordered by budget, all arms by their mean tokens.
    """
    groups: dict[str, list[Compared]] = {}
    for each in arms:
        groups.setdefault(each.arm.system, []).append(each)
    several = {name: held for name, held in groups.items() if len(held) >= _SEVERAL}
    spots = [_spot(name, held, sampling, **draws) for name, held in several.items()]
    if len(groups) >= _SEVERAL:
        spots.append(_spot("", arms, sampling, **draws))
    return tuple(spot for spot in spots if spot is not None)


def _spot(
    system: str, arms: Sequence[Compared], sampling: Sampling, **draws: int
) -> SweetSpotSummary | None:
    candidates = [
        Candidate(
            each.arm.label,
            (each.arm.budget if system else None) or each.row.tokens,
            each.values,
        )
        for each in arms
    ]
    found = sweet_spot(candidates, sampling, **draws)
    if found is None:
        return None
    chosen = None if found.chosen is None else arms[found.chosen]
    best = arms[found.best]
    return SweetSpotSummary(
        system,
        chosen.arm.label if chosen else None,
        best.arm.label,
        found.behind.most,
        _difference(chosen, best, found.comparison)
        if chosen and found.comparison
        else None,
        found.more_questions,
        chosen is not None
        and any(each.row.tokens * AS_CHEAP < chosen.row.tokens for each in arms),
    )


def routing(arms: Sequence[Arm]) -> tuple[Routing, ...]:
    """Say of each routed arm how often it did without the full documents, and its cost.

    Answers with a route are routed. Their tokens are compared with those that
    `full-document` took for the same question in the same run.

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
    known = [line for line in arm.lines if _key(line) in alone]
    used, whole = sum(map(_input, known)), sum(alone[_key(line)] for line in known)
    return Routing(
        arm.label,
        early / len(arm.lines),
        used / whole if whole else None,
        len(arm.lines),
        len(known),
    )


def _key(line: Mapping[str, Any]) -> tuple[int, str]:
    return line["run"], line["question_id"]


def _input(line: Mapping[str, Any]) -> int:
    tokens: int = line["usage"]["asked"]["input_tokens"]
    return tokens


def _difference(first: Compared, second: Compared, compared: Comparison) -> Difference:
    return Difference(
        first.arm.label,
        first.row.tokens,
        second.arm.label,
        second.row.tokens,
        **compared.difference._asdict(),
        better=compared.better,
        worse=compared.worse,
        p=compared.p,
    )
