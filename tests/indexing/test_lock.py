"""One run at a time per store: others wait, and say so."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from oprag.effects import arun_effects, run_effects
from oprag.errors import IndexingError
from oprag.indexing.lock import PATIENCE, acquire_lock
from tests.kit.fake_store import FakeStore

HOLD = """
import sys, time
from oprag.indexing.lock import acquire_lock
from oprag.effects import run_effects
from tests.kit.fake_store import FakeStore
store = FakeStore()
store.place = sys.argv[1]
lock = run_effects(acquire_lock(store, store))
print("held", flush=True)
time.sleep(60)
"""


def only_run(store: FakeStore, written: object, patience: float = PATIENCE):
    return closing(run_effects(acquire_lock(store, written, patience=patience)))


def store_at(place: str) -> FakeStore:
    store = FakeStore()
    store.place = place
    return store


@pytest.mark.parametrize("placed", [True, False], ids=["place", "object"])
def test_a_second_run_waits_and_is_told(placed, tmp_path):
    store, other = (store_at(str(tmp_path) * placed) for _ in range(2))
    written, others = object(), object()
    with only_run(store, written):
        began = time.monotonic()
        with (
            pytest.raises(IndexingError, match=r"to fake store for 0\.2 seconds"),
            only_run(store, written, patience=0.2),
        ):
            pass
        assert time.monotonic() - began >= 0.2
        with only_run(store_at(f"{tmp_path}2" * placed), others):
            pass  # another store is free
        if placed:  # the same one through another object is not
            with pytest.raises(IndexingError), only_run(other, others, patience=0):
                pass
    with only_run(store, written, patience=0):
        pass


async def test_waiting_does_not_block_the_event_loop(tmp_path):
    store = store_at(str(tmp_path))
    order = []

    async def run(name: str) -> None:
        with closing(await arun_effects(acquire_lock(store, store))):
            order.append(name)
            await asyncio.sleep(0.1)
            order.append(name)

    ticks = 0
    runs = asyncio.gather(run("a"), run("b"))
    while not runs.done():
        await asyncio.sleep(0.01)
        ticks += 1

    assert order in (["a", "a", "b", "b"], ["b", "b", "a", "a"])
    assert ticks > 5


async def test_who_is_cancelled_while_waiting_holds_nothing(tmp_path):
    store = store_at(str(tmp_path))

    async def run() -> None:
        with closing(await arun_effects(acquire_lock(store, store))):
            pass

    with only_run(store, store):
        waiting = asyncio.create_task(run())
        await asyncio.sleep(0.1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    with only_run(store, store, patience=0):
        pass


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """The folder for locks of another home; temporary files are beside it."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "home" / ".cache" / "oprag" / "locks"


def told(store: FakeStore) -> str:
    with pytest.raises(IndexingError) as caught, only_run(store, store):
        pass
    return str(caught.value)


def test_a_blocked_folder_for_locks_is_told_with_a_way_out(home, tmp_path):
    store = store_at(str(tmp_path))
    home.parent.mkdir(parents=True)
    home.write_text("a file")
    assert told(store) == (
        f"The place for locks, {home}, cannot be used: File exists. Nothing was done. "
        "Make it a folder of your own that you can write to, and index again."
    )
    home.unlink()
    with only_run(store, store):
        pass
    (lock,) = home.iterdir()
    lock.write_text("no lock, but a file of somebody's")
    assert "cannot be used: file is not a database. Nothing was done." in told(store)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no users")
def test_a_folder_for_locks_is_one_users_alone(home, tmp_path):
    store = store_at(str(tmp_path))
    home.parent.mkdir(parents=True)
    home.symlink_to(tmp_path)
    assert "cannot be used: it is a link." in told(store)
    home.unlink()
    home.mkdir()
    home.chmod(0o777)
    with only_run(store, store):
        assert home.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="by root")
def test_a_folder_that_another_user_made_first_is_not_used(home, tmp_path):
    store = store_at(str(tmp_path))
    temporary = tmp_path / "tmp" / f"oprag-locks-{os.getuid()}"
    temporary.mkdir()
    os.chown(temporary, 12345, 12345)
    with only_run(store, store), pytest.raises(IndexingError, match="Another run"):
        run_effects(acquire_lock(store, store, patience=0))  # it is in the home
    home.chmod(0o700)
    os.chown(home, 12345, 12345)
    assert f"{temporary}, cannot be used: it belongs to another user" in told(store)
    os.chown(temporary, os.getuid(), os.getgid())
    with only_run(store, store):
        assert any(temporary.iterdir())


def test_a_process_that_is_killed_leaves_the_store_free(tmp_path):
    store = store_at(str(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(IndexingError), only_run(store, store, patience=0):
            pass
        process.kill()
    with only_run(store, store, patience=1):
        pass
