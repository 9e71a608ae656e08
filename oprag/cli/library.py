"""The documents that a server gives out: their texts by name, and a search in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from oprag.chunk import named_part
from oprag.cli.telling import note
from oprag.errors import DocumentNotFoundError
from oprag.metadata import PART_INDEX

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore
    from rich.console import Console

    from oprag.cli.embedding_models import SentenceTransformerEmbeddings
    from oprag.documents import ChunkStore
    from oprag.files import FileText

Told = Callable[[int, "int | None", int], None]
"""Is told how far indexing is: documents, all of them, chunks."""

Parts = Mapping[str, str]
"""The texts of a document by what a reader calls its parts (`page 3`), in order; by
an empty name where it is one text."""

DATABASE = "chroma.sqlite3"
"""What a Chroma directory holds."""


class Texts(Protocol):
    """The full texts of documents, exact or refused."""

    def names(self) -> Iterable[str]:
        """The names of all documents, in order."""

    def parts(self, name: str) -> Parts:
        """Return a document's parts.

        Raises:
            OpragError: There is no such document, or not all of it is there.
        """


class Library(NamedTuple):
    """Documents to search and to read."""

    vectorstore: VectorStore
    """Their chunks."""
    texts: Texts
    """What was split, character for character."""
    space: str = "cosine"
    """How the index measures distance, as Chroma calls it."""
    sign: Callable[[], object] = str
    """Returns something else when somebody has written to the index."""
    opened_at: object = ""
    """What it returned when the library was opened."""

    def is_outdated(self) -> bool:
        """Whether somebody has written to the index since."""
        return self.sign() != self.opened_at


def _manifest_sign(path: Path) -> object:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


class FileTexts:
    """Texts of files, as they were when they were indexed."""

    def __init__(self, texts: Iterable[FileText]) -> None:
        self._parts: dict[str, dict[str, str]] = {}
        for each in texts:
            page = "" if each.page is None else named_part(each.metadata, each.page)
            self._parts.setdefault(each.source, {})[page] = each.text

    def names(self) -> Iterable[str]:
        """In reading order."""
        return self._parts

    def parts(self, name: str) -> Parts:
        """Return a file's text, or its pages."""
        return self._parts[_only(name, self._parts)]


class StoredTexts:
    """Texts put together from the chunks of a store, where they prove to be whole."""

    def __init__(self, store: ChunkStore) -> None:
        from oprag.positions import document_name

        self._store = store
        found = (document_name(chunk.metadata) for chunk in store.read())
        self._names = sorted({name for name in found if name})

    def names(self) -> Iterable[str]:
        """Sorted."""
        return self._names

    def parts(self, name: str) -> Parts:
        """Put a document together; refused where that is not proved to be exact."""
        from oprag.documents import rebuild
        from oprag.metadata import document_key

        name = _only(name, self._names)
        chunks = [*self._store.read({document_key(name): None})]
        texts = rebuild(name, chunks, where=self._store.name).parts
        named: dict[int, str] = {}
        for chunk in chunks:
            part = chunk.metadata.get(PART_INDEX)
            if part is not None:
                named.setdefault(int(part), named_part(chunk.metadata, int(part)))
        labels = [named[part] for part in sorted(named)] or [""]
        return dict(zip(labels, texts, strict=True))


def _only(name: str, names: Collection[str]) -> str:
    """Return the one document that has this name, or whose path ends in it."""
    ends = [each for each in names if each.replace("\\", "/").endswith(f"/{name}")]
    if name in names:
        return name
    if len(ends) == 1:
        return ends[0]
    raise unknown_document(name)


def unknown_document(name: str) -> DocumentNotFoundError:
    """Return the error for a name that no document has."""
    message = f"There is no document {name!r}. The tool `documents` lists their names."
    return DocumentNotFoundError(message, document=name)


def open_library(
    path: Path,
    embeddings: SentenceTransformerEmbeddings,
    *,
    collection: str,
    folder: Path,
    told: Told,
    console: Console,
) -> Library:
    """Open a Chroma directory as it is, or index files and keep their texts.

    Args:
        path: A Chroma directory, a file or a folder. Of a folder nothing is read that
            a link in it leads out of it to.
        embeddings: The model; of a Chroma directory the one it was made with.
        collection: The collection of a Chroma directory; empty for the only one.
        folder: Where indexes of files are kept.
        told: As `index_documents` takes it for `show_progress`.
        console: Where it is told what is read.

    Raises:
        OpragError: Nothing can be read, or it cannot be indexed.
        OSError: The index cannot be written.
        typer.Exit: The Chroma directory cannot be opened; why was told.
    """
    from chromadb.api.shared_system_client import SharedSystemClient

    from oprag.cli.index import as_documents, open_chroma, open_index
    from oprag.cli.index_telling import failed_line
    from oprag.cli.searching import index_label, read_told

    # Chroma keeps what it has read of a directory, whoever writes to it.
    SharedSystemClient.clear_system_cache()
    if (path / DATABASE).is_file():
        from langchain_oprag import chunk_store
        from oprag.cli.chroma_directory import open_directory

        opened = open_directory(path, collection or None)
        sign = opened.sign
        written = sign()
        store = open_chroma(
            path, embeddings, opened.name, create_collection_if_not_exists=False
        )
        texts = StoredTexts(chunk_store(store))
        return Library(store, texts, opened.space, sign, written)
    read = read_told([path], console, links_out=False).texts
    label = index_label([path], embeddings.name)
    index = open_index(label, as_documents(read), embeddings, folder=folder, told=told)
    for failed in index.report.failed:
        note(f"Not indexed: {failed_line(failed)}")
    console.print(f"Index: {index.chunks:,} chunks", soft_wrap=True)
    sign = partial(_manifest_sign, folder / f"{label}.json")
    return Library(index.vectorstore, FileTexts(read), "cosine", sign, sign())
