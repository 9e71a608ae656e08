"""The output of an evaluation: the estimate, the table, the list, in plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oprag.calls import Price
from oprag_eval.catalogue import SYSTEMS
from oprag_eval.data import DATASETS
from oprag_eval.estimate import RunEstimate, Taken
from oprag_eval.reports.summary import Summary
from oprag_eval.reports.tables import (
    CONTEXT_MEASURES,
    figure_text,
    number_of,
    results,
    title_of,
)
from oprag_eval.reproduction import Claim, Compared, Recipe, recipes, verdict_of
from oprag_eval.statistics import Figure


def estimate_lines(
    estimate: RunEstimate, price: Price | None, index_price: Price | None = None
) -> Iterator[str]:
    """Tell what a run takes, system by system."""
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
            bounds = _cost(low, price, index_price), _cost(high, price, index_price)
            row.append(_money(*bounds))
        rows.append(tuple(row))
    yield from table_lines(rows)
    for failed in estimate.failed:
        yield f"Cannot be asked: {failed}"


def result_lines(summary: Summary) -> Iterator[str]:
    """Tell what each system scored at each budget, and what it took."""
    shown = {name for arm in summary.arms for name in arm.measures}
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


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _cost(taken: Taken, price: Price, index: Price | None) -> float:
    return price.cost(taken.asked) + (index or price).cost(taken.made)


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
    for name, entry in SYSTEMS.items():
        yield f"  {name}: {entry.description}"
        yield f"    {entry.settings()}"


_USE = {
    "dos-rag": "OffsetSentenceSplitter(chunk_size=100), "
    "OrderPreservingRetriever(token_budget={budget})",
    "op-rag": "OffsetTokenSplitter(chunk_size=128), "
    "OrderPreservingRetriever(token_budget={budget})",
    "recommended": "OffsetSentenceSplitter(chunk_size=128) and one of 64 in one index, "
    "OrderPreservingRetriever(token_budget={budget}, bm25=True, "
    'selection="recall")',
    "full-document": "no retrieval: send the whole documents",
    "langchain-default": "LangChain as it is: "
    "RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200), "
    "as_retriever()",
    "llamaindex-default": "LlamaIndex as it is: SentenceSplitter(), as_query_engine()",
}
"""Code for an application, by system."""


def advice_lines(summary: Summary) -> list[str]:
    """Lay the advice of a report out for the terminal.

    Returns:
        An empty line, the advice, and indented below it what it is in code and why.
    """
    advice, *why = summary.advice
    return ["", advice, *(f"  {line}" for line in [*_in_code(summary), *why])]


def _in_code(summary: Summary) -> list[str]:
    chosen = summary.sweet_spot.chosen if summary.sweet_spot else None
    for arm in summary.arms:
        if arm.label == chosen and summary.advice[0].startswith("Use "):
            use = None if arm.cut else _USE.get(arm.system)
            return [f"In your code: {use.format(budget=arm.budget)}"] if use else []
    return []


_RULE = (
    "A claim comes out where our difference is not 0 and on the paper's side; it does "
    "not where ours is less than half of it. Both with 95 % confidence over all claims "
    "(Holm); less than 1 point, or two deviations, is no claim. A table does what more "
    "of its claims do."
)


def tables() -> Iterator[str]:
    """Name the tables with their readers, the paper's first."""
    width = max(map(len, recipes()))
    for name, recipe in recipes().items():
        yield f"{name.ljust(width)}  {recipe.title}"
        readers, sets = ", ".join(recipe.readers), recipe.sets
        asked = sets[0] if len(sets) == 1 else number_of(len(sets), "set")
        yield f"{' ' * width}  {recipe.source}; {readers}; {asked}"


def heading(recipe: Recipe, reader: str, differs: Sequence[str]) -> Iterator[str]:
    """Tell what is run, and what is not as in the paper."""
    yield f"{recipe.name}: {recipe.title}"
    yield f"{recipe.source}; figures of {reader}"
    for text in recipe.notes:
        yield f"Note: {text}"
    if differs:
        yield f"Not as in the paper: {'; '.join(differs)}."


def comparison_lines(
    recipe: Recipe, reader: str, rows: Sequence[Compared], pairs: Sequence[Claim]
) -> Iterator[str]:
    """Show ours beside the paper's, and say whether its claims come out."""
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
        heads = ("first", "second", "ours", "95 % interval", "p", "published", "")
        yield from table_lines([heads, *map(_pair, pairs)])
        yield ""
    judged = [pair.verdict for pair in pairs if pair.verdict]
    if judged:
        yield _RULE
        counts = ", ".join(f"{judged.count(v)} {v}" for v in dict.fromkeys(judged))
        claims = number_of(len(judged), "claim")
        yield f"{recipe.name}: {verdict_of(pairs)} (of {claims}: {counts})"
    else:
        yield "The paper has no planned difference in figures: nothing is judged."


def _row(row: Compared) -> tuple[str, ...]:
    paper = row.published
    shown = "-"
    if paper is not None:
        figure = Figure(paper.value, None, None, 0, 0, paper.deviation)
        shown = figure_text(figure)
    figures = figure_text(row.ours), shown
    return (row.arm, title_of(row.measure), *figures)


def _pair(pair: Claim) -> tuple[str, ...]:
    cells = ["-"] * 4
    if pair.ours is not None:
        cells[0] = f"{100 * pair.ours.mean:+.2f}"
        cells[1] = f"{100 * pair.ours.low:+.2f} to {100 * pair.ours.high:+.2f}"
    if pair.p is not None:
        cells[2] = f"{pair.p:.3f}"
    if pair.paper is not None:
        cells[3] = f"{100 * pair.paper:+.2f}"
    return (pair.first, pair.second, *cells, pair.verdict or "")
