"""Numbers that a text mentions in brackets, as answers cite passages."""

from __future__ import annotations

import re

_MENTION = re.compile(r"\[\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*\]")
_NUMBER = re.compile(r"\d+")


def find_mentions(text: str) -> tuple[int, ...]:
    """Return the numbers that a text mentions, ascending, each once.

    Args:
        text: The words of a person, a model or a tool.

    Example:
        >>> find_mentions("The rent is 900 [2], paid monthly [1, 4].")
        (1, 2, 4)
    """
    mentions = _MENTION.findall(text)
    numbers = {int(each) for mention in mentions for each in _NUMBER.findall(mention)}
    return tuple(sorted(numbers))
