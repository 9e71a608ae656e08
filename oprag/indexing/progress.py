"""The progress of a run: a bar on a terminal, and a line in the log at the end."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

from oprag.errors import OpragError, invalid_option
from oprag.indexing.report import IndexingReport

ShowProgress: TypeAlias = bool | Callable[[int, int | None, int], None]
"""Whether a bar is drawn; or what is called in its place, with the documents that are
done, all that there are (None if that is not known) and the chunks that were written;
in a thread where the run is awaited."""

_LOGGER = logging.getLogger("oprag")


class Progress:
    """Reports how far a run is; with tqdm, if standard error is a terminal.

    Args:
        show: See `ShowProgress`.
        count: Returns how many documents there are; None if that is not known.
    """

    def __init__(self, show: ShowProgress, count: Callable[[], int | None]) -> None:
        if not isinstance(show, bool) and not callable(show):
            takes = "It takes True, False or a function."
            raise invalid_option("show_progress", show, takes)
        self._show = show
        self._total: int | None = None
        with suppress(OpragError):  # the run says so, at the item that is meant
            self._total = count() if show else None
        self._bar = _bar(self._total) if show is True else None

    def __call__(self, documents: int, chunks: int) -> None:
        """Report how many documents are done, and how many chunks were written."""
        if callable(self._show):
            self._show(documents, self._total, chunks)
        elif self._bar is not None:
            self._bar.set_postfix(chunks=chunks, refresh=False)
            self._bar.update(documents - self._bar.n)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()

    def end(self, report: IndexingReport) -> None:
        """Write what was done to the log, and below the bar."""
        _LOGGER.info("%s", report)
        if self._bar is not None:
            self._bar.write(str(report), file=self._bar.fp)


def _bar(total: int | None) -> Any:
    """A bar; None where standard error is no terminal, or tqdm is not installed."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]  # optional
    except ModuleNotFoundError:
        return None
    return tqdm(
        total=total, desc="Indexing", unit=" documents", disable=None, file=sys.stderr
    )
