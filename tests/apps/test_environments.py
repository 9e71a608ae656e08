"""Environments of applications: what cannot be made is refused with the reason."""

from __future__ import annotations

import shutil

import pytest

from tests.apps.environments import ROOT, EnvironmentUnavailableError, environment


def test_a_python_that_is_not_here_is_named():
    with pytest.raises(EnvironmentUnavailableError, match=r"needs Python 3\.2 or 3\.1"):
        environment("never", ["nothing"], pythons=("3.2", "3.1"))


def test_what_pip_says_is_told_and_nothing_counts_as_made():
    folder = ROOT / ".venv-of-the-tests"
    try:
        for _ in range(2):
            with pytest.raises(EnvironmentUnavailableError, match=r"nowhere\.whl"):
                environment("of-the-tests", [str(folder / "nowhere.whl")])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
