"""Documents that open while a server runs, for `oprag mcp` and `oprag serve`."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import TypeVar

import anyio
import typer

from oprag.errors import IndexingError, OpragError
from oprag.indexing import ShowProgress
from oprag_cli.chroma_directory import DATABASE, chosen_collection
from oprag_cli.display import make_console
from oprag_cli.embedding_models import SentenceTransformerEmbeddings, load_model
from oprag_cli.library import Library, open_library
from oprag_cli.messages import note, stop
from oprag_cli.options import ServeOptions, cache_folder

_T = TypeVar("_T")


MOST_ASKED = 128
"""Calls that are answered or wait: more would wait longer than clients do."""
RETRY_AFTER = 5
"""Seconds after which a client that was sent away may ask again."""


class BusyError(OpragError):
    """More questions wait than are answered in time. Ask again in a moment."""


class Librarian:
    """Opens a library in a separate thread, and answers when it is open.

    Args:
        open_it: Opens it; it gets the function to report its progress with.
        patience: Seconds that a call waits for it.
    """

    def __init__(
        self, open_it: Callable[[ShowProgress], Library], *, patience: float
    ) -> None:
        self._library: Library | None = None
        self._failed = False
        self._progress = "Opening the documents"
        self._open_it = open_it
        self._opened: Future[None] = Future()
        self._patience = patience
        self._asked = 0
        self._turns = anyio.CapacityLimiter(1)

    def start(self) -> None:
        """Begin to open the library, or to open it again."""
        self._library, self._failed = None, False
        self._opened = Future()
        self._opened.set_running_or_notify_cancel()  # who stops waiting stops nothing
        Thread(target=self._open, args=[self._opened], daemon=True).start()

    def _open(self, opened: Future[None]) -> None:
        try:
            self._library = self._open_it(self._tell)
        except Exception as error:  # noqa: BLE001 -- else each call would wait for ever
            self._failed = True
            if not isinstance(error, typer.Exit):  # its reason was reported
                note(f"The documents cannot be opened: {error}")
        opened.set_result(None)

    def _tell(self, documents: int, total: int | None, chunks: int) -> None:
        self._progress = f"Indexed {documents} of {total} documents, {chunks:,} chunks"

    async def ask(self, work: Callable[[Library], _T]) -> _T:
        """Do work with the library in a thread, when it is open.

        As many calls are answered side by side as the library bears. The others wait in
        turn. For one that is cancelled while it waits, no work is done.

        Raises:
            BusyError: So many wait that this one would wait too long.
            IndexingError: The library cannot be opened, or not within the time.
        """
        if self._asked >= MOST_ASKED:
            message = (
                f"{self._asked} questions are waiting, and no more are taken. "
                f"Ask again in {RETRY_AFTER} seconds."
            )
            raise BusyError(message)
        self._asked += 1
        try:
            library = await self._open_library()
            self._turns.total_tokens = library.at_once
            return await anyio.to_thread.run_sync(work, library, limiter=self._turns)
        finally:
            self._asked -= 1

    async def _open_library(self) -> Library:
        """Return the library, when it is open.

        It is opened anew if opening failed, or if another process wrote to the index,
        of which this one would find only a part.
        """
        library = self._library
        outdated = False
        if library is not None:
            outdated = await anyio.to_thread.run_sync(library.is_outdated)
        # Meanwhile another call may have begun to open it.
        if self._failed or (outdated and self._library is library):
            self.start()
        if self._library is None:
            with anyio.move_on_after(self._patience):
                await asyncio.wrap_future(self._opened)
        if self._library is not None:
            return self._library
        # A client does not get the reason: it may name files of this machine.
        failed = "The documents cannot be opened; the server's log says why."
        later = f"{self._progress}. Ask again in a moment."
        raise IndexingError(failed if self._failed else later, store="")


def librarian_of(path: Path, options: ServeOptions, *, patience: float) -> Librarian:
    """Return the librarian of a folder, a file or a Chroma directory.

    A call waits for it for `patience` seconds.

    Raises:
        typer.Exit: With code 2: the collection is not there.
    """
    collection = options.collection
    if (path / DATABASE).is_file():
        if options.directory:
            raise stop(f"--directory is of files, and {path} is an index itself.", 2)
        collection = chosen_collection(path, collection)
    elif collection:
        raise stop(f"--collection is of a Chroma directory, and {path} is none.", 2)

    @functools.cache
    def model() -> SentenceTransformerEmbeddings:
        return load_model(options.embedding_model, make_console(stderr=True))

    def open_it(tell: ShowProgress) -> Library:
        return open_library(
            path,
            model(),
            collection=collection,
            folder=options.directory or cache_folder(),
            console=make_console(stderr=True),
            show_progress=tell,
        )

    return Librarian(open_it, patience=patience)
