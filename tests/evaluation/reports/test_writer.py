"""The files of `write_reports`: the same bytes, and the figures in it."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oprag_eval.reports import write_reports
from oprag_eval.running.run_directory import RunDirectory
from tests.evaluation.reports.runs import ledgers
from tests.evaluation.small import Replies, bench_of, ran, system

ROOT = Path(__file__).parents[3]

AGAIN = """
import sys
from pathlib import Path
import matplotlib
matplotlib.rcParams["figure.facecolor"] = "pink"
matplotlib.rcParams["lines.linewidth"] = 9
from oprag_eval.reports import write_reports
from oprag_eval.running.run_directory import RunDirectory
from tests.evaluation.reports.conftest import PRICE
from tests.evaluation.reports.runs import ledgers
write_reports(RunDirectory(Path(sys.argv[1])), ledgers(), price=PRICE)
"""


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_file_is_there_and_no_draft(reported):
    folder, _ = reported

    assert set(files_of(folder)) == {
        "plots/quality_cost.svg",
        "plots/quality_tokens.svg",
        "answers.jsonl",
        "report.html",
        "run.json",
        "scores.jsonl",
        "summary.json",
    }


@pytest.mark.slow
def test_another_process_writes_the_same_bytes(reported, answered, tmp_path):
    """Another hash seed, another time, another style of the user's plots."""
    shutil.copytree(answered, tmp_path / "run")
    environment = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-c", AGAIN, tmp_path / "run"]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)

    assert files_of(tmp_path / "run") == files_of(reported[0])


def test_the_summary_is_the_mean_of_the_scores(reported):
    folder, _ = reported
    lines = RunDirectory(folder).lines("scores.jsonl")
    summary = json.loads((folder / "summary.json").read_text())

    assert len(summary["arms"]) == 2 * 2 + 2
    for arm in summary["arms"]:
        held = [
            line
            for line in lines
            if (line["system"], line["budget"]) == (arm["system"], arm["budget"])
        ]
        assert len(held) == arm["answers"] == arm["questions"] == 45
        for measure in ("token_f1", "exact_match", "evidence_recall"):
            mean = sum(line["measures"][measure] for line in held) / 45
            assert arm["measures"][measure]["mean"] == pytest.approx(mean, abs=1e-6)
            assert arm["measures"][measure]["questions"] == 45
        asked = [line["usage"]["asked"] for line in held]
        tokens = [sum(used[k] for used in asked) for k in ("input_tokens",)]
        assert arm["input_tokens"] == pytest.approx(tokens[0] / 45, abs=1e-6)
        output = sum(used["output_tokens"] for used in asked)
        cost = (tokens[0] * 2.5 + output * 10.0) / 1e6 / 45
        assert arm["cost"] == pytest.approx(cost, abs=1e-6)
        assert arm["declined"] == sum(not line["prediction"] for line in held)
    assert any(arm["declined"] for arm in summary["arms"])


def test_a_set_that_nothing_fits_still_gets_its_tables_and_page(tmp_path):
    dataset = ledgers()
    bare = tuple(
        dataclasses.replace(question, answers=(), evidence=())
        for question in dataset.questions[:2]
    )
    dataset = dataclasses.replace(dataset, questions=bare, metrics=())
    systems, bench = [system("dos-rag", "size=15")], bench_of(Replies(), dataset)

    summary = write_reports(ran(tmp_path, systems, [30], bench), dataset)

    assert (summary.measure, summary.measures) == ("", ("wrong_order",))
    assert list((tmp_path / "plots").iterdir()) == []
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "No measure fits all questions" in page
    assert "No advice: there is nothing to measure by." in page
