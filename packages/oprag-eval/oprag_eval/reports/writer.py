"""Writes every report of a run into its folder."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oprag.calls import Price
from oprag.files import write_whole
from oprag_eval.data import Dataset
from oprag_eval.reports.page import as_page, page_data
from oprag_eval.reports.plots import Plot, plots_of
from oprag_eval.reports.summaries import summarize
from oprag_eval.reports.summary import Summary
from oprag_eval.reports.tables import tables_of
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.scores import score

_DIGITS = 6


def write_reports(
    directory: RunDirectory,
    dataset: Dataset,
    *,
    price: Price | None = None,
    index_price: Price | None = None,
    measure: str = "",
    planned: Sequence[tuple[str, str]] = (),
    stopped: bool = False,
) -> Summary:
    """Score a run and write its tables, plots and page.

    A run that is not complete is reported as far as it is; the notes say what is
    missing. No model is asked.

    Args:
        directory: Holds the answers.
        dataset: The set that they answer.
        price: Per million tokens; None: no cost is shown.
        index_price: Of what was made of documents beforehand; None: the same.
        measure: What arms are compared by, a name in `scores.jsonl`; empty: the
            set's own.
        planned: Names of systems that are compared; empty: each with vanilla RAG.
        stopped: Whether a cap ended the run: some arms may then have had easier
            questions, and nothing is advised.

    Returns:
        What `summary.json` holds.

    Raises:
        InvalidOptionError: There are no answers, or they are of another set.
        UnreadableFileError: A file of the run is damaged.
    """
    scores = score(directory, dataset)
    summary = summarize(
        directory,
        dataset,
        scores,
        price=price,
        index_price=index_price,
        measure=measure,
        planned=planned,
        stopped=stopped,
    )
    values = _rounded(dataclasses.asdict(summary))
    written = json.dumps(values, ensure_ascii=False, indent=2)
    directory.write_text("summary.json", written + "\n")
    tables, plots = tables_of(summary), plots_of(summary)
    _write_plots(directory.path / "plots", plots)
    questions = page_data(
        scores,
        dataset,
        summary.measure,
        numbered=summary.settings.get("answer_style") == "brackets",
    )
    page = as_page(summary, tables, plots, questions)
    directory.write_text("report.html", page)
    return summary


def _write_plots(folder: Path, plots: Sequence[Plot]) -> None:
    """Write the plots; one of an earlier report that is not drawn any more goes."""
    folder.mkdir(exist_ok=True)
    for path in folder.glob("quality_*.svg"):
        path.unlink()
    for plot in plots:
        write_whole(folder / f"{plot.name}.svg", plot.svg)


def _rounded(value: Any) -> Any:
    """Round, so that the last digits of a sum, which machines may differ in, go."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(held) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(held) for held in value]
    return value
