"""Other looks at the same scores: parts of the questions, and RAG beside full text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from oprag_eval.data import Dataset, Question
from oprag_eval.reports.arms import Arm
from oprag_eval.reports.summary import Agreement, Figure, Part
from oprag_eval.running.run_directory import AnswerKey, key_of
from oprag_eval.statistics import Estimate

Answers: TypeAlias = Mapping[AnswerKey, Mapping[str, Any]]
"""Lines of `answers.jsonl`."""
Values: TypeAlias = Sequence[float | None]
Estimating: TypeAlias = Callable[[Values], Estimate | None]

EVIDENCE_PLACE = "place of the evidence"

_DIFFICULTY = {True: "hard", False: "easy"}
_QUARTERS = ("first quarter", "second quarter", "third quarter", "last quarter")
_THIRDS = ("first third", "middle third", "last third")
_ABSENT = "not in it"
_FULL = "full-document"
_NEAR = 0.1
"""Scores that differ by less are taken for equal: Self-Route's ten points."""


def parts_of(
    arms: Sequence[Arm],
    dataset: Dataset,
    answers: Answers,
    measure: str,
    question_ids: Sequence[str],
    *,
    estimate: Estimating,
) -> tuple[Part, ...]:
    """Score arms on parts of the questions, wherever these are of several parts.

    By what a set says of its questions (QuALITY's hard ones, HotpotQA's types, the
    depth of a passkey), and by where the evidence lay in what was read.

    Args:
        arms: Of the run.
        dataset: The set that was asked.
        answers: Of the run.
        measure: Of answers.
        question_ids: Of the questions that were asked, in the order of the set.
        estimate: Of the run, for values in that order.
    """
    questions = {question.question_id: question for question in dataset.questions}
    found = []
    for by, part_of in _VIEWS.items():
        placed = [
            [
                (part_of(answers[key_of(line)], questions[line["question_id"]]), line)
                for line in arm.lines
            ]
            for arm in arms
        ]
        parts = {part for lines in placed for part, _ in lines if part is not None}
        if len(parts) < 2:  # noqa: PLR2004 -- of one part the arm's own row tells
            continue
        for arm, lines in zip(arms, placed, strict=True):
            for part in sorted(parts, key=_place):
                its = tuple(line for name, line in lines if name == part)
                values = dataclasses.replace(arm, lines=its)
                figure = estimate(values.values(measure, question_ids))
                if figure is not None:
                    told = Figure(**figure._asdict(), deviation=None)
                    found.append(Part(arm.label, by, part, told))
    return tuple(found)


_ORDER = ("easy", "hard", *_QUARTERS, *_THIRDS, _ABSENT)


def _place(part: str) -> tuple[int, str]:
    return (_ORDER.index(part) if part in _ORDER else -1), part


def evidence_place(answer: Mapping[str, Any], question: Question) -> str | None:
    """Say in which third of what was read the evidence began, or that it was absent.

    Args:
        answer: A line of `answers.jsonl`.
        question: What it answers.

    Returns:
        None where no evidence is known, or text of no document was read, such as a
        summary.
    """
    pieces = answer["pieces"]
    if not question.evidence or any(start is None for _, start, _, _ in pieces):
        return None
    read = 0
    first: int | None = None
    for name, start, end, _ in pieces:
        held = [
            max(start, a) - start
            for a, b in question.evidence
            if name == question.doc_id and max(start, a) < min(end, b)
        ]
        if held and first is None:
            first = read + min(held)
        read += end - start
    return _ABSENT if first is None else _THIRDS[3 * first // read]


def _difficulty(_: Mapping[str, Any], question: Question) -> str | None:
    difficult = question.metadata.get("difficult")
    return None if difficult is None else _DIFFICULTY[bool(difficult)]


def _type(_: Mapping[str, Any], question: Question) -> str | None:
    return question.metadata.get("type")


def _depth(_: Mapping[str, Any], question: Question) -> str | None:
    depth = question.metadata.get("depth")
    return None if depth is None else _QUARTERS[min(int(4 * depth), 3)]


_VIEWS: Mapping[str, Callable[[Mapping[str, Any], Question], str | None]] = {
    "difficulty": _difficulty,
    "type": _type,
    "depth": _depth,
    EVIDENCE_PLACE: evidence_place,
}
"""What a question is told apart by: what its set says of it, and what was read."""


def agreements(
    arms: Sequence[Arm], answers: Answers, measure: str
) -> tuple[Agreement, ...]:
    """Compare each arm with the full text, question by question.

    Args:
        arms: Of the run; without a `full-document` there is nothing to compare with.
        answers: Of the run.
        measure: Of answers.

    Source:
        Self-Route (arXiv:2407.16833), figure 2. The oracle router is what a router
        that knew both scores would get: it reads on where the full text does better.
    """
    full = next((arm for arm in arms if arm.system.startswith(_FULL)), None)
    if full is None:
        return ()
    whole = {_asked(line): line for line in full.lines}
    found = []
    for arm in arms:
        pairs = [
            (line, whole[_asked(line)]) for line in arm.lines if _asked(line) in whole
        ]
        scored = [
            (float(one[measure]), float(other[measure]), one, other)
            for one, other in pairs
            if one.get(measure) is not None and other.get(measure) is not None
        ]
        if scored and not arm.system.startswith(_FULL):
            found.append(_agreement(arm.label, full.label, scored, answers))
    return tuple(found)


_Scored: TypeAlias = tuple[float, float, Mapping[str, Any], Mapping[str, Any]]


def _agreement(
    arm: str, full: str, scored: Sequence[_Scored], answers: Answers
) -> Agreement:
    count = len(scored)
    same = sum(_said(one, answers) == _said(two, answers) for *_, one, two in scored)
    chosen = [
        (whole, _tokens(two)) if whole > part else (part, _tokens(one))
        for part, whole, one, two in scored
    ]
    return Agreement(
        arm=arm,
        full=full,
        answers=count,
        same=same / count,
        near=sum(abs(part - whole) < _NEAR for part, whole, *_ in scored) / count,
        better=sum(part - whole >= _NEAR for part, whole, *_ in scored) / count,
        worse=sum(whole - part >= _NEAR for part, whole, *_ in scored) / count,
        oracle=sum(score for score, _ in chosen) / count,
        oracle_tokens=sum(tokens for _, tokens in chosen) / count,
    )


def _asked(line: Mapping[str, Any]) -> tuple[int, str]:
    return line["run"], line["question_id"]


def _said(line: Mapping[str, Any], answers: Answers) -> str:
    return " ".join(str(answers[key_of(line)]["prediction"]).casefold().split())


def _tokens(line: Mapping[str, Any]) -> int:
    asked: int = line["usage"]["asked"]["input_tokens"]
    context: int = line["context_tokens"]
    return asked or context
