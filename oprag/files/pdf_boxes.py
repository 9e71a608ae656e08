"""The places of the characters of a PDF page."""

from __future__ import annotations

from typing import Any, NamedTuple


class Box(NamedTuple):
    """The place of a character, in points from the lower left corner."""

    left: float
    bottom: float
    right: float
    top: float


class Boxes:
    """The places of characters, looked up one by one because this takes long."""

    def __init__(self, characters: Any) -> None:
        self._characters = characters
        self._known: dict[int, Box] = {}

    def of(self, index: int) -> Box:
        """Return the box of a character by its number on the page."""
        if index not in self._known:
            self._known[index] = Box(*self._characters.get_charbox(index))
        return self._known[index]

    def loose(self, index: int) -> Box:
        """Return the box of a character, as high as its font whatever its shape."""
        return Box(*self._characters.get_charbox(index, loose=True))
