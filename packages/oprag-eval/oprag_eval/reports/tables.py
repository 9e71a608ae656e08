"""The measures of a report, names and numbers for people, and tables of text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from oprag_eval.data import Dataset
from oprag_eval.reports.summary import Difference, Summary
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


_NONE = "-"
_MEANINGS = {
    "wrong_order": " Wrong order is the share of pairs of passages that the reader got "
    "in the wrong order.",
    "answerable": " Answered from the chunks: without the full documents.",
    "token_share": " Share of tokens: input tokens of all steps over those that "
    "full-document took for the same questions; above 100, routing costs more than it "
    "saves.",
}
"""What a column shows, where its heading does not say it."""


class Table(NamedTuple):
    """Rows of text under headings."""

    title: str
    note: str
    """An explanation of the table."""
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables_of(summary: Summary) -> list[Table]:
    """Make every table that a summary has rows for."""
    made = [results(summary, summary.measures), _tokens(summary), _comparisons(summary)]
    return [table for table in made if table.rows]


def results(summary: Summary, measures: Sequence[str]) -> Table:
    """Return the scores of each arm by some measures."""
    note = (
        f"Scores times 100, with 95 % intervals over {summary.unit} "
        f"({summary.groups:,} of them) in brackets, ± the standard deviation over "
        "runs. Tokens are those sent for a question, n is the number of questions."
    )
    for measure, meaning in _MEANINGS.items():
        note += meaning if measure in measures else ""
    named = map(title_of, measures)
    headings = ("system", "budget", "n", *named, "tokens", "declined")
    rows = tuple(
        (
            arm.name,
            _count(arm.budget),
            _count(arm.questions),
            *(figure_text(arm.measures.get(measure)) for measure in measures),
            f"{arm.tokens:,.0f}",
            _count(arm.declined),
        )
        for arm in summary.arms
    )
    return Table("Results", note, headings, rows)


def _tokens(summary: Summary) -> Table:
    priced = any(arm.cost is not None for arm in summary.arms)
    note = (
        "Means per question, over all calls for it. Made beforehand is the sum of "
        "what trees, pages and gists took, once for all questions."
        + (" Costs are in the currency of the prices given." if priced else "")
    )
    headings = ["system", "budget", "context", "input", "output", "made beforehand"]
    if priced:
        headings += ["cost of a question", "cost beforehand"]
    rows = []
    for arm in summary.arms:
        means = (arm.context_tokens, arm.input_tokens, arm.output_tokens)
        cells = [f"{mean:,.0f}" for mean in means]
        row = [arm.name, _count(arm.budget), *cells, _count(arm.index_tokens)]
        if priced:
            row += [_money(arm.cost), _money(arm.index_cost)]
        rows.append(tuple(row))
    return Table("Tokens and cost", note, tuple(headings), tuple(rows))


def _comparisons(summary: Summary) -> Table:
    note = (
        f"Paired differences of {title_of(summary.measure)} times 100, first minus "
        "second, on the questions that both have, at the same budget. p is corrected "
        "for the number of comparisons (Holm); * marks what is below 0.05. The "
        "intervals are of each alone. Better and worse count the questions on which "
        "the first is."
    )
    headings = (
        *("first", "its tokens", "second", "its tokens", "difference"),
        *("95 % interval", "p", "better", "worse", "n"),
    )
    rows = tuple(map(_difference, summary.comparisons))
    return Table("Comparisons", note, headings, rows)


def _difference(found: Difference) -> tuple[str, ...]:
    star = "*" if found.significant else ""
    return (
        *(found.first, f"{found.first_tokens:,.0f}"),
        *(found.second, f"{found.second_tokens:,.0f}"),
        f"{100 * found.mean:+.2f}{star}",
        f"{100 * found.low:+.2f} to {100 * found.high:+.2f}",
        _NONE if found.p_adjusted is None else f"{found.p_adjusted:.3f}",
        *map(_count, (found.better, found.worse, found.questions)),
    )


def _count(value: int | None) -> str:
    return _NONE if value is None else f"{value:,}"


def _money(amount: float | None) -> str:
    return _NONE if amount is None else f"{amount:,.6f}".rstrip("0").rstrip(".")
