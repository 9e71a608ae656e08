"""Why answers were declined, arm by arm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oprag.evaluation.failure_classes import FAILURE_CLASSES
from oprag.evaluation.reports.summary import arm_label

_NOT_LABELLED = "not labelled"


def class_counts(
    labels: Mapping[str, str], answers: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, int]]:
    """Count the declined answers of each arm by class.

    Args:
        labels: Class by question, as `read_labels` gives them.
        answers: Lines with `system`, `budget`, `question_id` and `answered`.

    Returns:
        By arm in the order of the answers, then by class in that of
        `FAILURE_CLASSES`; `"not labelled"` comes last. Only arms that declined; empty
        where nothing was labelled.
    """
    counts: dict[str, dict[str, int]] = {}
    for answer in answers if labels else ():
        if not answer["answered"]:
            arm = arm_label(answer["system"], answer["budget"])
            label = labels.get(answer["question_id"], _NOT_LABELLED)
            of_arm = counts.setdefault(arm, {})
            of_arm[label] = of_arm.get(label, 0) + 1
    order = (*FAILURE_CLASSES, _NOT_LABELLED)
    return {
        arm: {label: found[label] for label in order if label in found}
        for arm, found in counts.items()
    }
