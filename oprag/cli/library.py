"""The documents that a server gives out: a search in them, and their texts by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from oprag.chunk import Passage, named_part
from oprag.errors import DocumentNotFoundError, OpragError
from oprag.metadata import PART_INDEX

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore
    from rich.console import Console

    from oprag.cli.embedding_models import SentenceTransformerEmbeddings
    from oprag.indexing import ShowProgress

Parts = Mapping[str, str]
"""The texts of a document by what a reader calls its parts (`page 3`), in order; by
an empty name where it is one text."""

_BETWEEN = re.compile(r"[/\\]")
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")


class Library:
    """Documents to search and to read, by names without paths of this machine.

    Args:
        vectorstore: Their chunks.
        folder: What their names are relative to; empty where that is not known.
        space: How the index measures distance, as Chroma calls it.
        sign: Returns something else when somebody has written to the index.
    """

    def __init__(
        self,
        vectorstore: VectorStore,
        *,
        folder: str = "",
        space: str = "cosine",
        sign: Callable[[], object] = str,
    ) -> None:
        from langchain_oprag import chunk_store
        from oprag.positions import document_name

        self.vectorstore = vectorstore
        self.space = space
        self._sign, self._opened_at = sign, sign()
        self._store = chunk_store(vectorstore)
        found = (document_name(chunk.metadata) for chunk in self._store.read())
        self._shown = shown_names({name for name in found if name}, folder)
        self._stored = {shown: name for name, shown in self._shown.items()}

    def is_outdated(self) -> bool:
        """Whether somebody has written to the index since."""
        return self._sign() != self._opened_at

    def names(self) -> list[str]:
        """Return the names of all documents, sorted."""
        return sorted(self._stored)

    def shown(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return passages whose citations name their documents as `names` does."""
        return [
            replace(
                each, cited=self.title(each) + each.citation.removeprefix(each.name)
            )
            for each in passages
        ]

    def title(self, passage: Passage) -> str:
        """Return the name of a passage's document."""
        return self._shown.get(passage.uri, passage.name)

    def parts(self, name: str) -> Parts:
        """Return a document's parts, exact or refused.

        Args:
            name: One of `names`, or the end of the path of one alone.

        Raises:
            OpragError: There is no such document, or not all of it is there.
        """
        from oprag.documents import rebuild
        from oprag.metadata import document_key

        shown = self._found(name)
        stored = self._stored[shown]
        chunks = [*self._store.read({document_key(stored): None})]
        named: dict[int, str] = {}
        for chunk in chunks:
            part = chunk.metadata.get(PART_INDEX)
            if part is not None:
                named.setdefault(int(part), named_part(chunk.metadata, int(part)))
        labels = [named[part] for part in sorted(named)] or [""]
        try:
            texts = rebuild(stored, chunks, where="the index").parts
        except OpragError as error:
            error.message = error.message.replace(stored, shown)
            raise
        return dict(zip(labels, texts, strict=True))

    def _found(self, name: str) -> str:
        if name in self._stored:
            return name
        parts = _BETWEEN.split(name)
        ends = [
            each
            for each in self.names()
            if _BETWEEN.split(each)[-len(parts) :] == parts
        ]
        if len(ends) == 1:
            return ends[0]
        several = f"Several end so: {', '.join(ends[:5])}." if ends else ""
        message = (
            f"There is no document {name!r:.200}. {several or ''} The tool `documents` "
            "lists their names."
        )
        raise DocumentNotFoundError(" ".join(message.split()), document=name[:200])


def shown_names(names: Iterable[str], folder: str) -> dict[str, str]:
    """Return what documents are called to a reader, by their names in the index.

    That is the path relative to the folder; else, of an absolute path, the last two
    parts, and more where two would be called the same.
    """
    inside = re.compile(rf"{re.escape(folder)}[/\\]+" if folder else r"(?!)")
    called = {name: inside.sub("", name, count=1) for name in sorted(names)}
    taken = [shown for shown in called.values() if not _ABSOLUTE.match(shown)]
    for name, shown in called.items():
        if _ABSOLUTE.match(shown):
            count = 2
            while (short := _last(shown, count)) in taken and count < len(shown):
                count += 1
            called[name] = short
            taken.append(short)
    return called


def _last(path: str, count: int) -> str:
    return "/".join([part for part in _BETWEEN.split(path) if part][-count:])


def open_library(
    path: Path,
    embeddings: SentenceTransformerEmbeddings,
    *,
    collection: str,
    folder: Path,
    console: Console,
    show_progress: ShowProgress,
) -> Library:
    """Open a Chroma directory as it is, or the index of files, brought up to date.

    Args:
        path: A Chroma directory, a file or a folder. Of a folder nothing is read that
            a link in it leads out of it to.
        embeddings: The model; of a Chroma directory the one it was made with.
        collection: The collection of a Chroma directory; empty for the only one.
        folder: Where indexes of files are kept.
        console: Where it is reported what is read.
        show_progress: See `index_documents`.

    Raises:
        OpragError: Nothing can be read, or it cannot be indexed.
        OSError: The index cannot be written.
        typer.Exit: The Chroma directory cannot be opened; why was reported.
    """
    from chromadb.api.shared_system_client import SharedSystemClient

    from oprag.cli.chroma_directory import DATABASE, open_directory
    from oprag.cli.index import open_chroma, own_index
    from oprag.cli.search import read_told, real_names

    # Chroma caches what it has read, even if another process writes to it.
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
    return Library(store, folder=root, space=opened.space, sign=opened.sign)
