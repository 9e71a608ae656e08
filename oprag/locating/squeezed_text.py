"""A text without its white space, and the way back into the text itself.

Splitters strip, join and re-join with their own white space, so a chunk and its source
agree in everything but that. White space is defined by `str.isspace`.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

_ASCII_SPACE = bytes(code for code in range(128) if chr(code).isspace())

_BLOCK = 512
"""Characters squeezed at a time: the longest way walked to find one again."""


def squeeze(text: str) -> str:
    """Return the text without its white space, the other characters in order."""
    if text.isascii():
        # Three times as fast as the general way; most text is ASCII.
        return text.encode("ascii").translate(None, _ASCII_SPACE).decode("ascii")
    return "".join(text.split())


class SqueezedText:
    """A text, the same without white space, and the offsets between the two.

    Args:
        text: Any text. Takes time linear in its length.
    """

    text: str
    """The given text, unchanged."""
    flat: str
    """The text without white space."""

    def __init__(self, text: str) -> None:
        blocks = [
            squeeze(text[start : start + _BLOCK])
            for start in range(0, len(text), _BLOCK)
        ]
        self.text = text
        self.flat = "".join(blocks)
        self._before = list(accumulate(map(len, blocks), initial=0))

    def offset(self, index: int) -> int:
        """Return the offset in `text` of `flat[index]` (both in characters)."""
        block = bisect_right(self._before, index) - 1
        wanted = index - self._before[block]
        start = block * _BLOCK
        end = start + wanted
        # Each step adds as many characters as are missing, so never too many.
        while missing := wanted - len(squeeze(self.text[start:end])):
            end += missing
        while self.text[end].isspace():
            end += 1
        return end

    def index(self, offset: int) -> int:
        """Return how many characters of `flat` are before `text[offset]`."""
        block = min(offset, len(self.text)) // _BLOCK
        rest = self.text[block * _BLOCK : max(offset, 0)]
        return self._before[block] + len(squeeze(rest))

    def goes_on(self, index: int) -> bool:
        """Return whether `flat[index]` is not the first character of a word."""
        if not 0 < index < len(self.flat):
            return False
        return not self.text[self.offset(index) - 1].isspace()
