"""The documents that a server gives out: a search in them, and their texts by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oprag.agents import name_for_readers
from oprag.chunk import Passage
from oprag.documents import StoreSource

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore
    from rich.console import Console

    from oprag.indexing import ShowProgress
    from oprag_cli.embedding_models import SentenceTransformerEmbeddings

_AT_ONCE = 4
"""Calls that an index of Chroma on disk answers side by side."""


class _NamedSource(StoreSource):
    """Full texts by names that were set when the documents were opened."""

    shown: Mapping[str, str]

    def called(self) -> dict[str, str]:
        """Return the names that were set."""
        return {**self.shown}


class Library:
    """Documents to search and to read, by names without paths of this machine.

    Args:
        vectorstore: Their chunks.
        folder: The folder that their names are relative to; empty if it is not known.
        space: How the index measures distance, as Chroma calls it.
        sign: Returns something else when somebody has written to the index.
        at_once: Searches and reads that its store bears side by side.
    """

    def __init__(
        self,
        vectorstore: VectorStore,
        *,
        folder: str = "",
        space: str = "cosine",
        sign: Callable[[], object] = str,
        at_once: int = 1,
    ) -> None:
        from langchain_oprag import chunk_store

        self.vectorstore = vectorstore
        self.space = space
        self.at_once = at_once
        self._sign, self._opened_at = sign, sign()
        store = chunk_store(vectorstore)
        names = StoreSource(store).called()
        self.source = _NamedSource(store)
        self.source.shown = name_for_readers({name: name for name in names}, folder)

    def is_outdated(self) -> bool:
        """Return whether somebody has written to the index since it was opened."""
        return self._sign() != self._opened_at

    def rename_passages(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return passages whose citations name their documents as they are shown."""
        return [
            each._replace(
                cited=self.title(each) + each.citation.removeprefix(each.document_name)
            )
            for each in passages
        ]

    def title(self, passage: Passage) -> str:
        """Return the name of a passage's document."""
        return self.source.shown.get(passage.text_id, passage.document_name)


def open_library(
    path: Path,
    embeddings: SentenceTransformerEmbeddings,
    *,
    collection: str,
    folder: Path,
    console: Console,
    show_progress: ShowProgress,
) -> Library:
    """Open a Chroma directory unchanged, or the index of files, brought up to date.

    A link in a folder that leads out of it is not followed. Indexes of files
    are kept in `folder`; an empty `collection` is the only one of a Chroma directory.

    Raises:
        OpragError: Nothing can be read, or it cannot be indexed.
        OSError: The index cannot be written.
        typer.Exit: The Chroma directory cannot be opened; the reason was reported.
    """
    from chromadb.api.shared_system_client import SharedSystemClient

    from oprag_cli.chroma_directory import DATABASE, open_directory
    from oprag_cli.index import open_chroma, own_index
    from oprag_cli.search import read_told, real_names

    # Chroma caches the data it has read, even if another process writes to it.
    SharedSystemClient.clear_system_cache()
    root = ""
    if not (path / DATABASE).is_file():
        read = read_told([path], console, links_out=False)
        index = own_index(
            real_names([path]),
            read,
            embeddings,
            folder=folder,
            show_progress=show_progress,
        )
        root = str(path if path.is_dir() else path.parent)
        path, collection = index.path, index.collection
    opened = open_directory(path, collection)
    store = open_chroma(
        path, embeddings, opened.name, create_collection_if_not_exists=False
    )
    return Library(
        store, folder=root, space=opened.space, sign=opened.sign, at_once=_AT_ONCE
    )
