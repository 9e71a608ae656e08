"""Vectors, trees, pages and gists that models make of texts, made once and kept."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from oprag.errors import UnreadableFileError

Facts: TypeAlias = Mapping[str, Any]
"""JSON values by name."""

_PATIENCE = 60.0
"""Seconds to wait while another run writes to the same file."""


class Cache:
    """Bytes by key, in a file of SQLite; without a folder in memory."""

    def __init__(self, folder: Path | None, name: str) -> None:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        path = ":memory:" if folder is None else str(folder / f"{name}.sqlite")
        try:
            self._file = sqlite3.connect(path, _PATIENCE, check_same_thread=False)
            self.close = weakref.finalize(self, self._file.close)
            """Close the file, if it was not forgotten."""
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS made (key BLOB PRIMARY KEY, value BLOB)"
            )
        except sqlite3.Error as error:
            message = f"{path} cannot be used: {error}. Remove it; it is made again."
            raise UnreadableFileError(message, path=path, reason=str(error)) from error

    def read(self, key: bytes) -> bytes | None:
        """Return what is kept; None where nothing is."""
        asked = self._file.execute("SELECT value FROM made WHERE key = ?", (key,))
        found: tuple[bytes] | None = asked.fetchone()
        return found and found[0]

    def write(self, made: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values by their keys, all of them or none."""
        with self._file:
            self._file.executemany("INSERT OR REPLACE INTO made VALUES (?, ?)", made)


class Artifacts:
    """Made things by what they are made of.

    Args:
        folder: Where they are kept; None: in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._cache = Cache(folder, "made")
        self._locks: dict[bytes, asyncio.Lock] = {}

    async def made(
        self, kind: str, of: Facts, make: Callable[[], Awaitable[Facts]]
    ) -> dict[str, Any]:
        """Return a thing, made now if it never was.

        Another request for the same thing meanwhile waits for it.

        Args:
            kind: What it is, such as `raptor-tree`.
            of: Everything that decides it, as JSON values: texts, settings, models.
            make: Makes it, as JSON values. Where it fails nothing is kept.

        Returns:
            The thing; a copy of one's own.
        """
        source = json.dumps([kind, of], sort_keys=True, ensure_ascii=True)
        key = hashlib.sha256(source.encode("ascii")).digest()
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                if (held := self._cache.read(key)) is None:
                    held = json.dumps(await make(), sort_keys=True).encode("ascii")
                    self._cache.write([(key, held)])
        finally:
            # Who waits has the lock in hand; who comes later finds the thing itself.
            self._locks.pop(key, None)
        return dict(json.loads(held))
