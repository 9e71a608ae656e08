"""One run for all tests of reports; nobody writes into it but `write_reports`."""

import shutil

import pytest

from oprag.calls import Price
from oprag_eval.reports import write_reports
from oprag_eval.running.run_directory import RunDirectory
from tests.evaluation.reports.runs import ask, ledgers

PRICE = Price(2.5, 1.25, 10.0)


@pytest.fixture(scope="session")
def answered(tmp_path_factory):
    """The folder of a run with its answers and no report."""
    return ask(tmp_path_factory.mktemp("answered") / "run").path


@pytest.fixture(scope="session")
def reported(answered, tmp_path_factory):
    """Another folder of the same run, with its reports, and their summary."""
    path = tmp_path_factory.mktemp("reported") / "run"
    shutil.copytree(answered, path)
    return path, write_reports(RunDirectory(path), ledgers(), price=PRICE)


@pytest.fixture
def run_of(answered, tmp_path):
    """A folder of the run that a test may change."""
    shutil.copytree(answered, tmp_path / "run")
    return RunDirectory(tmp_path / "run")
