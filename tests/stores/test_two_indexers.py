"""Two runs at once into one store: it holds what one run leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from oprag.indexing import IndexingReport
from tests.stores.test_indexing_everywhere import AFTER, BEFORE, assert_holds, stored

__all__ = ["stored"]

pytestmark = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect in the local Qdrant"
)
ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
@pytest.mark.parametrize("kind", ["chroma", "postgres"])
def test_two_processes_leave_what_one_does(request, framework, kind, tmp_path):
    places = [str(tmp_path / name) for name in ("clean", "both")]
    if kind == "postgres":
        make = request.getfixturevalue("new_database")
        places = [make() for _ in places]
    clean, store = places
    arguments = [framework, kind, clean, str(tmp_path / "texts"), store]

    done = subprocess.run(
        [sys.executable, "-m", "tests.kit.two_indexers", *arguments],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    both = {"did all", "found it done"}
    assert [{*said[:2]}, {*said[3:5]}] == [both] * 2
    assert said[2::3] == ["as clean"] * 2


def test_threads_wait_for_each_other(stored):
    stored.index(BEFORE)
    reports: list[IndexingReport] = []
    threads = [
        threading.Thread(
            target=lambda: reports.append(stored.index(AFTER, batch_size=7))
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    added = sorted(bool(report.chunks_added) for report in reports)
    assert added == [False, False, True]
    stored.index(AFTER, remove_missing=True)
    assert_holds(stored, AFTER)
