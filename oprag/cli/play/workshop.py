"""What all tabs of the page share: options, models, and where files are kept."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from oprag.calls import Price
from oprag.cli.display import make_console
from oprag.cli.embedding_models import SentenceTransformerEmbeddings, load_model
from oprag.cli.index import Index, as_documents, open_index
from oprag.cli.searching import index_label
from oprag.files import FileText

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass
class Workshop:
    """The options of the command, and what is made of them once."""

    paths: Sequence[Path]
    """Files and folders that every new tab begins with."""
    embedding_model: str
    folder: Path
    """Where the index of these is kept, as `oprag context` keeps it."""
    chat_model: str = ""
    price: Price | None = None
    max_context_tokens: int | None = None
    _lock: Lock = field(default_factory=Lock)
    _indexing: Lock = field(default_factory=Lock)
    _embeddings: SentenceTransformerEmbeddings | None = None
    _dropped: Path | None = None

    def embeddings(self) -> SentenceTransformerEmbeddings:
        """Return the embedding model, loaded at the first call."""
        with self._lock:
            if self._embeddings is None:
                loaded = load_model(self.embedding_model, make_console(stderr=True))
                self._embeddings = _OneAtATime(loaded)
            return self._embeddings

    def client(self) -> BaseChatModel:
        """Make the client of the chat model. Nothing is sent yet.

        Raises:
            ModelCallError: See `load_chat_model`.
        """
        from oprag.cli.chat_models import load_chat_model

        return load_chat_model(self.chat_model)

    def new_folder(self) -> Path:
        """Make a folder for what is dropped on a tab; it goes when the program ends."""
        with self._lock:
            if self._dropped is None:
                self._dropped = Path(tempfile.mkdtemp(prefix="oprag-play-"))
            return Path(tempfile.mkdtemp(dir=self._dropped))

    def index(
        self,
        texts: Sequence[FileText],
        own_folder: Path | None,
        told: Callable[[int, int | None, int], None],
    ) -> Index:
        """Open the index of texts, brought up to date, one at a time.

        Args:
            texts: What it is to hold.
            own_folder: Where it is kept if there are dropped files among them; None
                for the index that `oprag context` uses, too.
            told: Is told how far it is.

        Raises:
            OSError: The folder cannot be written to.
            IndexingError: See `index_documents`.
        """
        embeddings = self.embeddings()
        with self._indexing:
            return open_index(
                index_label([] if own_folder else self.paths, self.embedding_model),
                as_documents(texts),
                embeddings,
                folder=own_folder or self.folder,
                told=told,
            )

    def close(self) -> None:
        """Remove what was dropped."""
        if self._dropped is not None:
            shutil.rmtree(self._dropped, ignore_errors=True)


class _OneAtATime(SentenceTransformerEmbeddings):
    """A model that several tabs use: not all bear more than one call at a time."""

    def __init__(self, loaded: SentenceTransformerEmbeddings) -> None:
        self._loaded = loaded
        self._turn = Lock()
        self.name, self.origin, self.model = loaded.name, loaded.origin, loaded.model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text, in the order of the texts."""
        with self._turn:
            return self._loaded.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """The vector to search with."""
        with self._turn:
            return self._loaded.embed_query(text)
