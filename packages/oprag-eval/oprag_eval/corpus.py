"""Chunks of everything that a set has, their vectors on disk: a corpus of any size."""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from oprag_eval.vectors import Matrix, Vectors, best_first

_BATCH = 256
"""Chunks that are embedded and written together."""
_BLOCK = 4_096
"""Vectors that are read and compared together."""


class ChunkPlace(NamedTuple):
    """Where a chunk stands."""

    document: int
    """Number of the document in its set."""
    splitting: int
    """Number of the splitting."""
    chunk: int
    """Number of the chunk in the document."""


class Corpus:
    """Vectors of chunks in a file that goes with the process, and where these stand.

    In memory are twelve bytes for each chunk, and while it is searched four more.

    Args:
        chunks: All of them in order: the place and the text.
        vectors: Embeds; the file is made in its folder.
    """

    def __init__(
        self, chunks: Iterable[tuple[ChunkPlace, str]], vectors: Vectors
    ) -> None:
        self._file = tempfile.TemporaryFile(dir=vectors.folder)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._places = array("I")
        self._width = 0
        waiting = iter(chunks)
        while batch := list(islice(waiting, _BATCH)):
            rows = vectors.of_texts([text for _, text in batch])
            self._width = rows.shape[1]
            self._file.write(rows.tobytes())
            for place, _ in batch:
                self._places.extend(place)

    def __len__(self) -> int:
        return len(self._places) // len(ChunkPlace._fields)

    def best(self, query: Matrix, k: int) -> list[tuple[ChunkPlace, float]]:
        """Find the chunks that are nearest to a query.

        Args:
            query: Its vector.
            k: How many at most.

        Returns:
            Places with the cosine, best first; of equals, those first that stand first.
        """
        scores = self._scores(query)
        among: Sequence[int] = range(len(scores))
        if k < len(scores):
            least = np.partition(scores, len(scores) - k)[len(scores) - k]
            among = np.flatnonzero(scores >= least).tolist()
        found = [among[n] for n in best_first(scores[among])[:k]]
        size = len(ChunkPlace._fields)
        return [
            (ChunkPlace(*self._places[n * size : (n + 1) * size]), float(scores[n]))
            for n in found
        ]

    def _scores(self, query: Matrix) -> Matrix:
        scores = np.empty(len(self), np.float32)
        held = np.empty((min(_BLOCK, len(scores)), self._width), np.float32)
        self._file.seek(0)
        for begin in range(0, len(scores), _BLOCK):
            block = scores[begin : begin + _BLOCK]
            rows = held[: len(block)]
            self._file.readinto(rows.data)
            np.matmul(rows, query, out=block)
        return scores
