"""The servers are what they should be, and end with whoever started them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.stores.servers import HOST, SUPERUSER

ROOT = Path(__file__).parents[2]

START = """
import sys, time
from tests.stores import servers
with servers.{server}() as port:
    print(port, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def folder():
    """Not `tmp_path`: only its owner may enter that, and PostgreSQL is not."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


@pytest.mark.parametrize("server", ["chroma_server", "postgres_server"])
def test_a_killed_test_run_leaves_no_server_and_no_folder(
    server, folder, postgres_port
):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    with subprocess.Popen(
        [sys.executable, "-c", START.format(server=server)],
        stdout=subprocess.PIPE,
        env=environment,
    ) as run:
        port = int(run.stdout.readline())
        assert answers(port)
        assert list(folder.iterdir())
        run.send_signal(signal.SIGKILL)

    end = time.monotonic() + 20
    while (answers(port) or list(folder.iterdir())) and time.monotonic() < end:
        time.sleep(0.1)
    assert not answers(port)
    assert not list(folder.iterdir())


def test_postgres_is_not_run_by_root_and_has_pgvector(database):
    import psycopg

    with closing(psycopg.connect(f"postgresql://{database}")) as connection:
        asked = connection.execute("SELECT '[3,4]'::vector <-> '[0,0]'::vector")
        folder = connection.execute("SHOW data_directory").fetchone()[0]

        assert asked.fetchone() == (5.0,)
        assert Path(folder).stat().st_uid != 0
        assert database.startswith(f"{SUPERUSER}@{HOST}:")
