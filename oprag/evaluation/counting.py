"""Numbers of things in a sentence."""

from __future__ import annotations


def number_of(count: int, thing: str) -> str:
    """Return a number and the thing's name, in the plural where it is not one.

    Args:
        count: How many.
        thing: In the singular, with a plural in "s".
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
