"""`oprag evaluate --ray ADDRESS`: the folder that the command writes without it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner, Result

from oprag.cli.app import app
from tests.cli.conftest import tiny_model
from tests.evaluation.small import HARBOUR, MILL
from tests.fresh_interpreter import run as run_fresh
from tests.scale.evaluation_runs import answer, files
from tests.scale.nodes import cluster_of
from tests.support.openai_server import ScriptedServer

__all__ = ["tiny_model"]


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """The model; nodes that are started later find it in their environment."""
    with ScriptedServer(answer) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("OPENAI_API_KEY", "none")
        yield server


@pytest.fixture(scope="module")
def address(server) -> Iterator[str]:
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
        *("--systems", "dos-rag,op-rag,self-route:k=1,raptor"),
        *("--embedding-model", str(tiny_model)),
    ]


def evaluate(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


@pytest.mark.parametrize("model", ["openai:scripted", "offline"])
def test_the_command_writes_the_same_with_and_without_a_cluster(
    given, server, address, model, tmp_path
):
    cluster, alone = tmp_path / "cluster", tmp_path / "alone"
    options = [*given, "--model", model]
    if model == "openai:scripted":
        options += ["--price", "1,2", "--max-cost", "10"]
    results, asked = [], []
    for folder, more in ((alone, []), (cluster, ["--ray", address])):
        before = len(server.requests)
        cache = folder.with_name(f"{folder.name}-cache")
        results.append(evaluate(*options, "--out", folder, "--cache", cache, *more))
        asked.append(len(server.requests) - before)

    assert [result.exit_code for result in results] == [0, 0]
    assert files(cluster) == files(alone)
    assert asked[0] == asked[1]
    told = [result.stdout.replace(str(cluster), str(alone)) for result in results]
    assert told[0] == told[1]


def test_where_no_cluster_answers_that_is_told_before_anything_is_written(
    given, tmp_path
):
    began = time.monotonic()
    result = evaluate(*given, "--out", tmp_path / "run", "--ray", "127.0.0.1:1")

    assert time.monotonic() - began < 5  # with the set, which is read first
    assert result.exit_code == 1
    assert "Error: Nothing answers at 127.0.0.1:1" in result.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_without_a_cluster_does_not_import_ray():
    code = "import oprag.cli.evaluation_run, oprag.scale; print('ray' in sys.modules)"

    assert run_fresh(code).strip() == "False"
