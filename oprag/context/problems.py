"""Problems that are warnings instead of errors (`on_problem="warn"`)."""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from oprag.errors import (
    InvalidOptionError,
    OpragError,
    PositionError,
    PositionWarning,
    UnfilledBudgetWarning,
    find_caller_stacklevel,
)

_LOG = logging.getLogger("oprag")


@dataclass
class Problems:
    """The problems of one component: each kind is warned of once.

    The warnings given so far do not make components differ.

    Every problem is logged each time, by the logger `oprag` at the level INFO.

    Args:
        component: Its class name, or that of the function.
    """

    component: str
    _known: set[str] = field(default_factory=set, init=False, compare=False, repr=False)
    _any_budget: bool = field(default=False, init=False, compare=False, repr=False)

    def warn(
        self,
        problems: Iterable[OpragError],
        lacking: InvalidOptionError | None = None,
        unfilled: tuple[int, int] | None = None,
    ) -> None:
        """Warn of the problems of a result, of each kind once.

        Args:
            problems: Those of documents whose chunks are in rank order.
            lacking: Why nothing was read beside the hits.
            unfilled: A budget in tokens and the number of chunks that came: the
                retriever, not the budget, decided how much is read.
        """
        for problem in problems:
            said = f" kept the order as retrieved ({problem.kind}). {problem.message}"
            if problem.kind == "shared_name":
                said = f": {problem.message}"
            self._warn(problem.kind, said, problem)
        if lacking is not None:
            message = f" read nothing beside what was found. {lacking.message}"
            self._warn("unwidened", message, lacking)
        if unfilled is not None and not self._any_budget:
            token_budget, chunks = unfilled
            message = (
                f": all {chunks} retrieved chunks fit into token_budget={token_budget}"
                ", so the retriever, not the budget, decided how much the model reads. "
                "Let the retriever return more."
            )
            self._warn("unfilled", message, None)

    def tell_of_index(self, message: str) -> None:
        """Warn once of a fault of the index, before questions meet it."""
        error = PositionError(self.component + message, kind="unfit_index")
        self._warn("unfit_index", message, error)

    def silence_budget(self) -> Self:
        """Return a copy for a budget that nobody set: it may stay unfilled."""
        same = copy.copy(self)
        same._any_budget = True  # noqa: SLF001 -- our own copy
        return same

    def _warn(self, kind: str, message: str, problem: OpragError | None) -> None:
        """Log a problem, and warn of the first of its kind."""
        _LOG.info(self.component + message)
        if kind not in self._known:
            self._known.add(kind)
            warn(self.component + message, problem)


def warn(message: str, problem: OpragError | None) -> None:
    """Give a `PositionWarning`; without a problem an `UnfilledBudgetWarning`.

    Args:
        message: The finding, and the remedy.
        problem: The error that is not raised.
    """
    warning = PositionWarning(message) if problem else UnfilledBudgetWarning(message)
    warning.__cause__ = problem
    warnings.warn(warning, stacklevel=find_caller_stacklevel())
