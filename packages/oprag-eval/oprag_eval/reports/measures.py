"""The measures of a report, the one it compares by, and names for people."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from oprag_eval.data import Dataset
from oprag_eval.statistics import Figure

_TITLES = {
    "token_f1": "F1",
    "exact_match": "exact match",
    "longrag_match": "LongRAG's match",
    "first_number_match": "first number",
    "choice_match": "accuracy",
    "choice_match_official": "accuracy, ∞Bench's rules",
    "bracketed_match": "accuracy, [[n]]",
    "bracketed_match_official": "accuracy, first [[n]]",
    "rouge_l": "ROUGE-L",
    "bleu_1": "BLEU-1",
    "bleu_4": "BLEU-4",
    "meteor": "METEOR",
    "average": "mean over the sets",
    "answer_recall": "answer recall",
    "title_recall": "title recall",
    "evidence_recall": "evidence recall",
    "wrong_order": "wrong order",
    "answerable": "answered from the chunks",
    "token_share": "share of tokens",
}
"""In the order of tables."""
CONTEXT_MEASURES = ("evidence_recall", "answer_recall", "title_recall")
"""The measures to compare by where a set has no answers; the first that it has."""


def title_of(measure: str) -> str:
    """Name a measure for people."""
    return _TITLES.get(measure, measure)


def in_order(measures: Iterable[str], first: str) -> list[str]:
    """Order measures as tables show them: those of answers before those of contexts."""
    order = {name: place for place, name in enumerate(_TITLES)}
    place = lambda name: (name != first, order.get(name, -1), name)  # noqa: E731 -- as short as that
    return sorted(set(measures), key=place)


def main_measure(dataset: Dataset, measures: Collection[str]) -> str:
    """Choose the measure that arms are compared by.

    The first of the set's own that scores answers one by one; for a set without
    answers, whether the context holds the evidence.

    Returns:
        Empty where there is none.
    """
    named = [*dataset.metrics, *CONTEXT_MEASURES]
    return next((name for name in named if name in measures), "")


def figure_text(figure: Figure | None) -> str:
    """Write a mean times 100, its deviation over runs, and its interval."""
    if figure is None:
        return "-"
    text = f"{100 * figure.mean:.2f}"
    if figure.deviation is not None:
        text += f" ± {100 * figure.deviation:.2f}"
    if figure.low is not None and figure.high is not None:
        text += f" [{100 * figure.low:.1f}, {100 * figure.high:.1f}]"
    return text


def number_of(count: int, thing: str) -> str:
    """Return a number and the thing's name, in the plural where it is not one."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
