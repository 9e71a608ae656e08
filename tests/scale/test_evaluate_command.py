"""`oprag evaluate --ray ADDRESS`: the folder that the command writes without it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner, Result

from oprag.cli.app import app
from tests.cli.conftest import tiny_model
from tests.evaluation.small import HARBOUR, MILL
from tests.fresh_interpreter import run as run_fresh
from tests.scale.evaluation_runs import files, script, served
from tests.scale.nodes import cluster_of
from tests.support.openai_server import Request

__all__ = ["script", "served", "tiny_model"]


@pytest.fixture(scope="module", autouse=True)
def environment(served) -> Iterator[None]:
    """Name the model; nodes that are started later find it there, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", served[1])
        patch.setenv("OPENAI_API_KEY", "none")
        yield


@pytest.fixture(scope="module")
def address(environment) -> Iterator[str]:
    with cluster_of(2, 2) as cluster:
        yield cluster.address


@pytest.fixture(scope="module")
def given(tiny_model, tmp_path_factory) -> list[str]:
    """What every command here is given."""
    folder = tmp_path_factory.mktemp("letters")
    docs = [{"doc_id": x, "text": f"{HARBOUR} {x} {MILL}"} for x in "abcd"]
    questions = [
        {"question": f"What cost {n} crowns?", "question_id": str(n), "answers": ["x"]}
        | {"doc_id": "abcd"[n % 4]}
        for n in range(8)
    ]
    for name, lines in (("docs", docs), ("questions", questions)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)
    return [
        *("--data", f"jsonl={folder}", "--budgets", "150,250"),
        *("--embedding-model", str(tiny_model)),
    ]


def evaluate(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


@pytest.mark.parametrize("model", ["openai:scripted", "offline"])
def test_the_command_writes_the_same_with_and_without_a_cluster(
    given, script, address, model, tmp_path
):
    cluster, alone = tmp_path / "cluster", tmp_path / "alone"
    systems = "dos-rag,op-rag,self-route:k=1,raptor"
    options = [*given, "--systems", systems, "--model", model]
    if model == "openai:scripted":
        options += ["--price", "1,2", "--max-cost", "10"]
    results, asked = [], []
    for folder, more in ((alone, []), (cluster, ["--ray", address])):
        before = script.requests
        cache = folder.with_name(f"{folder.name}-cache")
        results.append(evaluate(*options, "--out", folder, "--cache", cache, *more))
        asked.append(script.requests - before)

    assert [result.exit_code for result in results] == [0, 0]
    assert files(cluster) == files(alone)
    assert asked[0] == asked[1]
    told = [result.stdout.replace(str(cluster), str(alone)) for result in results]
    assert told[0] == told[1]


def test_ctrl_c_keeps_what_is_answered_and_the_same_command_goes_on(
    given, script, address, tmp_path
):
    alone, cluster = tmp_path / "alone", tmp_path / "cluster"
    model = ["--model", "openai:scripted", "--concurrency", "2"]
    options = [*given, "--systems", "dos-rag,readagent", *model]
    stopped = ["--out", cluster, "--cache", tmp_path / "cache", "--ray", address]

    def interrupt(_: Request, number: int) -> None:
        if number == 12:
            os.kill(os.getpid(), signal.SIGINT)

    script.act = interrupt
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = evaluate(*options, *stopped)
    finally:
        signal.signal(signal.SIGINT, before)

    assert result.exit_code == 130
    kept = (cluster / "answers.jsonl").read_bytes().count(b"\n")
    assert f"Stopped. {kept} of 24 answers are kept in " in result.stderr
    assert evaluate(*options, *stopped).exit_code == 0
    assert evaluate(*options, "--out", alone, "--cache", tmp_path).exit_code == 0
    assert files(cluster) == files(alone)


def test_where_no_cluster_answers_that_is_told_before_anything_is_written(
    given, tmp_path
):
    began = time.monotonic()
    result = evaluate(*given, "--out", tmp_path / "run", "--ray", "127.0.0.1:1")

    assert time.monotonic() - began < 20  # with the set, which is read first
    assert result.exit_code == 1
    assert "Error: Nothing answers at 127.0.0.1:1" in result.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_without_a_cluster_does_not_import_ray():
    code = "import oprag.cli.evaluation_run, oprag.scale; print('ray' in sys.modules)"

    assert run_fresh(code).strip() == "False"
