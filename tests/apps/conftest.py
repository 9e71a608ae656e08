"""Lends the tests of this folder a small model, and environments of applications."""

import gc
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.apps.environments import (
    EnvironmentUnavailableError,
    environment,
    install_ours,
)
from tests.cli.conftest import tiny_model
from tests.cli.test_mcp_server import write_notes

__all__ = ["tiny_model"]

REQUIRED = bool(os.environ.get("OPRAG_REQUIRE_APPS"))
"""Whether an environment that cannot be made fails the tests, or skips them."""


@pytest.fixture(autouse=True)
def sockets() -> Iterator[None]:
    """Collect the sockets that clients leave open, which pytest would tell."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="session")
def installed() -> Callable[..., Path]:
    """Make an environment as `environment` does; gives the folder of its programs."""

    def make(*args, **options) -> Path:
        try:
            return environment(*args, **options)
        except EnvironmentUnavailableError as error:
            if REQUIRED:
                raise
            pytest.skip(f"The environment cannot be made: {error}")

    return make


@pytest.fixture(scope="session")
def ours(tmp_path_factory) -> Path:
    """A folder with our packages alone, for the path of an application."""
    folder = tmp_path_factory.mktemp("ours")
    install_ours(folder)
    return folder


@pytest.fixture(scope="module")
def notes(tmp_path_factory) -> Path:
    """A folder of two texts of one name, a PDF, and a link that leads out of it."""
    folder = tmp_path_factory.mktemp("library") / "notes"
    write_notes(folder, 200)
    secret = folder.parent / "secret.txt"
    secret.write_text("The password is swordfish.")
    (folder / "link.txt").symlink_to(secret)
    return folder
