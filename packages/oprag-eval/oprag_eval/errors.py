"""The error of an evaluation that may not spend more, and checks of its options."""

from __future__ import annotations

from collections.abc import Collection

from oprag.errors import OpragError, invalid_option


class SpendingCapError(OpragError, RuntimeError):
    """The next model call of an evaluation could pass its cap on tokens or cost."""

    cap: float
    """The cap that was given: tokens, or money."""
    spent: float
    """The amount spent before, in the same unit."""


def check_one_of(option: str, value: object, known: Collection[str]) -> None:
    """Make sure that an option has one of the values that there are.

    Raises:
        InvalidOptionError: It has not.
    """
    if value not in known:
        raise invalid_option(option, value, f"It takes one of {', '.join(known)}.")
