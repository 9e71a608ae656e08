"""Vectors of texts, made once and kept on disk."""

from __future__ import annotations

import hashlib
import sqlite3
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings

from oprag.errors import UnreadableFileError

Matrix = npt.NDArray[np.float32]

_BATCH = 256
"""Texts that are embedded, and written, at a time."""
_PATIENCE = 60.0
"""Seconds to wait while another run writes to the same file."""


class Vectors:
    """Unit vectors of an embedding model, from a file where they are known.

    Args:
        embeddings: The model.
        name: What tells it from other models: its vectors are kept under this name.
        folder: Where the file is kept; None: in memory.

    Raises:
        UnreadableFileError: The file is damaged, or cannot be opened.
    """

    def __init__(
        self, embeddings: Embeddings, *, name: str, folder: Path | None = None
    ) -> None:
        self.name = name
        self.folder = folder
        self._embeddings = embeddings
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        path = ":memory:" if folder is None else str(folder / "vectors.sqlite")
        try:
            self._file = sqlite3.connect(path, _PATIENCE, check_same_thread=False)
            weakref.finalize(self, self._file.close)  # for those who forget
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)"
            )
        except sqlite3.Error as error:
            message = f"{path} cannot be used: {error}. Remove it; it is made again."
            raise UnreadableFileError(message, path=path, reason=str(error)) from error

    def of_texts(self, texts: Sequence[str]) -> Matrix:
        """One row per text, in the order of the texts, each of length 1."""
        return self._rows(texts, "text", self._embeddings.embed_documents)

    def of_query(self, query: str) -> Matrix:
        """The vector to search with, of length 1."""
        embed = self._embeddings.embed_query
        row: Matrix = self._rows([query], "query", lambda one: [embed(one[0])])[0]
        return row

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _rows(self, texts: Sequence[str], kind: str, embed: Any) -> Matrix:
        keys = [self._key(text, kind) for text in texts]
        known = {key: row for key in keys if (row := self._read(key)) is not None}
        missing = {
            key: text for key, text in zip(keys, texts, strict=True) if key not in known
        }
        waiting = list(missing.items())
        for begin in range(0, len(waiting), _BATCH):
            batch = waiting[begin : begin + _BATCH]
            vectors = np.asarray(embed([text for _, text in batch]), dtype=np.float32)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
            rows = zip((key for key, _ in batch), vectors, strict=True)
            for key, row in rows:
                known[key] = row
                self._file.execute(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)", (key, row.tobytes())
                )
            self._file.commit()
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def _key(self, text: str, kind: str) -> bytes:
        marked = f"{self.name}\0{kind}\0{text}"
        return hashlib.sha256(marked.encode("utf-8", "surrogatepass")).digest()

    def _read(self, key: bytes) -> Matrix | None:
        found = self._file.execute(
            "SELECT vector FROM vectors WHERE key = ?", (key,)
        ).fetchone()
        return None if found is None else np.frombuffer(found[0], dtype=np.float32)


def best_first(scores: Sequence[float] | Matrix) -> list[int]:
    """Return the places of scores, the highest first; equal ones in their order."""
    order: list[int] = np.argsort(-np.asarray(scores), kind="stable").tolist()
    return order
