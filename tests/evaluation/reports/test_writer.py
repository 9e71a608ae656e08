"""The files of `write_reports`: the same bytes, and the figures in it."""

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oprag_eval.reports import write_reports
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
