"""One run at a time per store: a second one waits, and fails if it waits too long.

The lock is SQLite's on an empty file. It holds between threads and between processes,
on every system, and is gone with the process that held it, however that ended. It is
for one machine; between machines nothing is locked.

The files are in the user's home, a place where nobody else can put a folder first.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import stat
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from oprag.effects import Effect, Effects
from oprag.errors import IndexingError
from oprag.stores import ChunkStore

PATIENCE = 60.0
"""Seconds that a run waits for another one."""
_PAUSE = 0.05
"""Seconds between two looks."""


def acquire_lock(
    store: ChunkStore, written: object, *, patience: float = PATIENCE
) -> Effects[Any]:
    """Wait until nobody else indexes into the store, and keep others waiting.

    Returns:
        An object that is to be closed at the end of the run.
    """
    until = time.monotonic() + patience
    while (lock := _lock(store, written)) is None:
        if time.monotonic() > until:
            message = (
                f"Another run has been writing to {store.name} for {patience:g} "
                "seconds. Nothing was done. Index again when it has ended."
            )
            raise IndexingError(message, store=store.name)
        yield Effect(partial(time.sleep, _PAUSE), partial(asyncio.sleep, _PAUSE))
    return lock


def _lock(store: ChunkStore, written: object) -> Any:
    """Return a connection that locks until it is closed; None if the lock is taken."""
    import sqlite3  # here, because its import takes long

    own = f"{os.getpid()}-{id(written)}"
    name = f"oprag-{hashlib.sha256((store.place or own).encode()).hexdigest()[:32]}"
    where = f"file:{name}?mode=memory&cache=shared"  # nobody else sees it
    if store.place:
        where = (_lock_folder(store) / name).as_uri()
    connection = None
    try:
        connection = sqlite3.connect(
            where, uri=True, timeout=0, isolation_level=None, check_same_thread=False
        )
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        if "locked" in str(error):
            return None
        raise _unusable(store, where, str(error)) from error
    return connection


def _lock_folder(store: ChunkStore) -> Path:
    """Return the folder for locks; make it if it is missing.

    If the home cannot be written to, it is among the temporary files.

    Raises:
        IndexingError: It cannot be used, or is another user's.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"
    # No variable of a shell may decide the place: all processes of a user must agree.
    folder = Path(os.path.expanduser("~"), ".cache", "oprag", "locks")  # noqa: PTH111 -- `Path.home` fails where there is none
    try:
        try:
            return _own_folder(folder)
        except OSError as error:
            if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise
        folder = Path(tempfile.gettempdir(), f"oprag-locks-{user}")
        return _own_folder(folder)
    except OSError as error:
        raise _unusable(store, folder, error.strerror or str(error)) from error


def _own_folder(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if hasattr(os, "getuid"):
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise OSError(errno.ENOTDIR, "it is a link")
        if found.st_uid != os.getuid():
            raise OSError(errno.EPERM, "it belongs to another user")
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            folder.chmod(0o700)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OSError(errno.EACCES, "nothing can be written there")
    return folder


def _unusable(store: ChunkStore, where: object, reason: str) -> IndexingError:
    message = (
        f"The place for locks, {where}, cannot be used: {reason}. Nothing was done. "
        "Make it a folder of your own that you can write to, and index again."
    )
    return IndexingError(message, store=store.name)
