"""Words counted, and as vectors that are the same on every run: shared is similar."""

import math
import zlib

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


def words(text: str) -> int:
    return len(text.split())
