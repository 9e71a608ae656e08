"""Places before a space, where the counts of both sides add up."""

from __future__ import annotations

import re

SPACE_JOINT = re.compile("[!-~] ")
"""The two characters around such a place, for every counter that has joints."""


def last_joint(text: str, start: int, end: int) -> int:
    """Find the last joint before a space between two places of a text.

    Returns:
        The place, `start < place < end`, or `start` when there is none.
    """
    space = text.rfind(" ", start + 1, end)
    while space > start and not "!" <= text[space - 1] <= "~":
        space = text.rfind(" ", start + 1, space)
    return max(space, start)
