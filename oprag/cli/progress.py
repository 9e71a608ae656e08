"""What is told on stderr while a command works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from oprag.cli.telling import note
from oprag.documents import StoredChunk


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


@contextmanager
def examining(
    console: Console, chunks: Iterable[StoredChunk], total: int
) -> Iterator[Iterator[StoredChunk]]:
    """A bar while chunks are read, and until they are examined; nothing elsewhere.

    Yields:
        The same chunks.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("chunks"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("Reading", total=total)

        def read() -> Iterator[StoredChunk]:
            for chunk in chunks:
                bar.advance(task)
                yield chunk
            bar.update(task, description="Examining", total=None)

        yield read()


@contextmanager
def indexing_bar(console: Console) -> Iterator[Callable[[int, int | None, int], None]]:
    """A bar with files, chunks and the time left on a terminal; nothing elsewhere.

    Yields:
        The function that `index_documents` tells how far it is.
    """
    columns = (
        TextColumn("Indexing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files, {task.description}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, visible=False)

        def told(documents: int, total: int | None, chunks: int) -> None:
            said = f"{chunks:,} chunks"
            bar.update(
                task, completed=documents, total=total, description=said, visible=True
            )
            done[:] = [f"{documents:,} of {total or 0:,} files, {said}"]

        done: list[str] = []
        try:
            yield told
        except KeyboardInterrupt:
            if done:
                note(
                    f"Indexed before it was stopped: {done[0]}. Run it again to go on."
                )
            raise
