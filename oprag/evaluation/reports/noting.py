"""What a reader of the report must know beside the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oprag.evaluation.counting import number_of
from oprag.evaluation.data import Dataset
from oprag.evaluation.metrics import meteor_unavailable
from oprag.evaluation.reports.summary import ArmSummary

_FEW = 10
"""Groups below which percentile intervals are known to be too narrow."""


def notes_of(
    dataset: Dataset,
    rows: Sequence[ArmSummary],
    *,
    measure: str,
    unit: str,
    groups: int,
    errors: int,
    left_out: Sequence[str],
) -> Iterator[str]:
    """Say what differs from the papers, what is missing, and what is estimated.

    Args:
        dataset: Its own notes come first.
        rows: Of the arms.
        measure: What arms are compared by; empty where there is none.
        unit: What intervals draw.
        groups: How many of them there are.
        errors: Answers that failed.
        left_out: Measures that are not shown, with the reason.
    """
    yield from dataset.notes
    if not measure:
        yield (
            "No measure fits all questions, so nothing is compared: the set needs "
            "answers, options or evidence for every question."
        )
    if "meteor" in dataset.metrics and (reason := meteor_unavailable()):
        yield f"METEOR is not computed: {reason}."
    yield from left_out
    if unit == "questions":
        yield (
            "All questions are on one document: intervals draw questions, and say "
            "nothing about other documents."
        )
    elif groups < _FEW:
        yield (
            f"Intervals draw documents, and {groups} are few: take them for too narrow "
            "rather than too wide."
        )
    missing = {row.label: row.missing for row in rows if row.missing}
    if missing:
        listed = "; ".join(f"{label}: {number:,}" for label, number in missing.items())
        yield (
            f"Answers are missing ({errors:,} failed, see errors.jsonl), and means are "
            f"over those that are there: {listed}. Comparisons take the questions that "
            "both have."
        )
    if any(row.estimated for row in rows):
        yield "Some tokens were counted here and not reported by the provider."
    declined = sum(row.declined for row in rows)
    if declined:
        said = "decline. They count" if declined > 1 else "declines. It counts"
        yield (
            f"{number_of(declined, 'answer')} {said} as wrong, except where the set "
            "itself says that the question is unanswerable."
        )
