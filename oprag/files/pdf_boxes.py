"""Where the characters of a PDF page are."""

from __future__ import annotations

from typing import Any, NamedTuple


class Box(NamedTuple):
    """Where a character is, in points from the lower left corner."""

    left: float
    bottom: float
    right: float
    top: float


class Boxes:
    """Where characters are; asked for one by one, as this takes long."""

    def __init__(self, characters: Any) -> None:
        self._characters = characters
        self._known: dict[int, Box] = {}

    def of(self, index: int) -> Box:
        """Return the box of a character by its number on the page."""
        if index not in self._known:
            self._known[index] = Box(*self._characters.get_charbox(index))
        return self._known[index]

    def loose(self, index: int) -> Box:
        """Return the box of a character as high as its font, whatever it looks like."""
        return Box(*self._characters.get_charbox(index, loose=True))
