"""Counts of long texts: every stretch of text is counted once in a process.

A document is read again with every question, each time inside another prompt. So a long
text is counted in pieces, which end where counts add up anyway, and the places are
chosen by what stands there: the same document has the same pieces in every prompt. Of a
counter of which no such place is known, the count of the whole text is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from hashlib import sha256
from itertools import pairwise
from threading import Lock
from typing import Generic, TypeVar
from zlib import crc32

_T = TypeVar("_T")

LONG = 10_000
"""Characters from which a text is long. Shorter ones are counted before they could be
looked up."""

_PIECE = 4_096
"""Characters of a piece where nothing divides it earlier."""
_FIRST_WORD = re.compile(r"(?:\A|\n)\S{0,40}[!-~](?= )")
_WORD_END = re.compile(r"[!-~](?= )")
_LOOKED_AT = 24
_ONE_IN = 16
_MOST_KEPT = 2**16
"""Pieces whose counts are kept: about 250 MB of text, in some 15 MB of memory."""


class Kept(Generic[_T]):
    """What is made of texts once in a process, however many threads ask for it.

    Of the texts themselves only hashes are kept.

    Args:
        most: How many of these things; then all are forgotten.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: dict[tuple[bytes, Hashable], _T] = {}
        self._making: dict[tuple[bytes, Hashable], Lock] = {}

    def get(self, text: str, of: Hashable, make: Callable[[], _T]) -> _T:
        """Return what was made before, or make it now.

        Args:
            text: The text.
            of: What else it depends on.
            make: Makes it, and never None. What it raises goes up, and nothing is
                kept then.
        """
        key = sha256(text.encode("utf-8", "surrogatepass")).digest(), of
        made = self._made.get(key)
        if made is not None:
            return made
        # Another thread may be at it: questions on one document begin together.
        with self._making.setdefault(key, Lock()):
            try:
                made = self._made.get(key)
                if made is None:
                    made = make()
                    if len(self._made) >= self._most:
                        self._made.clear()
                    self._made[key] = made
            finally:
                self._making.pop(key, None)
        return made


_counts: Kept[int] = Kept(_MOST_KEPT)


def kept_count(
    text: str, count: Callable[[str], int], counter: Hashable, *, additive: bool
) -> int:
    """Count a long text; what was counted of it before is looked up.

    Args:
        text: Any text; nothing of it is kept but hashes.
        count: Counts.
        counter: Whose counts these are: those of one are never taken for another's.
        additive: Whether counts add up before every space after a printable ASCII
            character.
    """
    places = _places(text) if additive else [0, len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    return sum(_counts.get(piece, counter, partial(count, piece)) for piece in pieces)


def _places(text: str) -> list[int]:
    """Where the pieces begin and end, each place before a space behind a word.

    Some of the first words of lines; and where a line is long, places as far apart as
    pieces are to be.
    """
    firsts = [0, *(found.end() for found in _FIRST_WORD.finditer(text)), len(text)]
    places = [0]
    for before, place, after in zip(firsts, firsts[1:], firsts[2:], strict=False):
        # Those around a long line as well, so that it is divided from its beginning.
        lonely = max(place - before, after - place) > _PIECE
        if lonely or _is_chosen(text, place):
            places += _between(text, places[-1], place)
            places.append(place)
    places += _between(text, places[-1], len(text))
    return [*places, len(text)]


def _is_chosen(text: str, place: int) -> bool:
    seen = text[place : place + _LOOKED_AT].encode("utf-8", "surrogatepass")
    return crc32(seen) % _ONE_IN == 0


def _between(text: str, start: int, end: int) -> Iterator[int]:
    """Places that divide a long stretch, counted from its beginning."""
    while end - start > _PIECE:
        found = _WORD_END.search(text, start + _PIECE, end)
        if found is None:
            return
        start = found.end()
        yield start
