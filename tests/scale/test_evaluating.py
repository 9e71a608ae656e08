"""Evaluation on a cluster: the folder of one process, whatever dies meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oprag.calls import Price
from oprag.errors import ModelCallError
from oprag.evaluation.running.limits import Spending
from oprag.scale import connected
from tests.scale.evaluation_runs import (
    REPLY,
    SYSTEMS,
    Embedded,
    count_words,
    evaluate,
    files,
    script,
    served,
    unusable_bench,
)
from tests.scale.nodes import cluster_of
from tests.support.openai_server import Request

__all__ = ["script", "served"]

ROOT = Path(__file__).parents[2]
CALLS = 16 * 5 + 20
"""Questions of two systems at two budgets and one without, and what is made of four
documents: where two pages end and three gists each."""


@pytest.fixture(scope="module")
def cluster(served) -> Iterator[Any]:
    """Two nodes that say that they have eight cores each."""
    with cluster_of(2, 8) as cluster:
        yield cluster


@pytest.fixture
def ray(cluster) -> Iterator[Any]:
    with connected(cluster.address) as ray:
        yield ray


@pytest.fixture(scope="module")
def whole(served, tmp_path_factory) -> dict[str, bytes]:
    """What one process writes."""
    folder = tmp_path_factory.mktemp("whole")
    assert evaluate(folder, served[1]).asked == 16 * 5
    assert served[0].requests == CALLS
    return files(folder / "run")


@pytest.mark.parametrize("workers", [1, 4, 16])
def test_any_number_of_workers_writes_what_one_process_writes(
    whole, served, script, ray, workers, tmp_path
):
    script.together = workers
    report = evaluate(tmp_path, served[1], ray=ray, workers=workers)

    assert script.together == workers
    assert report.complete
    assert files(tmp_path / "run") == whole
    assert script.requests == CALLS  # what is made of a document is made once


def test_the_offline_reader_replies_the_same_and_the_same_texts_are_embedded_together(
    ray, tmp_path
):
    one, two, here, there = tmp_path / "one", tmp_path / "two", Embedded(), Embedded()
    alone = evaluate(one, embedded=here)
    report = evaluate(two, ray=ray, workers=2, embedded=there)

    assert alone.asked == report.asked == 16 * 5
    assert files(two / "run") == files(one / "run")
    assert here.batches == there.batches


def test_what_a_killed_worker_was_asked_another_answers(
    whole, served, script, ray, tmp_path
):
    killed = set()

    def kill(request: Request, number: int) -> None:
        if number in {5, 30, 31, 60}:  # the first while gists are made
            killed.add(request.headers["x-worker"])
            os.kill(int(request.headers["x-worker"]), signal.SIGKILL)

    script.act = kill
    report = evaluate(tmp_path, served[1], ray=ray, workers=4)

    assert len(killed) >= 3
    assert report.complete
    assert files(tmp_path / "run") == whole


def test_what_a_removed_node_was_asked_the_others_answer(
    whole, served, script, cluster, ray, tmp_path
):
    node = cluster.add_node(num_cpus=4, object_store_memory=100 * 2**20)
    cluster.wait_for_nodes()
    (raylet,) = node.all_processes["raylet"]
    removed = []

    def remove(request: Request, _: int) -> None:
        if request.headers["x-raylet"] == str(raylet.process.pid) and not removed:
            removed.append(request)
            cluster.remove_node(node, allow_graceful=False)

    script.act = remove
    report = evaluate(tmp_path, served[1], ray=ray, workers=6)

    assert removed
    assert report.complete
    assert files(tmp_path / "run") == whole


def test_a_run_whose_driver_is_killed_goes_on_with_its_account(
    whole, served, script, cluster, ray, tmp_path
):
    code = (
        "import sys; from pathlib import Path; from oprag.scale import connected\n"
        "from tests.scale.evaluation_runs import evaluate\n"
        "with connected(sys.argv[1]) as ray:\n"
        "    evaluate(Path(sys.argv[2]), sys.argv[3], ray=ray, workers=4)\n"
    )
    given = [cluster.address, str(tmp_path), served[1]]
    driver = subprocess.Popen([sys.executable, "-c", code, *given], cwd=ROOT)
    answers = tmp_path / "run" / "answers.jsonl"
    while driver.poll() is None:
        if answers.exists() and answers.read_bytes().count(b"\n") >= 20:
            driver.kill()
            driver.wait()
        time.sleep(0.005)
    assert driver.returncode == -signal.SIGKILL
    kept = answers.read_bytes().count(b"\n")
    assert 20 <= kept < 16 * 5
    spent = len((tmp_path / "spent.jsonl").read_text().splitlines())
    assert spent >= kept

    report = evaluate(tmp_path, served[1], ray=ray, workers=4)

    assert (report.known, report.asked) == (kept, 16 * 5 - kept)
    assert files(tmp_path / "run") == whole
    assert CALLS <= script.requests <= CALLS + 16
    again = Spending(count_words, record=tmp_path / "spent.jsonl")
    assert CALLS <= again.usage.output_tokens // REPLY <= script.requests


@pytest.mark.parametrize("killed", [None, 10])
def test_a_cap_on_money_holds_over_the_cluster_to_the_last_request(
    served, script, ray, tmp_path, killed
):
    def kill(request: Request, number: int) -> None:
        if number == killed:
            os.kill(int(request.headers["x-worker"]), signal.SIGKILL)

    def account(cap: float) -> Spending:
        price = Price(0.0, 0.0, 1e6)  # each token of a reply costs one
        record = tmp_path / "spent.jsonl"
        return Spending(count_words, max_cost=cap, price=price, record=record)

    script.act = kill
    few = account(37.5 * REPLY)
    report = evaluate(tmp_path, served[1], ray=ray, workers=4, spending=few)

    assert report.stopped is not None
    assert few.cost == 37 * REPLY
    # Of a worker that dies also those calls count that it had leave to send.
    assert 37 - 4 * bool(killed) <= script.requests <= 37
    more = account(200 * REPLY)
    assert evaluate(tmp_path, served[1], spending=more).complete
    assert more.cost >= max(script.requests, CALLS) * REPLY


def test_what_kills_one_worker_after_the_other_is_an_error_of_the_question(
    served, script, ray, tmp_path
):
    def kill(request: Request, _: int) -> None:
        os.kill(int(request.headers["x-worker"]), signal.SIGKILL)

    script.act = kill
    report = evaluate(
        tmp_path, served[1], ray=ray, workers=1, questions=1, systems=SYSTEMS[2:]
    )

    (error,) = report.errors
    assert script.requests == 3
    assert (error["question_id"], error["error"]) == ("q0", "ClusterError")
    assert "Workers on the cluster died" in error["message"]


def test_what_a_worker_cannot_be_made_with_is_told_as_it_is(ray, tmp_path):
    nowhere = "http://127.0.0.1:1/v1"

    with pytest.raises(ModelCallError, match="no key here") as caught:
        evaluate(tmp_path, nowhere, ray=ray, workers=2, made_by=unusable_bench)
    assert caught.value.model == "openai:scripted"
