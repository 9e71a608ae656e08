"""How far the indexing of a tab's files is, and how long it still takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from oprag.files import FileText
from oprag_cli.play.workshop import PlayEmbeddings

_UNTIL_IT_IS_KNOWN = 1.5
"""Seconds of embedding before anything is said about the rest."""
_MINUTE = 60


@dataclass(frozen=True)
class Status:
    """The progress, for the page."""

    working: bool = False
    said: str = ""
    share: float | None = None
    """The share that is done, from 0 to 1; None if it is not known."""


class Progress:
    """Reports on a run by the characters that are embedded.

    Args:
        texts: All that the index is to hold.
        known: Those of them that it holds already.
        embeddings: The model, which counts the characters it has embedded.
        show: Called with each report.
    """

    def __init__(
        self,
        texts: Sequence[FileText],
        known: Container[FileText],
        embeddings: PlayEmbeddings,
        show: Callable[[Status], None],
    ) -> None:
        new = [text for text in texts if text not in known]
        self._todo = sum(len(text.text) for text in new)
        self._files = len({text.source for text in new})
        self._embeddings = embeddings
        self._before = embeddings.characters
        self._began = time.monotonic()
        self._show = show

    def tell(self, documents: int, total: int | None, chunks: int) -> None:
        """Take a report of `index_documents`, and pass on its meaning."""
        done = (self._embeddings.characters - self._before) / max(self._todo, 1)
        said = f"Indexing: {documents:,} of {total or 0:,} files, {chunks:,} chunks"
        took = time.monotonic() - self._began
        if 0 < done < 1 and took > _UNTIL_IT_IS_KNOWN:
            said += f", {say_duration(took * (1 - done) / done)} left"
        share = documents / total if total else 0.0
        self._show(Status(True, said, min(max(share, done), 1.0)))


def say_duration(seconds: float) -> str:
    """Return how long something takes, as exactly as one can know beforehand."""
    if seconds < _MINUTE:
        return f"about {max(5, 5 * round(seconds / 5))} seconds"
    minutes = round(seconds / _MINUTE)
    return f"about {minutes} minute{'s' if minutes > 1 else ''}"
