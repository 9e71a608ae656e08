"""The clusters and the database, and what every test here needs."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.real_stores.conftest import (
    closed_stores,
    database,
    new_database,
    postgres_port,
)
from tests.scale.nodes import cluster_of

__all__ = ["closed_stores", "database", "new_database", "postgres_port"]

REQUIRED = bool(os.environ.get("OPRAG_REQUIRE_SERVERS"))
"""Whether a missing package fails the tests instead of skipping them."""

PACKAGES = ("langchain_postgres", "llama_index.ingestion", "psycopg", "ray")
"""Packages without which tests are skipped, unless they are required."""

RAYS_OWN = "ignore:`use_\\w+` is deprecated:DeprecationWarning"
"""Ray's warning when it makes or copies its own settings."""

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, so that `-m "not scale"` leaves it out."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing and REQUIRED:
        raise pytest.UsageError(f"Not installed: {', '.join(missing)}")
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.scale)
            # A node has the address of its machine, not that of loopback.
            item.add_marker(pytest.mark.enable_socket)
            item.add_marker(pytest.mark.filterwarnings(RAYS_OWN))
            if missing:
                item.add_marker(pytest.mark.skip(f"without {', '.join(missing)}"))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with cluster_of(1) as cluster:
        yield cluster.address
