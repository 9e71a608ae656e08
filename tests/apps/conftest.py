"""Marks every test of this folder, and lends it the small embedding model."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import tiny_model

__all__ = ["tiny_model"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, so that `-m "not apps"` leaves it out."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.apps)


@pytest.fixture(autouse=True)
def sockets() -> Iterator[None]:
    """Collect the sockets that clients leave open, which pytest would tell."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
