"""Trees, pages and gists that models make of documents, each made once and kept."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from oprag.errors import UnreadableFileError
from oprag.files import write_whole

Facts: TypeAlias = Mapping[str, Any]
"""JSON values by name."""


class Artifacts:
    """Made things by what they are made of.

    Args:
        folder: Where they are kept, one JSON file each; it is made when the first is
            written. None: in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._held: dict[str, bytes] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def made(
        self, kind: str, of: Facts, make: Callable[[], Awaitable[Facts]]
    ) -> dict[str, Any]:
        """Return a thing, made now if it never was.

        Another request for the same thing meanwhile waits for it.

        Args:
            kind: What it is, such as `raptor-tree`; part of the file's name.
            of: Everything that decides it, as JSON values: texts, settings, models.
            make: Makes it, as JSON values. Where it fails nothing is kept.

        Returns:
            The thing; a copy of one's own.
        """
        source = json.dumps(of, sort_keys=True, ensure_ascii=True)
        key = f"{kind}-{hashlib.sha256(source.encode('ascii')).hexdigest()}"
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                if (held := self._read(key)) is None:
                    held = json.dumps(await make(), sort_keys=True).encode("ascii")
                    self._write(key, held)
        finally:
            # Who waits has the lock in hand; who comes later finds the thing itself.
            self._locks.pop(key, None)
        try:
            return dict(json.loads(held))
        except (TypeError, ValueError) as error:
            path = str(self._path(key))
            message = f"{path} is damaged. Remove it; it is then made again."
            raise UnreadableFileError(message, path=path, reason="damaged") from error

    def _path(self, key: str) -> Path | None:
        return None if self._folder is None else self._folder / f"{key}.json"

    def _read(self, key: str) -> bytes | None:
        path = self._path(key)
        if path is None:
            return self._held.get(key)
        return path.read_bytes() if path.exists() else None

    def _write(self, key: str, made: bytes) -> None:
        path = self._path(key)
        if path is None:
            self._held[key] = made
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, made, shared=True)
