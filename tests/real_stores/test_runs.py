"""Runs of real processes: killed at any moment, or two of them in one folder."""

import contextlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from oprag_cli import main
from tests.cli.conftest import tiny_model
from tests.evaluation.small import HARBOUR
from tests.kit.forks import FORKS
from tests.kit.openai_server import Reply, ScriptedServer

__all__ = ["tiny_model"]

KILLS = int(os.environ.get("OPRAG_RUN_KILLS", "2"))
QUESTIONS = 24
LASTING = {"answers.jsonl", "report.html", "run.json", "scores.jsonl", "summary.json"}


class Ended(NamedTuple):
    code: int
    """The exit code; less than 0: the signal that killed it."""
    out: str
    err: str


class Command:
    """A command of `oprag` that has begun in a process of its own."""

    number = itertools.count()

    def __init__(self, server: ScriptedServer, arguments: list[str], folder: Path):
        said = folder / f"said-{next(self.number)}"
        self._said = [f"{said}-{place}" for place in (1, 2)]
        keys = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.base_url}
        for path in self._said:
            Path(path).touch()
        began = FORKS.Event()
        given = (arguments, keys, self._said, began)
        self._process = FORKS.Process(target=run_command, args=given)
        self._process.start()
        assert began.wait(60)

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def send(self, number: int) -> Ended:
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.kill(self._process.pid, number)
        return self.end()

    def end(self) -> Ended:
        self._process.join()
        said = [Path(path).read_text() for path in self._said]
        return Ended(self._process.exitcode, *said)


def run_command(
    arguments: list[str], environment: dict[str, str], said: list[str], began: Any
) -> None:
    os.environ.update(environment)
    for place, path in enumerate(said, 1):
        os.dup2(os.open(path, os.O_WRONLY), place)
    sys.argv = ["oprag", *arguments]
    began.set()
    main()


@pytest.fixture
def files(tmp_path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "harbour.txt").write_text(HARBOUR)
    rows = [f"What about number {n:03}?,in May,harbour.txt" for n in range(QUESTIONS)]
    (tmp_path / "q.csv").write_text("\n".join(["question,answer,document", *rows]))
    return tmp_path


@pytest.fixture
def given(files, tiny_model):
    """The arguments of a run in a folder."""

    def arguments(out: str, *more: str) -> list[str]:
        notes, asked = str(files / "notes"), str(files / "q.csv")
        fixed = ["--systems", "dos-rag", "--budgets", "100"]
        fixed += ["--model", "openai:scripted", "--embedding-model", str(tiny_model)]
        places = ["--out", str(files / out), "--cache", str(files / "cache")]
        return ["sweep", notes, "--questions", asked, *fixed, *places, *more]

    return arguments


def number(request) -> str:
    return re.findall(r"What about number (\d+)", request.prompt)[-1]


def recorded(folder: Path) -> set[str]:
    path = folder / "answers.jsonl"
    held = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return {f"{int(json.loads(line)['question_id']) - 1:03}" for line in held}


def lasting(folder: Path) -> dict[str, bytes]:
    found = {
        path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()
    }
    return {name: found[name] for name in LASTING}


@pytest.mark.once
def test_a_run_that_is_killed_again_and_again_asks_only_what_is_not_there(given, files):
    run, asked_again = files / "run", []

    def answer(request):
        if number(request) in recorded(run):
            asked_again.append(number(request))
        return Reply(f"in May, {number(request)}", delay=0.02)

    drawn, kills, moments = random.Random(7), KILLS, []  # noqa: S311 -- no secret
    with ScriptedServer(answer) as server:
        began = time.perf_counter()
        assert Command(server, given("run"), files).end().code == 0
        seconds = time.perf_counter() - began
        whole = lasting(run)
        shutil.rmtree(run)
        while kills:
            process = Command(server, given("run"), files)
            # Before the first answer, at any answer, or while the report is written.
            answers = drawn.randint(-9, QUESTIONS + 9)
            while len(recorded(run)) < min(answers, QUESTIONS):
                assert process.is_alive, process.end().err
                time.sleep(0.002)
            time.sleep(0.05 if 0 < answers < QUESTIONS else drawn.uniform(0, seconds))
            ended = process.send(signal.SIGKILL)
            assert ended.code in {0, -signal.SIGKILL}, ended.err
            kills -= ended.code != 0
            moments.append(len(recorded(run)))
            if ended.code == 0:
                assert lasting(run) == whole
            if len(recorded(run)) == QUESTIONS and drawn.random() < 0.7:
                shutil.rmtree(run)
        last = Command(server, given("run"), files).end()

    assert last.code == 0, last.err
    assert asked_again == []
    assert lasting(run) == whole
    assert not list(run.rglob("*.new"))
    print(f"Answers that were there after each kill: {moments}")  # noqa: T201


@pytest.mark.once
def test_of_two_runs_in_one_folder_one_asks_and_the_other_is_told(given, files):
    with ScriptedServer(lambda _: Reply("in May", delay=0.3)) as server:
        both = [Command(server, given("run"), files) for _ in range(2)]
        first, second = sorted(process.end() for process in both)

    assert len(server.requests) == QUESTIONS
    assert [first.code, second.code] == [0, 1]
    assert second.out == ""
    assert f"Error: Another command is writing to {files / 'run'}, and" in second.err
    assert len(recorded(files / "run")) == QUESTIONS


@pytest.mark.once
@pytest.mark.parametrize("kind", ["sweep", "ask"])
def test_ctrl_c_ends_in_one_line_at_any_moment_and_keeps_what_is_there(
    given, files, tiny_model, kind
):
    arguments = given("run")
    if kind == "ask":
        more = ["--model", "openai:scripted", "--embedding-model", str(tiny_model)]
        index = ["--directory", str(files / "index")]
        arguments = ["ask", str(files / "notes"), "When?", *more, *index]
    drawn = random.Random(3)  # noqa: S311 -- no secret
    with ScriptedServer(lambda _: Reply("in May", delay=0.2)) as server:
        for wait in (0.05, 0.4, drawn.uniform(0.5, 2)):
            process = Command(server, arguments, files)
            time.sleep(wait)
            ended = process.send(signal.SIGINT)
            assert ended.code in {0, 130}, ended.err
            assert "Traceback" not in ended.err
            assert "Exception" not in ended.err
            if ended.code and ended.err:  # it may end before it has begun
                assert "Stopped." in ended.err.splitlines()[-1]
