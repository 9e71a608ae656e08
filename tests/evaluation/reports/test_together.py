"""Several runs in one table: what stands where, and what cannot be put together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oprag.cli.app import app
from oprag.errors import InvalidOptionError, UnreadableFileError
from oprag_eval.reports.together import together


def reported(folder: Path, dataset: str, model: str, **means: float) -> Path:
    """A run's summary, as far as it is read; arms by name, some with a budget."""
    arms = [
        {
            "system": name.partition("_")[0],
            "budget": int(name.partition("_")[2] or 0) or None,
            "cut": 0,
            "measures": {"token_f1": {"mean": mean}},
        }
        for name, mean in means.items()
    ]
    arms.append({"system": "none", "budget": None, "cut": 0, "measures": {}})
    summary = {"dataset": dataset, "measure": "token_f1", "arms": arms}
    path = folder / f"{model}-{dataset}"
    path.mkdir()
    told = json.dumps({**summary, "settings": {"model": model}})
    (path / "summary.json").write_text(told)
    return path


@pytest.fixture
def runs(tmp_path) -> list[Path]:
    return [
        reported(tmp_path, "a", "m:small", rag_500=0.4, full=0.5),
        reported(tmp_path, "b", "m:small", rag_500=0.6),
        reported(tmp_path, "a", "m:large", rag_500=0.7),
        reported(tmp_path, "b", "m:large", rag_500=0.8),
    ]


def test_models_and_arms_stand_beside_sets_and_their_mean(runs):
    table = together(runs)

    assert table.headings == ("model", "arm", "a, F1", "b, F1", "mean")
    assert table.rows == (
        ("m:small", "rag, 500", "40.00", "60.00", "50.00"),
        ("m:small", "full", "50.00", "–", "–"),
        ("m:large", "rag, 500", "70.00", "80.00", "75.00"),
    )


def test_the_command_prints_it(runs):
    given = [part for run in runs for part in ("--together", str(run))]
    result = CliRunner().invoke(app, ["evaluate", *given])

    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["m:large", "rag,", "500", "70.00", "80.00", "75.00"] in rows


def test_one_run_twice_is_refused(runs):
    with pytest.raises(InvalidOptionError, match="Give each run once"):
        together([*runs, runs[0]])


def test_a_folder_without_a_report_is_named(tmp_path):
    with pytest.raises(UnreadableFileError, match="cannot be read"):
        together([tmp_path])
