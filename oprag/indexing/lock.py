"""One run at a time per store: a second one waits, and fails if it waits too long.

The lock is SQLite's on an empty file: it holds between threads and between processes,
on every system, and is gone with the process that held it, however that ended. It is
one machine's; between machines nothing is locked.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from oprag.documents import ChunkStore
from oprag.errors import IndexingError
from oprag.tokens import Do, Steps

PATIENCE = 60.0
"""Seconds that a run waits for another one."""
_PAUSE = 0.05
"""Seconds between two looks."""


def taken(
    store: ChunkStore, written: object, *, patience: float = PATIENCE
) -> Steps[Any]:
    """Wait until nobody else indexes into the store, and keep others waiting.

    Returns:
        What is to be closed at the end of the run.
    """
    until = time.monotonic() + patience
    while (lock := _lock(store, written)) is None:
        if time.monotonic() > until:
            message = (
                f"Another run has been writing to {store.name} for {patience:g} "
                "seconds. Nothing was done. Index again when it has ended."
            )
            raise IndexingError(message, store=store.name)
        yield Do(partial(time.sleep, _PAUSE), partial(asyncio.sleep, _PAUSE))
    return lock


def _lock(store: ChunkStore, written: object) -> Any:
    """A connection that holds the lock until it is closed; None: another one does."""
    import sqlite3  # here, because its import takes long

    own = f"{os.getpid()}-{id(written)}"
    name = f"oprag-{hashlib.sha256((store.place or own).encode()).hexdigest()[:32]}"
    if store.place:
        user = os.getuid() if hasattr(os, "getuid") else "user"
        folder = Path(tempfile.gettempdir(), f"oprag-locks-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        where = (folder / name).as_uri()
    else:  # nobody else sees it
        where = f"file:{name}?mode=memory&cache=shared"
    connection = sqlite3.connect(
        where, uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        connection.close()
        if "locked" in str(error):
            return None
        raise
    return connection
