"""The end of `oprag sweep`: rows for other tools, the gate, and JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from oprag_cli.messages import stop
from oprag_eval.data import Dataset
from oprag_eval.gate import Verdict, compare_runs, find_under, read_rows
from oprag_eval.judging import Judge, judge_answers
from oprag_eval.reports.summary import Summary
from oprag_eval.rows import ROWS, Row, write_rows
from oprag_eval.running.run_directory import RunDirectory

RED = 5
"""Exit code if the gate is red."""


def summary_values(directory: RunDirectory, summary: Summary) -> dict[str, Any]:
    """Return the result of a run as plain JSON values."""
    values: dict[str, Any] = dataclasses.asdict(summary)
    return {**values, "report": str(directory.path / "report.html")}


def show_json(values: object) -> None:
    """Print values on standard output, for other programs."""
    typer.echo(json.dumps(values, ensure_ascii=False, indent=2))


@dataclass(frozen=True)
class JsonEnding:
    """The end of `oprag evaluate --json`, and of each set of `oprag reproduce`."""

    shown: bool = True
    """Whether the result is printed; otherwise the caller prints it."""
    as_json: bool = True

    def judge_answers(self, directory: RunDirectory, dataset: Dataset) -> None:
        """Leave the scores of the answers unchanged."""

    def __call__(
        self,
        directory: RunDirectory,
        dataset: Dataset,  # noqa: ARG002 -- every ending is given it
        summary: Summary,
        lines: Sequence[str],  # noqa: ARG002 -- the same
    ) -> int:
        """Print the result."""
        if self.shown:
            show_json(summary_values(directory, summary))
        return 0


@dataclass(frozen=True)
class SweepEnding:
    """The work of `oprag sweep` on a run that is answered."""

    bounds: Mapping[str, float] = field(default_factory=dict)
    """The least scores, by measure."""
    compared: Path | None = None
    """The run that it is compared with."""
    before: Sequence[Row] = ()
    """The rows of that run."""
    as_json: bool = False
    judge: Judge | None = None

    def judge_answers(self, directory: RunDirectory, dataset: Dataset) -> None:
        """Judge the answers that are not judged yet."""
        if self.judge is not None:
            judge_answers(directory, dataset, self.judge)

    def __call__(
        self,
        directory: RunDirectory,
        dataset: Dataset,
        summary: Summary,
        lines: Sequence[str],
    ) -> int:
        """Write the rows, tell the result, and judge whether the build fails."""
        from oprag_eval.scores import score

        write_rows(directory, score(directory, dataset), dataset)
        verdict = self._verdict(directory, summary)
        gated = bool(self.bounds) or self.compared is not None
        if self.as_json:
            gate = verdict.to_dict() if gated else None
            show_json({**summary_values(directory, summary), "gate": gate})
        else:
            told = [*verdict.lines(summary, self.compared)] if gated else []
            typer.echo("\n".join([*lines, *([""] if told else []), *told]))
        return RED if verdict.red else 0

    def _verdict(self, directory: RunDirectory, summary: Summary) -> Verdict:
        under = find_under(summary, self.bounds)
        if self.compared is None:
            return Verdict(tuple(under))
        rows = directory.lines(ROWS)
        changes = compare_runs(self.before, rows, summary.measure)
        return Verdict(tuple(under), tuple(changes))


def read_bounds(texts: Sequence[str]) -> dict[str, float]:
    """Read `recall=0.8`, one or several."""
    bounds = {}
    for text in texts:
        name, _, written = text.partition("=")
        try:
            bound = float(written)
        except ValueError:
            bound = -1.0
        if not name or not 0 <= bound <= 1:
            message = (
                f"--fail-under {text!r}: it takes MEASURE=NUMBER from 0 to 1, such as "
                "recall=0.8."
            )
            raise stop(message, code=2)
        bounds[name.strip()] = bound
    return bounds


def rows_before(run: Path | None) -> list[Row]:
    """Read the rows of the run to compare with, before anything is asked."""
    return [] if run is None else read_rows(run)
