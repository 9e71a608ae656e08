"""The output of an evaluation: the estimate, the table, the list, in plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oprag.calls import Price
from oprag_eval.catalogue import SYSTEMS
from oprag_eval.data import DATASETS
from oprag_eval.estimate import RunEstimate
from oprag_eval.reports.summary import Summary
from oprag_eval.reports.tables import (
    CONTEXT_MEASURES,
    figure_text,
    number_of,
    results,
    shown_measures,
    title_of,
)
from oprag_eval.reproduction import Compared, Pair, Recipe, recipes
from oprag_eval.statistics import Figure


def estimate_lines(estimate: RunEstimate, price: Price | None) -> Iterator[str]:
    """Tell the calls and tokens of a run, system by system."""
    yield (
        f"{number_of(estimate.answers, 'answer')} to "
        f"{number_of(estimate.questions, 'question')}, estimated from "
        f"{estimate.sampled}:"
    )
    yield ""
    named = dict(estimate.systems)
    if len(named) > 1:
        named["together"] = estimate.low, estimate.high
    head = ("system", "calls", "tokens in", "tokens out")
    rows = [(*head, *(("cost",) if price else ()))]
    for name, (low, high) in named.items():
        row = [
            name,
            _range(low.calls, high.calls),
            _range(low.usage.input_tokens, high.usage.input_tokens),
            _range(low.usage.output_tokens, high.usage.output_tokens),
        ]
        if price is not None:
            costs = price.cost(low.usage), price.cost(high.usage)
            row.append(_range(*costs, ",.2f" if costs[0] >= 1 else ".4f"))
        rows.append(tuple(row))
    yield from table_lines(rows)
    for failed in estimate.failed:
        yield f"Cannot be asked: {failed}"


def result_lines(summary: Summary) -> Iterator[str]:
    """Tell the scores of each system at each budget, and its tokens."""
    shown = set(shown_measures(summary))
    wanted = dict.fromkeys([summary.measure, *CONTEXT_MEASURES])
    table = results(summary, [name for name in wanted if name in shown])
    yield (
        f"{summary.dataset}: {number_of(summary.questions, 'question')} on "
        f"{number_of(summary.documents, 'document')}"
    )
    yield ""
    yield from table_lines([table.headings, *table.rows])
    yield ""
    yield table.note
    for name, meaning in table.legend:
        yield f"{name}: {meaning}."
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


def _range(low: float, high: float, form: str = ",") -> str:
    least, most = format(low, form), format(high, form)
    return least if least == most else f"{least} to {most}"


def listing() -> Iterator[str]:
    """Return the data sets and the systems, with the settings that these take."""
    yield "Data sets (--data NAME=PATH), and what the path is:"
    width = max(map(len, DATASETS))
    for name, path in DATASETS.items():
        yield f"  {name.ljust(width)}  {path}"
    yield ""
    yield "Systems (--systems NAME or NAME:KEY=VALUE,KEY=VALUE):"
    for name, entry in SYSTEMS.items():
        yield f"  {name}: {entry.description}"
        yield f"    {entry.settings()}"


def advice_lines(summary: Summary) -> list[str]:
    """Lay the advice of a report out for the terminal, its reasons indented."""
    advice, *why = summary.advice
    lines = ["", advice, *(f"  {line}" for line in why)]
    return [*lines, "", f"  {summary.line}"] if summary.line else lines


def tables() -> Iterator[str]:
    """Name the tables with their readers, the paper's first."""
    width = max(map(len, recipes()))
    for name, recipe in recipes().items():
        yield f"{name.ljust(width)}  {recipe.title}"
        readers, sets = ", ".join(recipe.readers), recipe.sets
        asked = sets[0] if len(sets) == 1 else number_of(len(sets), "set")
        yield f"{' ' * width}  {recipe.source}; {readers}; {asked}"


def heading(recipe: Recipe, reader: str, differs: Sequence[str]) -> Iterator[str]:
    """Tell the table that is run, and its differences from the paper."""
    yield f"{recipe.name}: {recipe.title}"
    yield f"{recipe.source}; figures of {reader}"
    for text in recipe.notes:
        yield f"Note: {text}"
    if differs:
        yield f"Not as in the paper: {'; '.join(differs)}."


def comparison_lines(
    recipe: Recipe, reader: str, rows: Sequence[Compared], pairs: Sequence[Pair]
) -> Iterator[str]:
    """Show ours beside the paper's, and how often the same one is higher."""
    beside = f"beside {reader} in {recipe.source}"
    yield f"{recipe.name}, figures {beside}, in percent:"
    yield ""
    head = ("system", "measure", "ours", "published")
    yield from table_lines([head, *map(_row, rows)])
    yield ""
    yield "In brackets the 95 % interval, ± the standard deviation over runs."
    if pairs:
        yield ""
        measure = title_of(pairs[0].measure)
        yield f"{recipe.name}, planned differences of {measure} {beside}, in points:"
        yield ""
        heads = ("first", "second", "ours", "95 % interval", "published")
        yield from table_lines([heads, *map(_pair, pairs)])
    if both := [
        each.ours.mean * each.paper for each in pairs if each.ours and each.paper
    ]:
        same = sum(product > 0 for product in both)
        yield ""
        counted = number_of(len(both), "pair")
        yield f"The one higher in the paper is higher here in {same} of {counted}."


def _row(row: Compared) -> tuple[str, ...]:
    paper = row.published
    shown = "-"
    if paper is not None:
        figure = Figure(paper.value, None, None, 0, paper.deviation)
        shown = figure_text(figure)
    return (row.arm, title_of(row.measure), figure_text(row.ours), shown)


def _pair(pair: Pair) -> tuple[str, ...]:
    cells = ["-"] * 3
    if pair.ours is not None:
        cells[0] = f"{100 * pair.ours.mean:+.2f}"
        cells[1] = f"{100 * pair.ours.low:+.2f} to {100 * pair.ours.high:+.2f}"
    if pair.paper is not None:
        cells[2] = f"{100 * pair.paper:+.2f}"
    return (pair.first, pair.second, *cells)
