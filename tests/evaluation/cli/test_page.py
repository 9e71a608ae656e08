"""Every command of the page on evaluation is carried out."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.evaluation.small import own_files

TEXT = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text("utf-8")
BLOCKS = dict(re.findall(r"^```(csv|json)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
LINES = re.findall(r"^(oprag .*)$", TEXT, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Notes, and the questions of the page."""
    folder = tmp_path_factory.mktemp("page")
    own_files(folder)
    (folder / "questions.csv").write_text(BLOCKS["csv"])
    (folder / "my_module.py").write_text("def retriever(question):\n    return []\n")
    return folder


def test_the_page_has_the_commands_it_speaks_of():
    assert len(LINES) >= 8
    assert {line.split()[1] for line in LINES} == {
        *("check-questions", "questions", "reproduce", "sweep")
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
@pytest.mark.parametrize(
    # Those of a paper's table need its data: test_reproduce.py runs them; and
    # test_questions.py those that draft questions.
    "line",
    [line for line in LINES if line.startswith("oprag sweep")],
)
def test_a_command_of_the_page_does_what_the_page_says(
    folder, line, tiny_model, scripted, monkeypatch
):
    monkeypatch.chdir(folder)
    arguments = shlex.split(line)[1:]
    arguments += ["--embedding-model", tiny_model, "--cache", folder / "c"]
    monkeypatch.syspath_prepend(str(folder))
    if " --compare runs/main " in line:
        before = line.partition(" --out ")[0] + " --out runs/main"
        first = shlex.split(before)[1:] + arguments[-4:]
        assert scripted(lambda _: "in May", *first)[0].exit_code == 0
    result, requests = scripted(lambda _: "in May", *arguments)

    assert result.exit_code == 0, result.output
    asked = "--model" in line and "--dry-run" not in line
    assert bool(requests) == asked
    if "--dry-run" in line:
        return
    out = Path(
        line.partition("--out ")[2].split()[0] if "--out" in line else "oprag-sweep"
    )
    summary = json.loads((out / "summary.json").read_text())
    assert (out / "report.html").exists()
    assert all(arm["cost"] is None for arm in summary["arms"]) != ("--price" in line)
    one = "\nNo advice: only recommended, 500 was answered"
    told = one if "--compare" in line else "\nCannot tell which is best."
    assert told in result.stdout
    if "--compare" in line:
        assert result.stdout.endswith("The gate is green.\n")
