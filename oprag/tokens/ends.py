"""The ends of a text: what stands there, and how far what is joined to it reaches."""

from __future__ import annotations

import re
from functools import lru_cache

_PLAIN_END = r"[0-9A-Za-z][ \n!-/:-@\[-`{-~‘’“”…–—]{0,5}\Z"
_PLAIN_START = r"[ \n]{0,3}[^\s/]"  # o200k takes "/" to lines before it

SPACE_JOINT = re.compile("[!-~] ")
"""The two characters of a joint for every counter with `additive_at_spaces`."""


@lru_cache(maxsize=4096)
def marks_at_end(end: str) -> str | None:
    """What stands behind the last letter or digit; None where others do."""
    found = re.search(_PLAIN_END, end)
    return found and end[found.start() + 1 :]


@lru_cache(maxsize=4096)
def space_at_start(start: str) -> str | None:
    """The blanks before the first character; None where there are others, or more."""
    found = re.match(_PLAIN_START, start)
    return found and found.group()[:-1]


def text_end(text: str) -> str:
    """The end of a text that is tokenised on its own."""
    return text[last_joint(text, 0, len(text)) :]


def text_start(text: str) -> str:
    """The beginning of a text that is tokenised on its own; all of it: the text."""
    place = SPACE_JOINT.search(text)
    return text[: place.start() + 1] if place else text


def last_joint(text: str, start: int, end: int) -> int:
    """Find the last place between two others where the counts of both sides add up.

    That is before a space that follows a printable ASCII character, for counters
    with `additive_at_spaces`.

    Returns:
        The place, `start < place < end`, or `start` when there is none.
    """
    space = text.rfind(" ", start + 1, end)
    while space > start and not "!" <= text[space - 1] <= "~":
        space = text.rfind(" ", start + 1, space)
    return max(space, start)
