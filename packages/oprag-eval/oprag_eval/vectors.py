"""Vectors of texts, made once and kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings

from oprag_eval.artifacts import Cache

Matrix = npt.NDArray[np.float32]

_BATCH = 256
"""Texts that are embedded, and written, at a time."""


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
        self._embeddings = embeddings
        self._cache = Cache(folder, "vectors")

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
