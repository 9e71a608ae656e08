"""The console, and bars on it: plain text where there is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

_WIDTH = 100
"""Columns used at most; exactly so many where there is no terminal."""


def make_console(*, stderr: bool = False) -> Console:
    """A console of at most 100 columns: coloured on a terminal, else plain."""
    # Names of files and models are shown as they are, brackets and colons included.
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal or console.width > _WIDTH:
        console.width = _WIDTH
    return console


@contextmanager
def progress_bar(
    console: Console, what: str
) -> Iterator[Callable[[int, int | None], None]]:
    """Draw a bar on a terminal, from the first report on; nothing elsewhere.

    Yields:
        The function to report with: how much is done, and of how much.
    """
    columns = (what, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None, visible=False)

        def report(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total, visible=True)

        yield report


@contextmanager
def indexing_bar(console: Console) -> Iterator[Callable[[int, int | None, int], None]]:
    """Draw a bar of the documents that are indexed; see `progress_bar`.

    Yields:
        What `index_documents` takes as `show_progress`.
    """
    with progress_bar(console, "Indexing files") as report:
        yield lambda documents, total, _: report(documents, total)
