"""The measures of a report, names and numbers for people, and tables of text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from oprag_eval.data import Dataset
from oprag_eval.reports.summary import Difference, Summary
from oprag_eval.scores import JUDGE
from oprag_eval.statistics import FEWEST_PAIRS, Figure

_TITLES = {
    "judge": "judge",
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
"""The measures to compare by if a set has no answers; the first that it has."""


HELD = {"evidence_recall": "evidence", "answer_recall": "answer"}
"""Measures of whether passages hold something, and that thing."""


def title_of(measure: str) -> str:
    """Name a measure for people."""
    return _TITLES.get(measure, measure)


def heading_of(measure: str, summary: Summary) -> str:
    """Name a measure for people, as its run measured it.

    Without a chat model there is no recall of answers, only passages that hold them.
    """
    if summary.offline and measure in HELD:
        return f"passages hold the {HELD[measure]}"
    return title_of(measure)


def in_order(measures: Iterable[str], first: str) -> list[str]:
    """Order measures as tables show them: those of answers before those of contexts."""
    order = {name: place for place, name in enumerate(_TITLES)}
    place = lambda name: (name != first, order.get(name, -1), name)  # noqa: E731 -- as short as that
    return sorted(set(measures), key=place)


def main_measure(dataset: Dataset, measures: Collection[str]) -> str:
    """Choose the measure that arms are compared by.

    A judge's; else the first of the set's own that scores answers one by one; for a
    set without answers, whether the context holds the evidence.

    Returns:
        Empty if there is none.
    """
    named = [JUDGE, *dataset.metrics, *CONTEXT_MEASURES]
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
    """Return a number and the thing's name, in the plural if it is not one."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


_NONE = "-"
_SCORED = {"answer_recall", "evidence_recall", "title_recall"}
"""Measures shown of a run without a chat model that is compared by its passages: no
answer, and none of its measures."""
_MEANINGS = {
    "answer_recall": "one of the right answers stands in what was read, word for word",
    "evidence_recall": "every character of the evidence stands in what was read",
    "title_recall": "all articles that the answer needs were read",
    "wrong_order": "share of pairs of passages that the reader got in the wrong order",
    "answerable": "answered without the full documents",
    "token_share": "input tokens of all steps over those that full-document took for "
    "the same questions; above 100, routing costs more than it saves",
    "token_f1": "words that answer and reference share, as F1",
    "exact_match": "the answer is a reference, but for case, articles, punctuation",
    "longrag_match": "the answer holds a reference, or the other way round",
    "judge": "what the judge said",
    "choice_match": "share of right options",
    "bracketed_match": "share of right options",
}
_LEGEND = {
    "system": "what was asked, with its settings",
    "budget": "tokens of the context at most; - where a system has none",
    "n": "questions",
    "tokens": "mean tokens sent for a question",
    "declined": "answers that decline",
    "context": "tokens of what was read, of the last call",
    "input": "tokens of all prompts",
    "output": "tokens of all replies",
    "made beforehand": "tokens of trees, pages and gists, once for all questions",
    "cost of a question": "in the currency of the prices given",
    "cost beforehand": "of what is made beforehand",
    "first": "the setting that is compared",
    "its tokens": "mean tokens sent for a question",
    "second": "the one that it is compared with",
    "difference": "first minus second, times 100; * where p is below 0.05",
    "95 % interval": f"of each alone; - with fewer than {FEWEST_PAIRS} questions: "
    "ask that many",
    "p": "chance of such a difference where there is none, corrected for the number of "
    "comparisons (Holm)",
    "better": "questions on which the first is",
    "worse": "questions on which it is worse",
}
"""Meanings of columns, by their headings."""


class Table(NamedTuple):
    """Rows of text under headings."""

    title: str
    note: str
    """An explanation of the table."""
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[tuple[str, str], ...] = ()
    """The meaning of each column that has one, by its heading."""


def _legend(
    headings: Sequence[str], measures: Mapping[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Give the meaning of each column that has one; measures have their headings."""
    named = measures or {}
    known = _LEGEND | {name: _MEANINGS.get(key, "") for key, name in named.items()}
    told = dict.fromkeys(headings)
    return tuple((name, known[name]) for name in told if known.get(name))


def tables_of(summary: Summary) -> list[Table]:
    """Make every table that a summary has rows for."""
    made = [
        results(summary, shown_measures(summary)),
        _tokens(summary),
        _comparisons(summary),
    ]
    return [table for table in made if table.rows]


def shown_measures(summary: Summary) -> list[str]:
    """Choose the measures of the page, the one that arms are compared by first."""
    if held_column(summary):
        return [name for name in summary.measures if name in _SCORED]
    return [*summary.measures]


def held_column(summary: Summary) -> str:
    """Return the column of the passages' measure, if a run has no answers to show."""
    if summary.offline and summary.measure in HELD:
        return heading_of(summary.measure, summary)
    return ""


def results(summary: Summary, measures: Sequence[str]) -> Table:
    """Return the scores of each arm by some measures."""
    over = f"95 % intervals over {summary.unit} ({summary.groups:,} of them)"
    if summary.unit == "questions":
        over = f"95 % intervals over questions, on {_these(summary.documents)}"
    answered = not held_column(summary)
    note = (
        f"Scores times 100, with {over} in brackets, ± the standard deviation over "
        "runs."
    )
    named = {measure: heading_of(measure, summary) for measure in measures}
    headings = ["system", "budget", "n", *named.values(), "tokens"]
    rows = []
    for arm in summary.arms:
        figures = [figure_text(arm.measures.get(measure)) for measure in measures]
        row = [arm.name, _count(arm.budget), _count(arm.questions), *figures]
        row.append(f"{arm.tokens:,.0f}")
        rows.append((*row, _count(arm.declined)) if answered else tuple(row))
    if answered:
        headings.append("declined")
    legend = _legend(headings, named)
    return Table("Results", note, tuple(headings), tuple(rows), legend)


def _these(documents: int) -> str:
    return "this document" if documents == 1 else f"these {documents:,} documents"


def _tokens(summary: Summary) -> Table:
    priced = any(arm.cost is not None for arm in summary.arms)
    note = "Means per question, over all calls for it."
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
    return Table(
        "Tokens and cost", note, tuple(headings), tuple(rows), _legend(headings)
    )


def _comparisons(summary: Summary) -> Table:
    measure = heading_of(summary.measure, summary)
    note = (
        f"Paired differences of {measure}, in points, on the questions that both have, "
        "at the same budget."
    )
    headings = (
        *("first", "its tokens", "second", "its tokens", "difference"),
        *("95 % interval", "p", "better", "worse", "n"),
    )
    rows = tuple(map(_difference, summary.comparisons))
    return Table("Comparisons", note, headings, rows, _legend(headings))


def _difference(found: Difference) -> tuple[str, ...]:
    star = "*" if found.significant else ""
    interval = f"{100 * found.low:+.2f} to {100 * found.high:+.2f}"
    if found.questions < FEWEST_PAIRS:
        interval = _NONE
    return (
        *(found.first, f"{found.first_tokens:,.0f}"),
        *(found.second, f"{found.second_tokens:,.0f}"),
        f"{100 * found.mean:+.2f}{star}",
        interval,
        _NONE if found.p_adjusted is None else f"{found.p_adjusted:.3f}",
        *map(_count, (found.better, found.worse, found.questions)),
    )


def _count(value: int | None) -> str:
    return _NONE if value is None else f"{value:,}"


def _money(amount: float | None) -> str:
    return _NONE if amount is None else f"{amount:,.6f}".rstrip("0").rstrip(".")
