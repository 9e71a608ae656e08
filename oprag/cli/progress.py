"""What is told on stderr while a command works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn


def working(console: Console, what: str) -> AbstractContextManager[Any]:
    """A sign of life on a terminal while something takes seconds; nothing elsewhere."""
    return console.status(what)


@contextmanager
def progress_bar(
    console: Console, what: str, total: int
) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, from the first report on; one line elsewhere.

    Yields:
        The function to report with: how much of `total` is done.
    """
    columns = (what, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total, visible=False)

        def report(done: int) -> None:
            bar.update(task, completed=done, visible=True)

        yield report
