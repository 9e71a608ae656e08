"""Vectors, trees, pages and gists that models make of texts, made once and kept."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings

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
        """Return the value of a key; None if there is none."""
        asked = self._file.execute("SELECT value FROM made WHERE key = ?", (key,))
        found: tuple[bytes] | None = asked.fetchone()
        return found and found[0]

    def write(self, made: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values by their keys, all of them or none."""
        with self._file:
            self._file.executemany("INSERT OR REPLACE INTO made VALUES (?, ?)", made)


class Artifacts:
    """Made things by the facts they are made of; without a folder in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._cache = Cache(folder, "made")
        self._locks: dict[bytes, asyncio.Lock] = {}

    async def made(
        self, kind: str, of: Facts, make: Callable[[], Awaitable[Facts]]
    ) -> dict[str, Any]:
        """Return a copy of a thing, made now if it never was.

        `of` is everything that decides it: texts, settings, models. Another request for
        the same thing meanwhile waits for it. If making fails, nothing is kept.
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
            # Tasks that wait have the lock in hand; later ones find the thing itself.
            self._locks.pop(key, None)
        return dict(json.loads(held))


Matrix = npt.NDArray[np.float32]

_BATCH = 256
"""Texts that are embedded, and written, at a time."""


class Vectors:
    """Unit vectors of an embedding model, from a file if they are known.

    Args:
        embeddings: The model.
        name: Tells it from other models: its vectors are kept under this name.
        folder: The folder of the file. None: in memory.
    """

    def __init__(
        self, embeddings: Embeddings, *, name: str, folder: Path | None = None
    ) -> None:
        self.name = name
        self._embeddings = embeddings
        self._cache = Cache(folder, "vectors")

    def of_texts(self, texts: Sequence[str]) -> Matrix:
        """Return one row per text, in the order of the texts, each of length 1."""
        return self._rows(texts, "text", self._embeddings.embed_documents)

    def of_query(self, query: str) -> Matrix:
        """Return the vector to search with, of length 1."""
        embed = self._embeddings.embed_query
        row: Matrix = self._rows([query], "query", lambda one: [embed(one[0])])[0]
        return row

    def close(self) -> None:
        """Close the file."""
        self._cache.close()

    def _rows(self, texts: Sequence[str], kind: str, embed: Any) -> Matrix:
        keys = [self._key(text, kind) for text in texts]
        known = {key: row for key in keys if (row := self._cache.read(key)) is not None}
        missing = {
            key: text for key, text in zip(keys, texts, strict=True) if key not in known
        }
        waiting = list(missing.items())
        for begin in range(0, len(waiting), _BATCH):
            batch = waiting[begin : begin + _BATCH]
            vectors = np.asarray(embed([text for _, text in batch]), dtype=np.float32)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
            made = {
                key: row.tobytes() for (key, _), row in zip(batch, vectors, strict=True)
            }
            self._cache.write(made.items())
            known |= made
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])

    def _key(self, text: str, kind: str) -> bytes:
        marked = f"{self.name}\0{kind}\0{text}"
        return hashlib.sha256(marked.encode("utf-8", "surrogatepass")).digest()


def best_first(scores: Sequence[float] | Matrix) -> list[int]:
    """Return the places of scores, the highest first; equal ones in their order."""
    order: list[int] = np.argsort(-np.asarray(scores), kind="stable").tolist()
    return order
