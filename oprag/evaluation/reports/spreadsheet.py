"""The summary as CSV, for spreadsheets and other programs."""

from __future__ import annotations

import csv
import io

from oprag.evaluation.reports.summary import Figure, Summary


def as_csv(summary: Summary) -> str:
    """Write one line per arm; a measure has five columns, empty where it has none."""
    measures = summary.measures
    parts = ("", "_low", "_high", "_sd", "_questions")
    plain = (
        "system",
        "budget",
        "runs",
        "questions",
        "answers",
        "missing",
        "declined",
        "context_tokens",
        "input_tokens",
        "output_tokens",
        "index_tokens",
        "cost",
        "index_cost",
    )
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*plain, *(f"{m}{part}" for m in measures for part in parts)])
    for arm in summary.arms:
        cells = [_cell(getattr(arm, name)) for name in plain]
        for measure in measures:
            cells += _figure_cells(arm.measures.get(measure))
        writer.writerow(cells)
    return out.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, float):
        return repr(round(value, 6))
    return "" if value is None else str(value)


def _figure_cells(figure: Figure | None) -> list[str]:
    if figure is None:
        return [""] * 5
    ends = (figure.mean, figure.low, figure.high, figure.deviation, figure.questions)
    return [_cell(value) for value in ends]
