"""Bags of words as vectors, the same on every run: shared words are similarity."""

from __future__ import annotations

import math
import zlib

__all__ = ["DIMENSIONS", "word_vector"]

_WORDS = 256
DIMENSIONS = _WORDS + 1


def word_vector(text: str, own: float = 0.0) -> list[float]:
    """The words of a text as a vector of length 1, which `own` turns a little."""
    vector = [0.0] * _WORDS
    for word in text.lower().split():
        vector[zlib.crc32(word.strip(".,:;?!§").encode()) % _WORDS] += 1.0
    vector.append(own)
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
