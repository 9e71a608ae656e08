"""Changes to the text of a PDF page, whose characters keep their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple


class Change(NamedTuple):
    """Characters `[start, end)` of a text, and the text that replaces them."""

    start: int
    end: int
    text: str
    """Empty to leave them out."""
    indices: Sequence[int]
    """For each character of this text, its number among those of the page; of one that
    is not on the page, that of a character beside it."""


def apply_changes(
    text: str, indices: Sequence[int], changes: Iterable[Change]
) -> tuple[str, list[int]]:
    """Return a text with its changes, and the number of each character.

    Args:
        text: The text of a page.
        indices: For each of its characters, its number among those of the page.
        changes: In any order; none overlaps another. Insertions at one place come in
            their order.
    """
    texts: list[str] = []
    numbers: list[int] = []
    done = 0
    for change in sorted(changes, key=attrgetter("start")):
        texts += [text[done : change.start], change.text]
        numbers += [*indices[done : change.start], *change.indices]
        done = change.end
    texts.append(text[done:])
    numbers += indices[done:]
    return "".join(texts), numbers
