"""Refuse vectors that no search can use, before a store is given them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import Any

from oprag.errors import ModelCallError, count_nouns
from oprag.indexing.plan import WantedChunk
from oprag.metadata import DOC_URI


class VectorCheck:
    """Checks the vectors of one run, all by the same length.

    A store in memory takes any vector, and the next run finds the chunk unchanged. A
    chunk that is refused is not stored, so that the next run tries it again.

    Args:
        model: The embedding model's name in messages.
        length: Numbers of a vector that the store holds; None if not known. Then the
            length of most of the first vectors counts.
    """

    def __init__(self, model: object, length: int | None = None) -> None:
        self._model = type(model).__name__
        self._length = length

    def check(
        self, chunks: Sequence[WantedChunk], vectors: Sequence[Any], wanted: int
    ) -> None:
        """Refuse vectors of which one is missing, not finite, or of another length.

        Args:
            chunks: The chunks that are written together.
            vectors: The vectors that the model gave for them, or for some of them.
            wanted: How many vectors it was asked for.

        Raises:
            ModelCallError: It names the documents, and how many vectors are wrong.
        """
        if self._length is None and vectors:
            lengths = Counter(map(len, vectors))
            self._length = lengths.most_common(1)[0][0]
        other = [len(each) for each in vectors if len(each) != self._length]
        wrong = []
        if len(vectors) != wanted:
            wrong.append(f"{len(vectors):,} for {count_nouns(wanted, 'text')}")
        if broken := sum(not _is_finite(each) for each in vectors):
            wrong.append(f"{broken:,} of {wanted:,} with NaN or infinite numbers")
        if other:
            wrong.append(
                f"{len(other):,} of {wanted:,} with another length "
                f"({other[0]:,} numbers, and not {self._length:,})"
            )
        if not wrong:
            return
        names = dict.fromkeys(str(chunk.metadata.get(DOC_URI)) for chunk in chunks)
        message = (
            f"{self._model} gave vectors for {', '.join(map(repr, names))} that no "
            f"search can use: {', and '.join(wrong)}. None of them was stored. Index "
            "again with a model that gives finite numbers, as many as in the store."
        )
        raise ModelCallError(message, model=self._model)


def _is_finite(vector: Sequence[float]) -> bool:
    # A sum is fast. But a sum of finite numbers may be infinite too.
    return isfinite(sum(vector)) or all(map(isfinite, vector))
