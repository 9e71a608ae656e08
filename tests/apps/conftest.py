"""Lends the tests of this folder the small embedding model, and ends their sockets."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import pytest

from tests.cli.conftest import tiny_model

__all__ = ["tiny_model"]


@pytest.fixture(autouse=True)
def sockets() -> Iterator[None]:
    """Collect the sockets that clients leave open, which pytest would tell."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
