"""Which line of the user's a warning names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from types import FrameType
from typing import TypeVar

_T = TypeVar("_T")

_OURS = frozenset(("oprag", "langchain_oprag", "llamaindex_oprag"))
_PASSED_OVER = frozenset(
    (
        *_OURS,
        *("langchain", "langchain_classic", "langchain_community", "langchain_core"),
        *("langchain_text_splitters", "langgraph", "langsmith"),
        *("llama_index", "llama_index_instrumentation", "workflows"),
        *("anyio", "nest_asyncio", "pydantic", "tenacity", "uvloop", "wrapt"),
    )
) | (sys.stdlib_module_names - {"__main__"})
"""Packages that stand between a user's line and ours; the standard library carries
calls into threads and event loops."""

_BEFORE: ContextVar[tuple[FrameType, int] | None] = ContextVar(
    "oprag_user_frame", default=None
)
"""The user's frame, and the line in it, that a thread was started from."""


def warn_user(message: str | Warning, category: type[Warning]) -> None:
    """Warn, and name the user's line that led here.

    That is the nearest one on the stack that is neither oprag's, nor a framework's, nor
    the standard library's. Code that is awaited has the lines on the stack that await
    it in the same task, and a thread that oprag started remembers where from. In a
    thread that a framework or `asyncio.to_thread` made, no line of the user's may be on
    the stack: then it is the outermost of ours, where the component was called.

    Args:
        message: What was found and what to do; or the warning itself, of the category.
        category: Filters go by it, and by the user's module.
    """
    frame, line = _user_frame()
    warnings.warn_explicit(
        message,
        category,
        filename=frame.f_code.co_filename,
        lineno=line,
        module=frame.f_globals.get("__name__") or "<unknown>",
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def from_user(work: Callable[..., _T]) -> Callable[..., _T]:
    """Make work that warns the caller of this function, in whatever thread it runs."""
    here = _user_frame()

    @wraps(work)
    def run(*args: object) -> _T:
        before = _BEFORE.set(here)
        try:
            return work(*args)
        finally:
            _BEFORE.reset(before)

    return run


def _user_frame() -> tuple[FrameType, int]:
    """The nearest frame of the user's, else our outermost, and the line it is at."""
    ours = sys._getframe(2)  # noqa: SLF001 -- what `warnings` itself uses
    frame: FrameType | None = ours
    while frame is not None and _package(frame) in _PASSED_OVER:
        ours = frame if _package(frame) in _OURS else ours
        frame = frame.f_back
    if frame is not None:
        return frame, frame.f_lineno
    return _BEFORE.get() or (ours, ours.f_lineno)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
