"""Writes every report of a run into its folder."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oprag.calls import Price
from oprag.evaluation.counting import number_of
from oprag.evaluation.data import Dataset
from oprag.evaluation.published import Published
from oprag.evaluation.reports.page import as_page
from oprag.evaluation.reports.plots import PLOT_NAMES, Plot, plots_of
from oprag.evaluation.reports.questions import page_data
from oprag.evaluation.reports.spreadsheet import as_csv
from oprag.evaluation.reports.summarizing import summarize
from oprag.evaluation.reports.summary import Summary
from oprag.evaluation.reports.tables import as_markdown, tables_of
from oprag.evaluation.running.run_directory import RunDirectory
from oprag.evaluation.scoring import score
from oprag.optional import require

_DIGITS = 6


def require_libraries() -> None:
    """Make sure, before a run asks anything, that its report can be written.

    Raises:
        MissingDependencyError: matplotlib or jinja2 is not installed.
    """
    for library in ("jinja2", "matplotlib"):
        require(library, extra="eval", purpose="The report")


def write_reports(
    directory: RunDirectory,
    dataset: Dataset,
    *,
    price: Price | None = None,
    published: Sequence[Published] = (),
    measure: str = "",
    baseline: str = "",
    resamples: int = 2000,
    seed: int = 42,
) -> Summary:
    """Score a run and write its tables, plots and page.

    A run that is not complete is reported as far as it is; the notes say what is
    missing. No model is asked.

    Args:
        directory: Holds the answers.
        dataset: The set that they answer.
        price: Per million tokens; None: no cost is told.
        published: Figures of papers to be drawn beside, see `published_for`.
        measure: What arms are compared by, a name in `scores.jsonl`; empty: the
            set's own.
        baseline: The system that others are compared with; empty: vanilla RAG, or
            the first of the run.
        resamples: Draws for the intervals.
        seed: Of the draws.

    Returns:
        What `summary.json` holds.

    Raises:
        ChunkSetError: Order controls of one question did not read the same chunks.
        InvalidOptionError: The answers are of another set.
        InvalidOptionError: There are no answers, or no such measure or baseline.
        MissingDependencyError: matplotlib, jinja2 or a measure's library is not
            installed.
        UnreadableFileError: A file of the run is damaged.
    """
    require_libraries()  # before the work, not after it
    answers = directory.answers()
    scores = score(directory, dataset, answers=answers)
    summary = summarize(
        directory,
        dataset,
        answers,
        scores,
        price=price,
        published=published,
        measure=measure,
        baseline=baseline,
        resamples=resamples,
        seed=seed,
    )
    directory.write_text("summary.json", _as_json(summary))
    directory.write_text("summary.csv", as_csv(summary))
    tables, plots = tables_of(summary), plots_of(summary)
    directory.write_text("summary.md", _as_markdown(summary))
    _write_plots(directory.path / "plots", plots)
    questions = page_data(answers, scores, dataset, summary.measure)
    directory.write_text("report.html", as_page(summary, tables, plots, questions))
    return summary


def _write_plots(folder: Path, plots: Sequence[Plot]) -> None:
    """Write the plots; those of an earlier report that are no longer drawn go."""
    folder.mkdir(exist_ok=True)
    for name in PLOT_NAMES:
        for ending in ("png", "svg"):
            (folder / f"{name}.{ending}").unlink(missing_ok=True)
    for plot in plots:
        (folder / f"{plot.name}.png").write_bytes(plot.png)
        (folder / f"{plot.name}.svg").write_bytes(plot.svg)


def _as_json(summary: Summary) -> str:
    values = _rounded(dataclasses.asdict(summary))
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


def _rounded(value: Any) -> Any:
    """Round, so that the last digits of a sum, which machines may differ in, go."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(held) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(held) for held in value]
    return value


def _as_markdown(summary: Summary) -> str:
    questions = number_of(summary.questions, "question")
    documents = number_of(summary.documents, "document")
    head = [
        f"# {summary.dataset}",
        "",
        f"{questions} on {documents}.",
        "",
        *(f"- {note}" for note in summary.notes),
        *([""] if summary.notes else []),
    ]
    return "\n".join([*head, *map(as_markdown, tables_of(summary))])
