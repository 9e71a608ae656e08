"""What `oprag mcp` and `oprag serve` share: documents that open behind a server."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Thread
from typing import TypeVar

import anyio
import typer

from oprag.cli.display import make_console
from oprag.cli.embedding_models import SentenceTransformerEmbeddings, load_model
from oprag.cli.library import DATABASE, Library, Told, open_library
from oprag.cli.options import cache_folder
from oprag.cli.telling import note, told
from oprag.errors import IndexingError, OpragError

_T = TypeVar("_T")

Report = Callable[[int, str], Awaitable[None]]
"""Is told how far opening is: a number that ascends, and what to say."""

_PAUSE = 0.25
"""Seconds between two looks at how far indexing is."""


class Librarian:
    """Opens a library in a thread of its own, and answers when it is open.

    Args:
        open_it: Opens it; is given the function to tell with how far it is.
    """

    def __init__(self, open_it: Callable[[Told], Library]) -> None:
        self._library: Library | None = None
        self._failed = ""
        self._told: tuple[int, int | None, int] = (0, None, 0)
        self._open_it = open_it
        self._opening: Thread | None = None
        # Models and stores are used by one call at a time: not all bear more.
        self._turn = anyio.CapacityLimiter(1)

    def start(self) -> None:
        """Begin to open the library, or to open it anew."""
        self._library, self._failed, self._told = None, "", (0, None, 0)
        self._opening = Thread(target=self._open, daemon=True)
        self._opening.start()

    def _open(self) -> None:
        try:
            self._library = self._open_it(self._tell)
        except typer.Exit:
            self._failed = "The documents cannot be opened; the server's log says why."
            return
        except (OpragError, OSError) as error:
            self._failed = f"The documents cannot be opened: {error}"
        except Exception as error:  # noqa: BLE001 -- else each call would wait for ever
            self._failed = f"The documents cannot be opened: {error!r}"
        if self._failed:
            note(self._failed)  # for the log; each call of a client is told, too

    def _tell(self, documents: int, total: int | None, chunks: int) -> None:
        self._told = documents, total, chunks

    def _progress(self) -> str:
        done, total, chunks = self._told
        if total is None:
            return "Opening"
        return f"Indexed {done} of {total} documents, {chunks:,} chunks"

    async def library(
        self, report: Report | None = None, *, patience: float | None = None
    ) -> Library:
        """Return the library; until it is open, tell the client how far it is.

        It is opened anew if that failed, or if another process wrote to the index: this
        one would find a part of it.

        Args:
            report: Tells the client.
            patience: Seconds to wait; None for as long as it takes.

        Raises:
            IndexingError: It cannot be opened, or not within the time.
        """
        if self._failed or (self._library is not None and self._library.is_outdated()):
            self.start()
        with anyio.move_on_after(patience):
            await self._opened(report)
        if self._library is None:
            later = f"{self._progress()}. Ask again in a moment."
            raise IndexingError(self._failed or later, store="")
        return self._library

    async def _opened(self, report: Report | None) -> None:
        last, reports, waits = None, 0, True
        while waits and self._opening is not None:
            waits = self._opening.is_alive()
            if report and self._told != last and (waits or reports):
                last = self._told
                # Each number has to be above the one before.
                reports += 1
                await report(reports, self._progress())
            if waits:
                await anyio.sleep(_PAUSE)

    async def ask(self, work: Callable[[], _T]) -> _T:
        """Do work with the library in a thread, one call after another."""
        return await anyio.to_thread.run_sync(work, limiter=self._turn)


def librarian_of(
    path: Path, *, collection: str, embedding_model: str, directory: Path | None
) -> Librarian:
    """Return the librarian of a folder, a file or a Chroma directory.

    Args:
        path: Which.
        collection: The collection of a Chroma directory; empty for the only one.
        embedding_model: The model; of a Chroma directory the one it was made with.
        directory: Where indexes of files are kept; None for the cache folder.

    Raises:
        typer.Exit: With code 2: it is not there, or no Chroma directory and a
            collection is named.
    """
    if not path.exists():
        raise told(f"{str(path)!r} is not there.", 2)
    if collection and not (path / DATABASE).is_file():
        message = (
            f"--collection names a collection of a Chroma directory, and {path} is "
            "none. Leave it out: files are indexed as they are."
        )
        raise told(message, 2)

    @functools.cache
    def model() -> SentenceTransformerEmbeddings:
        return load_model(embedding_model, make_console(stderr=True))

    def open_it(tell: Told) -> Library:
        return open_library(
            path,
            model(),
            collection=collection,
            folder=directory or cache_folder(),
            told=tell,
            console=make_console(stderr=True),
        )

    return Librarian(open_it)
