"""The output of `oprag reproduce`: a list of tables, or ours beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oprag_eval.cli.display import table_lines
from oprag_eval.reports.measures import figure_text, number_of, title_of
from oprag_eval.reproduction import (
    DEVIATIONS,
    POINTS,
    Compared,
    Recipe,
    as_figure,
    recipes,
    verdict_of,
)

_RULE = (
    "A figure passes if the paper's lies in the 95 % interval of our run, or if the "
    f"two are at most {DEVIATIONS} standard deviations apart (over runs, ours and the "
    f"paper's together); one with neither may be off by {POINTS * 100:g} points. A "
    "table passes if all its figures do."
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
    recipe: Recipe, reader: str, rows: Sequence[Compared]
) -> Iterator[str]:
    """Show ours beside the paper's, and say whether the table came out."""
    yield f"{recipe.name}, ours beside {reader} in {recipe.source}, in percent:"
    yield ""
    head = ("system", "measure", "ours", "published", "")
    yield from table_lines([head, *map(_row, rows)])
    yield ""
    yield "In brackets the 95 % interval, ± the standard deviation over runs."
    yield _RULE
    verdicts = [row.verdict for row in rows]
    judged = [each for each in verdicts if each != "no figure"]
    counted = f"{verdicts.count('pass')} of {number_of(len(judged), 'figure')} passed"
    missing = verdicts.count("not measured")
    if missing:
        counted += f", {missing} not measured"
    verdict = verdict_of(rows)
    if verdict == "no figure":
        yield "The paper has no figures of it: nothing is judged."
    else:
        yield f"{recipe.name}: {verdict.upper()} ({counted})"


def _row(row: Compared) -> tuple[str, ...]:
    verdict = "" if row.verdict == "no figure" else row.verdict
    of_paper = None if row.published is None else as_figure(row.published)
    figures = figure_text(row.ours), figure_text(of_paper)
    return (row.arm, title_of(row.measure), *figures, verdict)
