"""The state that all tabs share: the options, the embedding model, the turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Lock
from typing import IO

from oprag_cli.display import make_console
from oprag_cli.embedding_models import SentenceTransformerEmbeddings, load_model
from oprag_cli.play.desk import Desk
from oprag_cli.play.dropped import make_folder, remove_folder

_AT_ONCE = 8
"""Texts embedded at once: a question waits for no more."""
_LOOK = 0.2
"""Seconds between two looks at what another tab is doing."""


class PlayEmbeddings(SentenceTransformerEmbeddings):
    """An embedding model that lets questions in between the texts of a long run."""

    def __init__(self, model: SentenceTransformerEmbeddings) -> None:
        super().__init__(
            model.model,
            name=model.name,
            origin=model.origin,
            of_queries=model.of_queries,
        )
        self.characters = 0
        """Characters of all texts embedded so far."""
        self._asked = 0
        self._free = Condition()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text, in the order of the texts."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _AT_ONCE):
            with self._free:
                self._free.wait_for(lambda: not self._asked)
            some = texts[start : start + _AT_ONCE]
            vectors += super().embed_documents(some)
            self.characters += sum(map(len, some))
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector to search with; texts of a run in progress wait for it."""
        with self._free:
            self._asked += 1
        try:
            return super().embed_query(text)
        finally:
            with self._free:
                self._asked -= 1
                self._free.notify_all()


class Turn:
    """The turn to index: one tab has it at a time, and the others see its work."""

    def __init__(self) -> None:
        self.doing = ""
        """The work of the tab that has the turn, for people."""
        self._lock = Lock()

    @contextmanager
    def take_turn(self, say: Callable[[str], None]) -> Iterator[None]:
        """Wait for the turn, and have it.

        Args:
            say: Called with the work it waits for, each time that it changes.
        """
        said = None
        while not self._lock.acquire(timeout=_LOOK):
            if said != self.doing:
                said = self.doing
                say(f"Waiting for another tab. {said}".rstrip())
        try:
            yield
        finally:
            self.doing = ""
            self._lock.release()


@dataclass
class Workshop:
    """State that all tabs share: the command's options, and objects made of them."""

    paths: Sequence[Path]
    """Files and folders that every new tab begins with."""
    embedding_model: str
    folder: Path
    """The folder of their index, as `oprag context` keeps it."""
    chat_model: str = ""
    turn: Turn = field(default_factory=Turn)
    """Held while a model is loaded, and while files are indexed."""
    desks: dict[object, Desk] = field(default_factory=dict)
    """The desks that tabs have made of the same files, by the state of these files."""
    dropped: Path = field(init=False)
    """The folder of files dropped on tabs; removed when the program ends."""
    _held: IO[bytes] = field(init=False)
    _embeddings: PlayEmbeddings | None = None

    def __post_init__(self) -> None:
        self.dropped, self._held = make_folder()

    @property
    def is_loaded(self) -> bool:
        """Whether the embedding model is there already."""
        return self._embeddings is not None

    def embeddings(self) -> PlayEmbeddings:
        """Return the embedding model, loaded at the first call. Take the turn first."""
        if self._embeddings is None:
            model = load_model(self.embedding_model, make_console(stderr=True))
            self._embeddings = PlayEmbeddings(model)
        return self._embeddings

    def close(self) -> None:
        """Remove the dropped files."""
        self._held.close()
        remove_folder(self.dropped)
