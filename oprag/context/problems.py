"""Problems that are warnings instead of errors (`on_problem="warn"`)."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

from oprag.errors import (
    InvalidOptionError,
    OpragError,
    PositionWarning,
    UnfilledBudgetWarning,
    users_level,
)

_LOG = logging.getLogger("oprag")


@dataclass
class Problems:
    """The problems of one component: each kind is warned of once.

    What was warned of does not make components differ.

    Every occurrence is logged, by the logger `oprag` at the level INFO.

    Args:
        component: Its class name, or that of the function.
    """

    component: str
    _known: set[str] = field(default_factory=set, init=False, compare=False, repr=False)

    def tell(
        self,
        problems: Iterable[OpragError],
        lacking: InvalidOptionError | None = None,
        unfilled: tuple[int, int] | None = None,
    ) -> None:
        """Warn of what is wrong with a result, of each kind once.

        Args:
            problems: Of documents whose chunks are in rank order.
            lacking: Why nothing was read beside what was found.
            unfilled: A budget in tokens and the chunks that came: the retriever, not
                the budget, decided how much is read.
        """
        for problem in problems:
            kind = problem.kind
            message = (
                f"{self.component} kept the order as retrieved ({kind}). "
                f"{problem.message}"
            )
            _LOG.info(message)
            if self.is_new(kind):
                warn(message, problem)
        if lacking is not None and self.is_new("unwidened"):
            message = f"{self.component} read nothing beside what was found. "
            warn(message + lacking.message, lacking)
        if unfilled is not None and self.is_new("unfilled"):
            token_budget, chunks = unfilled
            message = (
                f"{self.component}: all {chunks} retrieved chunks fit into token_budget"
                f"={token_budget}, so the retriever, not the budget, decided how much "
                "the model reads. Let the retriever return more."
            )
            warnings.warn(message, UnfilledBudgetWarning, stacklevel=users_level())

    def is_new(self, kind: str) -> bool:
        """Record a kind of problem; return whether it is the first of its kind."""
        known = kind in self._known
        self._known.add(kind)
        return not known


def warn(message: str, problem: OpragError) -> None:
    """Give a `PositionWarning`.

    Args:
        message: What was found, and what to do.
        problem: The error that is not raised.
    """
    warning = PositionWarning(message)
    warning.__cause__ = problem
    warnings.warn(warning, PositionWarning, stacklevel=users_level())
