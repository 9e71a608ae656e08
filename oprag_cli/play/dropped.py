"""The folder of dropped files: it goes with the program, or with the next one."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

_PREFIX = "oprag-play-"
_HELD = "held"
"""The file that a program keeps locked in its folder for as long as it runs."""
_WHILE_IT_IS_MADE = 60.0
"""Seconds that a new folder may be without that file."""
_PATIENCE = 2.0
"""Seconds to remove a folder into which something is still being written."""


def make_folder() -> tuple[Path, IO[bytes]]:
    """Make a folder for dropped files; it is ours until the second value is closed."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    held = (folder / _HELD).open("wb")
    _lock(held)
    return folder, held


def remove_folder(folder: Path) -> None:
    """Remove a folder, even while something is still being written into it."""
    end = time.monotonic() + _PATIENCE
    while folder.exists() and time.monotonic() < end:
        shutil.rmtree(folder, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of programs that were killed before they could do it."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _is_ours(folder) and not _is_held(folder):
            remove_folder(folder)


@contextmanager
def end_in_good_order() -> Iterator[None]:
    """Let SIGTERM and a closed terminal end the program as Ctrl-C does: step by step.

    A server that is told to stop hands the signal on once it has stopped. Then this
    ends the program, and the code in `finally` is run.
    """
    handlers = {signal.SIGTERM: _end}
    if hasattr(signal, "SIGHUP"):  # Windows has none
        handlers[signal.SIGHUP] = _hand_on
    before = {each: signal.signal(each, how) for each, how in handlers.items()}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _end(number: int, frame: FrameType | None) -> None:
    del frame
    sys.exit(128 + number)


def _hand_on(number: int, frame: FrameType | None) -> None:
    """Treat a closed terminal as SIGTERM, which a server knows."""
    del number, frame
    signal.raise_signal(signal.SIGTERM)


def _is_ours(folder: Path) -> bool:
    """Return whether it is a folder that a program of this user has made."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()


def _is_held(folder: Path) -> bool:
    try:
        with (folder / _HELD).open("rb+") as file:
            _lock(file)
    except FileNotFoundError:
        # Another program makes it at this moment, or is being killed while it does.
        return time.time() - folder.stat().st_mtime < _WHILE_IT_IS_MADE
    except OSError:
        return True
    return False


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        """Lock a file until it is closed, even by a kill.

        Raises:
            OSError: Another program holds it.
        """
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
