"""What a run tells while it works: a bar where a person watches, and the log."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeAlias, TypeVar

from oprag.errors import OpragError, invalid_option
from oprag.indexing.reporting import IndexingReport

T = TypeVar("T")

Told: TypeAlias = Callable[[int, int | None, int], None]
"""Called with the documents that are done, all that there are (None if that is not
known) and the chunks that were written; in a thread where the run is awaited."""
ShowProgress: TypeAlias = bool | Told
"""Whether a run shows how far it is, or who is told instead."""

_LOGGER = logging.getLogger("oprag")
_SECONDS = 10.0
"""Between two lines of the log, where there is no bar."""


class Counted(Generic[T]):
    """Items that come one at a time, and how many there will be.

    Args:
        items: The items.
        count: Says how many, once a bar is to be drawn; None if that is not known.
    """

    def __init__(self, items: Iterator[T], count: Callable[[], int | None]) -> None:
        self._items = items
        self._count = count

    def __iter__(self) -> Iterator[T]:
        """The items; once."""
        return self._items

    def count(self) -> int | None:
        """How many there will be; None if that is not known."""
        try:
            return self._count()
        except OpragError:  # the run says so, at the item that is meant
            return None


class Progress:
    """Tells how far a run is. With `False` nothing but its end, to the log.

    On a terminal with tqdm installed a bar is drawn on standard error; without either
    the logger `oprag` gets a line at INFO every ten seconds.

    Args:
        show: See `ShowProgress`.
        documents: What the run is given.
    """

    def __init__(self, show: ShowProgress, documents: object) -> None:
        if not isinstance(show, bool) and not callable(show):
            takes = "It takes True, False or a function that is told."
            raise invalid_option("show_progress", show, takes)
        self._show = show
        self._documents = documents
        self._begun = False
        self._total: int | None = None
        self._bar: Any = None
        self._logged = time.monotonic()

    def __call__(self, documents: int, chunks: int) -> None:
        """Tell how many documents are done, and how many chunks were written."""
        self._begin()
        if callable(self._show):
            self._show(documents, self._total, chunks)
        elif self._bar is not None:
            self._bar.set_postfix(chunks=chunks, refresh=False)
            self._bar.update(documents - self._bar.n)
        elif self._show and time.monotonic() >= self._logged + _SECONDS:
            self._logged = time.monotonic()
            of = "" if self._total is None else f" of {self._total:,}"
            _LOGGER.info("%s%s documents, %s chunks written", documents, of, chunks)

    def _begin(self) -> None:
        """Count the documents and draw the bar, in the thread where the work is."""
        if self._begun or self._show is False:
            return
        self._begun = True
        if isinstance(self._documents, Counted):
            self._total = self._documents.count()
        if self._show is True:
            self._bar = _bar(self._total)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()

    def end(self, report: IndexingReport) -> None:
        """Say what was done: below the bar, where there is one, and to the log."""
        _LOGGER.info("%s", report)
        if self._bar is not None:
            self._bar.write(str(report), file=self._bar.fp)


def _bar(total: int | None) -> Any:
    """A bar; None where nobody watches, or tqdm is not installed."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]  # optional
    except ModuleNotFoundError:
        return None
    return tqdm(
        total=total, desc="Indexing", unit=" documents", disable=None, file=sys.stderr
    )
