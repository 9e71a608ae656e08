"""Problems that are told instead of raised (`on_problem="warn"`)."""

from __future__ import annotations

import logging
import sys
import warnings
from types import FrameType

from oprag.errors import OpragError, PositionWarning, kind_of

_LOG = logging.getLogger("oprag")

_NOT_THE_USERS = frozenset(
    {
        *("oprag", "langchain_oprag", "llamaindex_oprag", "langchain_core"),
        *("langchain", "langchain_classic", "langgraph", "llama_index", "workflows"),
        *("llama_index_instrumentation", "pydantic", "asyncio", "concurrent"),
        *(
            "threading",
            "contextlib",
            "contextvars",
            "functools",
            "wrapt",
            "nest_asyncio",
        ),
    }
)
"""Packages whose code calls ours on behalf of the user's."""


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
    warnings.warn(warning, stacklevel=_to_the_user())


def _to_the_user() -> int:
    """How many callers up the user's code stands, for whoever calls the caller."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 -- what warnings itself uses
    level = 1
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _NOT_THE_USERS:
            return level
        frame = frame.f_back
        level += 1
    return 2
