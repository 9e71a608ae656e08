"""Spaces where counts of tokens add up, for counters with `additive_at_spaces`."""

from __future__ import annotations

import re

__all__ = ["SPACE_JOINT", "last_joint"]

SPACE_JOINT = re.compile("[!-~] ")
"""The two characters of a joint for every counter with `additive_at_spaces`."""


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
