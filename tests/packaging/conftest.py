"""The distributions, built once for all tests."""

import pytest

from tests.packaging.distributions import ROOT, build_all


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    """The folder of all sdists and wheels; takes two seconds and no network."""
    folder = tmp_path_factory.mktemp("dist")
    build_all(ROOT, folder)
    return folder
