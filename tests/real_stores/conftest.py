"""The servers, started once per test process, and an empty place on them per test."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.real_stores.servers import (
    HOST,
    SUPERUSER,
    ServerUnavailableError,
    chroma_server,
    postgres_server,
)

REQUIRED = bool(os.environ.get("OPRAG_REQUIRE_SERVERS"))
"""Whether a missing package or server fails the tests instead of skipping them."""

PACKAGES = (
    "asyncpg",
    "chromadb",
    "faiss",
    "langchain_community",
    "langchain_postgres",
    "langchain_qdrant",
    "llama_index.vector_stores.faiss",
    "llama_index.vector_stores.postgres",
    "llama_index.vector_stores.qdrant",
    "psycopg",
    "qdrant_client",
)
"""Servers without which tests are skipped, unless they are required."""

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, so that `-m "not stores"` leaves it out."""
    if REQUIRED:
        missing = [name for name in PACKAGES if find_spec(name) is None]
        if missing:
            raise pytest.UsageError(f"Not installed: {', '.join(missing)}")
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.stores)


def _running(server: Callable[[], AbstractContextManager[int]]) -> Iterator[int]:
    with ExitStack() as stack:
        try:
            port = stack.enter_context(server())
        except ServerUnavailableError as error:
            if REQUIRED:
                raise
            pytest.skip(f"{server.__name__} cannot be started: {error}")
        yield port


@pytest.fixture(autouse=True, scope="module")
def closed_stores() -> None:
    """Keep them: a dropped client of a Chroma server leaves its sockets open."""


@pytest.fixture(scope="session")
def chroma_port() -> Iterator[int]:
    """Port of a Chroma server on 127.0.0.1."""
    yield from _running(chroma_server)


@pytest.fixture(scope="session")
def postgres_port() -> Iterator[int]:
    """Port of a PostgreSQL server on 127.0.0.1 whose databases have pgvector."""
    for port in _running(postgres_server):
        # New databases are copies of template1.
        with closing(_connect(port, "template1")) as connection:
            connection.execute("CREATE EXTENSION vector")
        yield port


@pytest.fixture(scope="session")
def new_database(postgres_port: int) -> Callable[[], str]:
    """Makes an empty database: `user@host:port/name`, to stand behind `driver://`."""

    def make() -> str:
        name = f"test_{uuid.uuid4().hex}"
        with closing(_connect(postgres_port)) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"{SUPERUSER}@{HOST}:{postgres_port}/{name}"

    return make


@pytest.fixture
def database(new_database: Callable[[], str]) -> str:
    """An empty database, as `new_database` makes them."""
    return new_database()


def _connect(port: int, database: str = SUPERUSER) -> Any:
    import psycopg

    return psycopg.connect(
        host=HOST, port=port, user=SUPERUSER, dbname=database, autocommit=True
    )
