"""Problems that are told instead of raised (`on_problem="warn"`)."""

from __future__ import annotations

import logging

from oprag.errors import OpragError, PositionWarning, kind_of
from oprag.warning import warn_user

_LOG = logging.getLogger("oprag")


class Problems:
    """The problems of one component: each kind is warned of once.

    Every occurrence is logged, by the logger `oprag` at the level INFO.

    Args:
        component: Its class name, or that of the function.
    """

    def __init__(self, component: str) -> None:
        self._component = component
        self._told: set[str] = set()

    def tell(self, problem: OpragError) -> None:
        """Warn of a problem, at the line of the user's code that led to it.

        Args:
            problem: In whose place the order as retrieved was kept.
        """
        kind = kind_of(problem)
        message = (
            f"{self._component} kept the order as retrieved ({kind}). {problem.message}"
        )
        _LOG.info(message)
        if kind not in self._told:
            self._told.add(kind)
            warn(message, problem)


def warn(message: str, problem: OpragError) -> None:
    """Give a `PositionWarning` at the line of the user's code.

    Args:
        message: What was found, and what to do.
        problem: The error that is not raised.
    """
    warning = PositionWarning(message)
    warning.__cause__ = problem
    warn_user(warning, PositionWarning)
