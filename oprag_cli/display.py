"""The console, and bars on it: plain text if there is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

_WIDTH = 100
"""Columns used at most; exactly as many if there is no terminal."""


def make_console(*, stderr: bool = False) -> Console:
    """Make a console of at most 100 columns: coloured on a terminal, else plain."""
    # Names of files and models are shown unchanged, brackets and colons included.
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal or console.width > _WIDTH:
        console.width = _WIDTH
    return console


@contextmanager
def progress_bar(
    console: Console, what: str, names: Sequence[str] = ()
) -> Iterator[Callable[..., None]]:
    """Draw a bar on a terminal; nothing elsewhere.

    The current one of `names`, the files in the order they are indexed, is shown.

    Yields:
        The function to report with: how much is done, of how much, and how many chunks
        are written. `index_documents` takes it as `show_progress`.
    """
    current = TextColumn("{task.description}", markup=False)
    columns = (BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(), current)
    with Progress(
        what, *columns, console=console, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=None, visible=False)

        def report(done: int, total: int | None, chunks: int = 0) -> None:
            name = PurePath(names[done]).name if done < len(names) else ""
            written = f"{chunks:,} chunks" if chunks else ""
            said = ", ".join(filter(None, (name, written)))
            bar.update(
                task, completed=done, total=total, visible=True, description=said
            )

        if names:
            report(0, len(names))
        yield report
