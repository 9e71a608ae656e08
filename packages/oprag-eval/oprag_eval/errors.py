"""The error of an evaluation that may not spend more."""

from oprag.errors import OpragError


class SpendingCapError(OpragError, RuntimeError):
    """The next model call of an evaluation could pass its cap on tokens or cost."""

    cap: float
    """The cap that was given: tokens, or money."""
    spent: float
    """The amount spent before, in the same unit."""
