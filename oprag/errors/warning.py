"""Which line of the user's a warning names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from types import FrameType
from typing import Any, TypeVar

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
_LOOPS = frozenset(("asyncio.events", "asyncio.runners", "uvloop"))
"""Modules that run tasks: what is further out on the stack did not await them."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of code. All are equal, so that components are, wherever they are made."""

    file: str = field(compare=False)
    number: int = field(compare=False)
    module: str = field(compare=False)


_BEFORE: ContextVar[CodeLine | None] = ContextVar("oprag_user_line", default=None)
"""The user's line that a thread was started from."""


def warn_user(message: str | Warning, category: type[Warning]) -> None:
    """Warn, and name the user's line that led here.

    That is the nearest one on the stack that is neither oprag's, nor a framework's, nor
    the standard library's. Code that is awaited has the lines on the stack that await
    it in the same task, and a thread that oprag started remembers where from. In a
    thread or task that someone else made, no line of the user's may be on the stack:
    then it is the one where the component that was called was made. A function was not
    made: for it, it is the line that runs the event loop, or the outermost of ours.

    Args:
        message: What was found and what to do; or the warning itself, of the category.
        category: Filters go by it, and by the user's module.
    """
    line = _line_to_name()
    of_module = getattr(sys.modules.get(line.module), "__dict__", {})
    warnings.warn_explicit(
        message,
        category,
        filename=line.file,
        lineno=line.number,
        module=line.module,
        registry=of_module.setdefault("__warningregistry__", {}),
    )


def users_line() -> CodeLine | None:
    """Return the user's line that led here; None where none did in this task or thread.

    A component keeps it as `_made_at`, for what is warned of in threads.
    """
    return _users_among(_frames())


def from_user(work: Callable[..., _T]) -> Callable[..., _T]:
    """Make work that warns the caller of this function, in whatever thread it runs."""
    here = _line_to_name()

    @wraps(work)
    def run(*args: object) -> _T:
        before = _BEFORE.set(here)
        try:
            return work(*args)
        finally:
            _BEFORE.reset(before)

    return run


def _line_to_name() -> CodeLine:
    if line := users_line() or _BEFORE.get():
        return line
    ours = [frame for frame in _frames() if _package(frame) in _OURS]
    made = [_made_at(frame.f_locals.get("self")) for frame in reversed(ours)]
    # Whoever runs the event loop is named only for want of a better line.
    lines = (*made, _users_among(_frames(in_task=False)))
    return next(filter(None, lines), _line(ours[-1]))


def _made_at(component: Any) -> CodeLine | None:
    line = getattr(component, "_made_at", None)
    return line if isinstance(line, CodeLine) else None


def _frames(*, in_task: bool = True) -> Iterator[FrameType]:
    """The frames of this task, the innermost first; or all on the stack."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 -- what `warnings` itself uses
    while frame is not None and not (in_task and _module(frame) in _LOOPS):
        yield frame
        frame = frame.f_back


def _users_among(frames: Iterable[FrameType]) -> CodeLine | None:
    for frame in frames:
        if _package(frame) not in _PASSED_OVER:
            return _line(frame)
    return None


def _line(frame: FrameType) -> CodeLine:
    return CodeLine(frame.f_code.co_filename, frame.f_lineno, _module(frame))


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "<unknown>")
