"""Runs of real processes: killed at any moment, or two of them in one folder."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.cli.conftest import tiny_model
from tests.evaluation.small import HARBOUR
from tests.kit.forked_commands import Commands
from tests.kit.openai_server import Reply, ScriptedServer

__all__ = ["tiny_model"]

KILLS = int(os.environ.get("OPRAG_RUN_KILLS", "2"))
QUESTIONS = 24
LASTING = {"answers.jsonl", "report.html", "run.json", "scores.jsonl", "summary.json"}


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    with Commands(tmp_path_factory.mktemp("said")) as forked:
        yield forked


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


def environment(server: ScriptedServer) -> dict[str, str]:
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.base_url}


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


def test_a_run_that_is_killed_again_and_again_asks_only_what_is_not_there(
    commands, given, files
):
    run, asked_again = files / "run", []

    def answer(request):
        if number(request) in recorded(run):
            asked_again.append(number(request))
        return Reply(f"in May, {number(request)}", delay=0.02)

    drawn, kills, moments = random.Random(7), KILLS, []  # noqa: S311 -- no secret
    with ScriptedServer(answer) as server:
        began = time.perf_counter()
        assert commands.run(given("run"), **environment(server)).code == 0
        seconds = time.perf_counter() - began
        whole = lasting(run)
        shutil.rmtree(run)
        while kills:
            process = commands.start(given("run"), **environment(server))
            # Before the first answer, at any answer, or while the report is written.
            answers = drawn.randint(-9, QUESTIONS + 9)
            while len(recorded(run)) < min(answers, QUESTIONS):
                assert commands.works(process), commands.wait(process).err
                time.sleep(0.002)
            time.sleep(0.05 if 0 < answers < QUESTIONS else drawn.uniform(0, seconds))
            os.kill(process, signal.SIGKILL)
            ended = commands.wait(process)
            assert ended.code in {0, -signal.SIGKILL}, ended.err
            kills -= ended.code != 0
            moments.append(len(recorded(run)))
            if ended.code == 0:
                assert lasting(run) == whole
            if len(recorded(run)) == QUESTIONS and drawn.random() < 0.7:
                shutil.rmtree(run)
        last = commands.run(given("run"), **environment(server))

    assert last.code == 0, last.err
    assert asked_again == []
    assert lasting(run) == whole
    assert not list(run.rglob("*.new"))
    print(f"Answers that were there after each kill: {moments}")  # noqa: T201


def test_of_two_runs_in_one_folder_one_asks_and_the_other_is_told(
    commands, given, files
):
    with ScriptedServer(lambda _: Reply("in May", delay=0.3)) as server:
        both = [commands.start(given("run"), **environment(server)) for _ in range(2)]
        ended = {process: commands.wait(process) for process in both}

    assert len(server.requests) == QUESTIONS
    first, second = sorted(both, key=lambda process: ended[process].code)
    assert [ended[first].code, ended[second].code] == [0, 1]
    assert ended[second].out == ""
    assert ended[second].err.endswith(
        f"Error: Another command is writing to {files / 'run'}, and nothing was "
        "asked. Wait until it has ended and give this command again: it goes on from "
        "there.\n"
    )
    assert len(recorded(files / "run")) == QUESTIONS


def test_what_a_killed_run_spent_counts_towards_the_cap(commands, given, files):
    cap = ["--price", "1000,1000", "--max-cost", "3", "--max-reply", "10"]
    with ScriptedServer(lambda _: Reply("in May", delay=0.05)) as server:
        process = commands.start(given("run", *cap), **environment(server))
        while len(recorded(files / "run")) < 4:
            assert commands.works(process), commands.wait(process).err
            time.sleep(0.01)
        os.kill(process, signal.SIGKILL)
        assert commands.wait(process).code == -signal.SIGKILL
        ended = commands.run(given("run", *cap), **environment(server))

    assert ended.code == 4, ended.err
    entries = (files / "run" / "spending.jsonl").read_text().splitlines()
    spent = [json.loads(entry) for entry in entries]
    tokens = sum(each["input_tokens"] + each["output_tokens"] for each in spent)
    assert 2 < tokens / 1000 <= 3
    assert 4 <= len(recorded(files / "run")) < QUESTIONS


@pytest.mark.parametrize("kind", ["sweep", "ask"])
def test_ctrl_c_ends_in_one_line_at_any_moment_and_keeps_what_is_there(
    commands, given, files, tiny_model, kind
):
    arguments = given("run")
    if kind == "ask":
        more = ["--model", "openai:scripted", "--embedding-model", str(tiny_model)]
        index = ["--directory", str(files / "index")]
        arguments = ["ask", str(files / "notes"), "When?", *more, *index]
    drawn = random.Random(3)  # noqa: S311 -- no secret
    with ScriptedServer(lambda _: Reply("in May", delay=0.2)) as server:
        for wait in (0.05, 0.4, drawn.uniform(0.5, 2)):
            process = commands.start(arguments, **environment(server))
            time.sleep(wait)
            os.kill(process, signal.SIGINT)
            ended = commands.wait(process)
            assert ended.code in {0, 130}, ended.err
            assert "Traceback" not in ended.err
            assert "Exception" not in ended.err
            if ended.code and ended.err:  # it may end before it has begun
                assert "Stopped." in ended.err.splitlines()[-1]
