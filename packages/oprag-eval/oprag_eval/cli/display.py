"""The output of an evaluation: the estimate, the table, the list, in plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oprag.calls import Price
from oprag_eval.catalogue import SYSTEMS
from oprag_eval.data import DATASETS
from oprag_eval.estimate import RunEstimate, SystemEstimate, Taken
from oprag_eval.reports.measures import (
    CONTEXT_MEASURES,
    figure_text,
    number_of,
    title_of,
)
from oprag_eval.reports.summary import ArmSummary, Summary
from oprag_eval.running.limits import less


def estimate_lines(
    estimate: RunEstimate, price: Price | None, index_price: Price | None = None
) -> Iterator[str]:
    """Tell what a run takes, system by system.

    Args:
        estimate: Of the run.
        price: None: no cost is shown.
        index_price: Of what is made of documents beforehand; None: the same.
    """
    yield (
        f"{number_of(estimate.answers, 'answer')} to "
        f"{number_of(estimate.questions, 'question')}, estimated from "
        f"{estimate.sampled}:"
    )
    yield ""
    named = list(estimate.systems)
    if len(named) > 1:
        named.append(SystemEstimate("together", estimate.low, estimate.high))
    head = ("system", "calls", "tokens in", "tokens out")
    rows = [(*head, *(("cost",) if price else ()))]
    for name, low, high in named:
        row = [
            name,
            _range(low.calls, high.calls),
            _range(low.usage.input_tokens, high.usage.input_tokens),
            _range(low.usage.output_tokens, high.usage.output_tokens),
        ]
        if price is not None:
            bounds = _cost(low, price, index_price), _cost(high, price, index_price)
            row.append(_money(*bounds))
        rows.append(tuple(row))
    yield from table_lines(rows)
    for failed in estimate.failed:
        yield f"Cannot be asked: {failed}"


def result_lines(summary: Summary) -> Iterator[str]:
    """Tell what each system scored at each budget, and what it took."""
    measures = [summary.measure] if summary.measure else []
    shown = {name for arm in summary.arms for name in arm.measures}
    measures += [n for n in CONTEXT_MEASURES if n in shown and n != summary.measure]
    yield (
        f"{summary.dataset}: {number_of(summary.questions, 'question')} on "
        f"{number_of(summary.documents, 'document')}"
    )
    yield ""
    head = ("system", "budget", *map(title_of, measures), "tokens", "declined")
    yield from table_lines([head, *(_row(arm, measures) for arm in summary.arms)])
    yield ""
    yield "In brackets the 95 % interval; tokens: sent for a question, on average."
    for text in summary.notes:
        yield f"Note: {text}"


def table_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Align columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _row(arm: ArmSummary, measures: Sequence[str]) -> tuple[str, ...]:
    figures = [figure_text(arm.measures.get(measure)) for measure in measures]
    budget = "" if arm.budget is None else f"{arm.budget:,}"
    share = f"{arm.declined / arm.answers:.0%}" if arm.answers else ""
    return (arm.name, budget, *figures, f"{arm.tokens:,.0f}", share)


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _cost(taken: Taken, price: Price, index: Price | None) -> float:
    asked = price.cost(less(taken.usage, taken.made))
    return asked + (index or price).cost(taken.made)


def _money(low: float, high: float) -> str:
    least, most = _amount(low), _amount(high)
    return least if least == most else f"{least} to {most}"


def _amount(cost: float) -> str:
    return f"{cost:,.2f}" if cost >= 1 else f"{cost:.4f}"


def listing() -> Iterator[str]:
    """Return the data sets and the systems, with the settings that these take."""
    yield "Data sets (--data NAME=PATH), and what the path is:"
    width = max(map(len, DATASETS))
    for name, path in DATASETS.items():
        yield f"  {name.ljust(width)}  {path}"
    yield ""
    yield "Systems (--systems NAME or NAME:KEY=VALUE,KEY=VALUE):"
    for entry in SYSTEMS.values():
        settings = ", ".join(f"{key}={_told(v)}" for key, v in entry.settings.items())
        yield f"  {entry.name}: {entry.description}"
        yield f"    {settings}"


def _told(value: object) -> str:
    """A default as it is written on the command line."""
    if value is None:
        return "none"
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
