"""Chroma indexes on disk, kept in step with files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chromadb.config import Settings
from chromadb.errors import ChromaError, InvalidArgumentError
from langchain_chroma import Chroma
from langchain_core.documents import Document

from langchain_oprag import OffsetSentenceSplitter, index_documents
from oprag.errors import IndexingError
from oprag.files import FilesRead, FileText, Landmark, landmarks_of
from oprag.indexing import IndexingReport, RemoveMissing, ShowProgress
from oprag.metadata import CHAR_END, CHAR_START
from oprag_cli.chroma_directory import DATABASE, chosen_collection
from oprag_cli.embedding_models import SentenceTransformerEmbeddings

COLLECTION = "oprag"
COLLECTION_METADATA = {"hnsw:space": "cosine", "hnsw:M": 64}
"""Settings by which Chroma searches a collection made here: 64 neighbours a chunk.

With its own 16, one to four of a hundred small collections had a chunk that no search
found again (chromadb 1.5.9). They had been added to after a search.
"""
_FORMAT = 4
"""Raised when the way an index is made changes, so that old ones are not used."""

_BATCH = 64
"""Chunks embedded and written at once, between two reports of progress."""

_PROBE = "In the beginning the author put the end at the end."
"""Embedded to see whether a model of the same name still is the same model."""


class Index(NamedTuple):
    """Chunks in a vector store, ready to be searched."""

    vectorstore: Chroma
    chunks: int
    """The number of chunks in it."""
    report: IndexingReport
    """The work that was needed."""
    path: Path
    """The Chroma directory."""
    collection: str

    @property
    def reused(self) -> bool:
        """Whether it was there already, and unchanged."""
        return not (self.report.chunks_added or self.report.chunks_deleted)


def index_label(names: Iterable[str], embeddings: Any = None) -> str:
    """Return a name of an index: the same for the same files, whatever they hold.

    Args:
        names: The files that are indexed.
        embeddings: The model that embeds them; None if the label is for any model. The
            label depends on the model's vectors too, and not on its name alone.
    """
    facts: list[Any] = [_FORMAT, sorted(names)]
    if embeddings is not None:
        probe = embeddings.embed_query(_PROBE)
        facts += [embeddings.name, [round(number, 2) for number in probe]]
    hashed = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    return f"files-{hashed[:16]}"


def index_path(folder: Path, label: str) -> Path:
    """Return the path at which the commands keep the index of a label."""
    return folder / f"{label}.chroma"


def own_index(
    names: Iterable[str],
    read: FilesRead,
    embeddings: SentenceTransformerEmbeddings,
    *,
    folder: Path,
    show_progress: ShowProgress = False,
) -> Index:
    """Bring the index that the commands keep of files up to date.

    It is in `folder`, one for each list of `names`, by which the files were named.

    Raises:
        OSError: It cannot be written, or is damaged.
        IndexingError: See `index_documents`.
    """
    label = index_label(names, embeddings)
    folder.mkdir(parents=True, exist_ok=True)
    return update(
        index_path(folder, label),
        read,
        embeddings,
        scope=label,
        remove_missing="all",
        collection=COLLECTION,
        show_progress=show_progress,
    )


def update(
    path: Path,
    read: FilesRead,
    embeddings: SentenceTransformerEmbeddings,
    *,
    scope: str,
    remove_missing: RemoveMissing,
    collection: str = "",
    show_progress: ShowProgress = False,
) -> Index:
    """Bring a Chroma directory up to date with files.

    Args:
        path: The directory; made if it is missing.
        read: The files. The chunks of files that were skipped stay; an empty file
            counts as missing.
        embeddings: The model that everything in it is embedded with.
        scope: A name for the source of the files.
        remove_missing: See `index_documents`.
        collection: Made if it is missing; empty for the one that is there, or
            `COLLECTION`.
        show_progress: See `index_documents`.

    Raises:
        typer.Exit: With code 2, there are several collections and none is named.
        OSError: Chroma cannot open or write it.
        IndexingError: See `index_documents`.
    """
    if not collection and (path / DATABASE).is_file():
        collection = chosen_collection(path, may_be_empty=True)
    collection = collection or COLLECTION
    try:
        store = open_chroma(path, embeddings, collection)
        report = index_documents(
            list_for_index(read),
            store,
            splitter=FileSplitter(),
            scope=scope,
            remove_missing=remove_missing,
            unsupported_metadata="drop",
            batch_size=_BATCH,
            show_progress=show_progress,
        )
        chunks = len(store.get(include=[])["ids"])
    except (ChromaError, IndexingError) as error:
        cause = error.__cause__ if isinstance(error, IndexingError) else error
        if not isinstance(cause, ChromaError):
            raise
        message = f"Chroma cannot read or write {path}: {cause}"
        if not isinstance(cause, InvalidArgumentError):  # then the index is unchanged
            message += ". If the index is damaged, delete this folder, and index again."
        raise OSError(message) from error
    return Index(store, chunks, report, path, collection)


def open_chroma(
    path: Path, embeddings: Any, collection: str = COLLECTION, **how: Any
) -> Chroma:
    """Open a collection in a Chroma directory, or make it."""
    return Chroma(
        collection,
        embeddings,
        persist_directory=str(path),
        client_settings=Settings(anonymized_telemetry=False),
        collection_metadata=COLLECTION_METADATA,
        **how,
    )


def list_for_index(read: FilesRead) -> list[Any]:
    """Return files as `index_documents` takes them, those that are no text as well."""
    given: list[Any] = make_documents(read.texts)
    given += [Document("", metadata={"source": name}) for name in read.empty]
    given += [error for error in read.skipped if error.path not in read.empty]
    return given


def make_documents(texts: Sequence[FileText]) -> list[Document]:
    """Return the texts as LangChain's documents, one per page."""
    return [
        FileDocument(
            page_content=each.text, metadata=each.metadata, landmarks=each.landmarks
        )
        for each in texts
    ]


class FileDocument(Document):
    """The text of a file with the landmarks that its places are named by."""

    landmarks: tuple[Landmark, ...] = ()


class FileSplitter(OffsetSentenceSplitter):
    """Cuts texts of files; each chunk says its heading, rows or time."""

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """Split documents; see `OffsetSentenceSplitter.split_documents`."""
        given = list(documents)
        known = {
            _part_of(each): each.landmarks
            for each in given
            if isinstance(each, FileDocument)
        }
        chunks = super().split_documents(given)
        for chunk in chunks:
            place = chunk.metadata[CHAR_START], chunk.metadata[CHAR_END]
            landmarks = known.get(_part_of(chunk), ())
            chunk.metadata.update(landmarks_of(landmarks, *place))
        return chunks


def _part_of(document: Document) -> tuple[Any, Any]:
    return document.metadata.get("source"), document.metadata.get("page")
