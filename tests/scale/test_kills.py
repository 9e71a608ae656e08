"""Whatever is killed while a cluster indexes, the index is that of one process."""

import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from oprag_ray import index_on_ray
from tests.scale.corpus import ADAPTERS, write
from tests.scale.nodes import cluster_of
from tests.scale.stores import FRAMEWORKS, Table

KILLS = 10
SMALL = 32
"""Chunks of a block: many blocks, so that there are many moments."""
WAITS = 0.05
"""Seconds that embedding a block takes, so that kills fall between blocks."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("corpus") / "texts", 120)


@pytest.fixture(scope="module")
def expected(new_database, corpus):
    """The corpus as one process indexes it: its database, and the rows by framework."""
    database, rows = new_database(), {}
    for framework in FRAMEWORKS:
        one = Table(framework, database, "one").made()
        index = one.opened(one.embeddings())
        ADAPTERS[framework].index_documents(corpus, index, show_progress=False)
        rows[framework] = one.rows()
    return database, rows


def empty_table(framework: str, database: str) -> Table:
    return Table(framework, database, f"t{uuid.uuid4().hex}", seconds=WAITS).made()


def run(table: Table, corpus: Path, address: str):
    return index_on_ray(
        corpus, table, address=address, batch_size=SMALL, show_progress=False
    )


def workers(cluster) -> list[psutil.Process]:
    """The actors of a run, on all nodes of the cluster."""
    found = []
    for node in cluster.list_all_nodes():
        raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
        for process in raylet.children(recursive=True):
            try:
                if "MapBatches" in " ".join(process.cmdline()):
                    found.append(process)
            except psutil.Error:
                pass
    return found


@contextmanager
def killing(cluster, number: int):
    """Kill workers at random while the block runs; gives the list of those killed."""
    killed: list[str] = []
    stop = threading.Event()
    drawn = random.Random(7)  # noqa: S311 -- no secret

    def kill() -> None:
        while len(killed) < number and not stop.wait(drawn.uniform(0.2, 1.2)):
            if there := workers(cluster):
                process = drawn.choice(there)
                try:
                    name = process.cmdline()[0]
                    process.send_signal(signal.SIGKILL)
                except (psutil.Error, IndexError):
                    continue
                killed.append(name)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


@pytest.mark.once
def test_workers_that_are_killed_ten_times_change_nothing(corpus, expected):
    database, rows = expected
    killed = []
    with cluster_of(2, 1) as cluster:
        while len(killed) < KILLS:
            framework = FRAMEWORKS[len(killed) % 2]
            table = empty_table(framework, database)
            with killing(cluster, min(5, KILLS - len(killed))) as now:
                report = run(table, corpus, cluster.address)
            killed += now

            assert not report.failed
            assert table.rows() == rows[framework]

            again = run(table, corpus, cluster.address)
            assert len(again.unchanged) == 120
            assert table.rows() == rows[framework]


@pytest.mark.once
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_driver_that_is_killed_twice_is_completed_by_the_next_run(
    framework, corpus, expected, address
):
    database, rows = expected
    table = empty_table(framework, database)
    seen = [0]
    for least in (1, 400):
        given = [framework, database, table.name, "0.3", str(corpus), address]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.scale.killed_driver", *given]
        )
        try:
            while len(table.rows()) < least:
                assert process.poll() is None
                time.sleep(0.05)
        finally:
            process.kill()
            process.wait()
        seen.append(len(table.rows()))
    assert 0 < seen[1] < seen[2] < len(rows[framework])

    report = run(table, corpus, address)

    assert not report.failed
    assert table.rows() == rows[framework]
