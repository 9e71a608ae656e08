"""The output of `oprag reproduce`: a list of tables, or ours beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oprag_eval.cli.display import table_lines
from oprag_eval.reports.measures import figure_text, number_of, title_of
from oprag_eval.reproduction import Compared, Recipe, as_figure, recipes
from oprag_eval.verdicts import Claim, verdict_of

_RULE = (
    "A claim comes out where our difference is not 0 and on the paper's side; it does "
    "not where ours is less than half of it. Both with 95 % confidence over all claims "
    "(Holm); less than 1 point, or two deviations, is no claim. A table does what more "
    "of its claims do."
)


def listing() -> Iterator[str]:
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
    of_paper = None if row.published is None else as_figure(row.published)
    figures = figure_text(row.ours), figure_text(of_paper)
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
