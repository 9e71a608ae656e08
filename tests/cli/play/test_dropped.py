"""Dropped files go with the program, however it ends, and nobody else's do."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import pytest

from oprag_cli.play.dropped import make_folder, remove_folder, sweep

pytestmark = pytest.mark.once

PATIENCE = 60


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where temporary folders are made, by this process and those that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield tmp_path
    monkeypatch.setattr(tempfile, "tempdir", None)


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("oprag-play-*"))


@pytest.fixture
def started(folder, tiny_model):
    """Start the program, which holds a folder as soon as it answers."""
    running = []

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "oprag_cli", "play", "--no-browser"]
        command += ["--port", "0"]
        named = ["--embedding-model", str(tiny_model), "--directory", str(folder / "i")]
        process = subprocess.Popen(
            [*command, *named],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        )
        running.append(process)
        address = process.stderr.readline().split()[2]
        end = time.monotonic() + PATIENCE
        while not answers(address):
            assert time.monotonic() < end
            time.sleep(0.1)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def answers(address: str) -> bool:
    try:
        return httpx.get(address).is_success
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_the_program_deletes_what_was_dropped(folder, started, name):
    process = started()
    (own,) = kept(folder)
    (own / "tab").mkdir()
    (own / "tab" / "dropped.txt").write_text("private")

    process.send_signal(signal.Signals[name])
    process.wait(PATIENCE)

    assert kept(folder) == []


def test_the_next_start_sweeps_what_a_kill_left_and_nothing_of_a_running_one(
    folder, started
):
    killed, running = started(), started()
    assert len(kept(folder)) == 2
    for own in kept(folder):
        (own / "dropped.txt").write_text("private")
    killed.kill()
    killed.wait()

    started()

    assert running.poll() is None
    left = [own for own in kept(folder) if (own / "dropped.txt").exists()]
    assert len(left) == 1
    assert len(kept(folder)) == 2


def test_a_folder_is_swept_as_soon_as_nobody_holds_it(folder):
    own, held = make_folder()
    sweep()
    assert own.is_dir()
    held.close()
    sweep()
    assert not own.exists()


def test_what_only_bears_the_name_is_left(folder):
    (folder / "oprag-play-file").write_text("a file")
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "held").write_text("")
    (folder / "oprag-play-link").symlink_to(folder / "elsewhere")
    (folder / "oprag-play-new").mkdir()  # another program is about to hold it

    sweep()

    assert [path.name for path in kept(folder)] == [
        "oprag-play-file",
        "oprag-play-link",
        "oprag-play-new",
    ]
    assert (folder / "elsewhere" / "held").exists()


def test_a_folder_into_which_something_is_written_is_removed_all_the_same(
    folder, monkeypatch
):
    from threading import Event, Thread

    own, held = make_folder()
    ended = Event()

    def write() -> None:
        number = 0
        while own.exists() and not ended.is_set():
            number += 1
            try:
                (own / f"{number}.txt").write_text("late")
            except OSError:
                return

    writer = Thread(target=write)
    writer.start()
    held.close()
    remove_folder(own)
    ended.set()
    writer.join()

    assert not own.exists()
