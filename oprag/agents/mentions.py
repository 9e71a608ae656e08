"""Numbers that a text mentions in brackets, as answers cite passages."""

from __future__ import annotations

import re

_MENTION = re.compile(r"\[\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*\]")
_NUMBER = re.compile(r"\d+")


def highest_mention(text: str) -> int:
    """Return the highest number that a text mentions, or 0.

    Args:
        text: What a person, a model or a tool wrote.

    Example:
        >>> highest_mention("The rent is 900 [2], paid monthly [1, 4].")
        4
    """
    mentions = _MENTION.findall(text)
    numbers = [_NUMBER.findall(mention) for mention in mentions]
    return max((max(map(int, each)) for each in numbers), default=0)
