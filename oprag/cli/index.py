"""A Chroma index on disk that is used again while its content stays the same."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from chromadb.config import Settings
from chromadb.errors import ChromaError
from langchain_chroma import Chroma
from langchain_core.documents import Document
from rich.console import Console

from langchain_oprag import OffsetSentenceSplitter, index_documents
from oprag.cli.chroma_directory import only_collection
from oprag.cli.embedding_models import SentenceTransformerEmbeddings
from oprag.cli.index_telling import failed_line, in_options, quietly, tell_report
from oprag.cli.progress import indexing_bar
from oprag.cli.telling import note
from oprag.errors import IndexingError, InvalidOptionError
from oprag.files import FilesRead, FileText, write_whole
from oprag.indexing import IndexingReport, RemoveMissing, SkippedFile

_Store = TypeVar("_Store", bound=Chroma)

_FORMAT = 2
"""Raised when the way an index is made changes, so that old ones are made anew."""

COLLECTION = "oprag"
COLLECTION_METADATA = {"hnsw:space": "cosine", "hnsw:M": 64}
"""How Chroma searches a collection that is made here: with 64 neighbours of a chunk.

With its own 16, of a hundred small collections that were added to after a search one to
four had a chunk that no search found again (chromadb 1.5.9).
"""
_BATCH = 64
"""Chunks embedded and written at once, between two reports of progress."""

_PROBE = "In the beginning the author put the end at the end."
"""Embedded to tell whether a model of the same name still is the same model."""

_SAME = 0.999
"""Cosine similarity from which two vectors of the probe are the same."""

_ABANDONED = 24 * 60 * 60
"""Seconds after which a store that nothing refers to is taken to be abandoned."""


class Index(NamedTuple):
    """Chunks in a vector store, ready to be searched."""

    vectorstore: Chroma
    chunks: int
    """How many chunks it holds."""
    report: IndexingReport
    """What had to be done."""
    path: Path
    """The Chroma directory."""
    collection: str = COLLECTION
    """Its collection."""

    @property
    def reused(self) -> bool:
        """Whether it was there already, as it is."""
        return not (self.report.chunks_added or self.report.chunks_deleted)


def open_index(
    label: str,
    documents: Sequence[Document],
    embeddings: SentenceTransformerEmbeddings,
    *,
    folder: Path,
    told: Callable[[int, int | None, int], None] | bool = False,
) -> Index:
    """Open the index of these documents, brought up to date.

    While the documents, the model's name and what the model computes are the same,
    the index is used as it is. What changed of the documents is indexed anew and what
    is missing goes, as `index_documents` does it, also after a run that was stopped.
    Of another model, or where the index is damaged, it is made anew, in a folder of
    its own: a process that still reads the old one is not disturbed. The small file
    that says which folder counts is written at once.

    Args:
        label: Tells indexes in one folder apart; letters, digits and hyphens.
        documents: Named by `source`; the pages of one follow one another.
        embeddings: The model.
        folder: Created where it is missing.
        told: As `index_documents` takes it for `show_progress`.

    Raises:
        OSError: The folder cannot be written to.
        IndexingError: See `index_documents`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / f"{label}.json"
    known = _read(manifest)
    probe = embeddings.embed_query(_PROBE)
    facts: dict[str, Any] = {"model": embeddings.name, "probe": probe}
    fingerprint = _fingerprint(documents, embeddings.name)
    path = folder / str(known.get("store"))
    chunks = known.get("chunks", -1)
    alike = known.get("model") == facts["model"]
    alike = alike and _alike(known.get("probe"), probe)
    store = _open(path, embeddings) if alike else None
    same = known.get("fingerprint") == fingerprint
    if store is not None and same and _count(store) == chunks:
        names = dict.fromkeys(str(each.metadata["source"]) for each in documents)
        report = IndexingReport(unchanged=tuple(names), chunks_unchanged=chunks)
        return Index(store, chunks, report, path)
    _remove_abandoned(folder)
    try:
        if store is None:
            made = tempfile.mkdtemp(prefix=f"{label}-", suffix=".chroma", dir=folder)
            path = Path(made)
            store = open_chroma(path, embeddings)
        # What is done of it counts: if this is stopped, the next run goes on. And who
        # reads it sees that it changes.
        _write(manifest, {**facts, "store": path.name})
        report = fill(store, documents, remove_missing="all", told=told)
        chunks = _count(store)
        facts |= {"fingerprint": fingerprint if not report.failed else ""}
        _write(manifest, {**facts, "store": path.name, "chunks": chunks})
    except (ChromaError, IndexingError) as error:
        cause = error.__cause__ if isinstance(error, IndexingError) else error
        if not isinstance(cause, ChromaError):
            raise
        # It cannot be read or written: the next run makes it anew.
        manifest.unlink(missing_ok=True)
        shutil.rmtree(path, ignore_errors=True)
        message = f"The index cannot be written to {folder}: {cause}"
        raise OSError(message) from error
    return Index(store, chunks, report, path)


def fill(
    store: Chroma,
    documents: Sequence[Document],
    *,
    remove_missing: RemoveMissing,
    told: Callable[[int, int | None, int], None] | bool,
    scope: str | None = None,
) -> IndexingReport:
    """Bring a store up to date: whole sentences of at most 100 tokens in a chunk."""
    with quietly():
        return index_documents(
            documents,
            store,
            splitter=OffsetSentenceSplitter(),
            scope=scope,
            remove_missing=remove_missing,
            unsupported_metadata="drop",
            batch_size=_BATCH,
            show_progress=told,
        )


def _fingerprint(documents: Sequence[Document], model: str) -> str:
    """One hash of everything that the index is made of."""
    content = [[each.page_content, each.metadata] for each in documents]
    facts = json.dumps([_FORMAT, model, content], sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()


def _write(manifest: Path, facts: dict[str, Any]) -> None:
    write_whole(manifest, json.dumps(facts).encode("ascii"), shared=True)


def _alike(known: Any, probe: list[float]) -> bool:
    """Whether two vectors point the same way, rounding aside."""
    if not isinstance(known, list) or len(known) != len(probe):
        return False
    product = math.fsum(a * b for a, b in zip(known, probe, strict=True))
    return product >= _SAME * math.hypot(*known) * math.hypot(*probe)


def _read(manifest: Path) -> dict[str, Any]:
    try:
        facts = json.loads(manifest.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _open(path: Path, embeddings: SentenceTransformerEmbeddings) -> Chroma | None:
    """The store at a path, or None if it is gone or damaged."""
    if not path.is_dir():
        return None
    try:
        store = open_chroma(path, embeddings, create_collection_if_not_exists=False)
        _count(store)
    except ChromaError:
        return None
    return store


def _count(store: Chroma) -> int:
    return len(store.get(include=[])["ids"])


def open_chroma(
    path: Path,
    embeddings: SentenceTransformerEmbeddings,
    collection: str = COLLECTION,
    **how: Any,
) -> Chroma:
    """Open a collection in a Chroma directory, or make it."""
    return open_as(Chroma, path, embeddings, collection, **how)


def open_as(
    kind: type[_Store],
    path: Path,
    embeddings: SentenceTransformerEmbeddings,
    collection: str,
    **how: Any,
) -> _Store:
    """Do the same with a subclass of the store."""
    return kind(
        collection,
        embeddings,
        persist_directory=str(path),
        client_settings=Settings(anonymized_telemetry=False),
        collection_metadata=COLLECTION_METADATA,
        **how,
    )


def _remove_abandoned(folder: Path) -> None:
    """Remove stores that no file refers to: replaced, or left by a killed process.

    Only after a day: another process may be reading or making one right now.
    """
    counted = {_read(manifest).get("store") for manifest in folder.glob("*.json")}
    before = time.time() - _ABANDONED
    for path in folder.glob("*.chroma"):
        if path.name not in counted and path.stat().st_mtime < before:
            shutil.rmtree(path, ignore_errors=True)


def index_texts(
    texts: Sequence[FileText],
    embeddings: SentenceTransformerEmbeddings,
    *,
    label: str,
    folder: Path,
    console: Console,
) -> Index:
    """Open the index of these texts, brought up to date; see `open_index`.

    Raises:
        OSError: The folder cannot be written to.
        IndexingError: See `index_documents`.
    """
    with indexing_bar(console) as told:
        index = open_index(
            label, as_documents(texts), embeddings, folder=folder, told=told
        )
    for failed in index.report.failed:
        note(f"Not indexed: {failed_line(failed)}")
    how = "used again from" if index.reused else "now kept in"
    console.print(f"Index: {index.chunks:,} chunks, {how} {folder}", soft_wrap=True)
    return index


def index_into(
    path: Path,
    collection: str,
    read: FilesRead,
    embeddings: SentenceTransformerEmbeddings,
    *,
    scope: str,
    remove_missing: RemoveMissing,
    console: Console,
) -> Index:
    """Bring a Chroma directory of the user's up to date with files.

    Args:
        path: The directory; made where it is missing.
        collection: Made where it is missing; empty for the one that is there, or
            `COLLECTION`.
        read: The files. What is stored of those that were skipped stays; an empty one
            counts as missing.
        embeddings: The model that everything in it is embedded with.
        scope: Name of where the files come from.
        remove_missing: See `index_documents`.
        console: Where it is told how far it is.

    Raises:
        typer.Exit: With code 2, there are several collections and none is named.
        OSError: Chroma cannot open or write it.
        IndexingError: See `index_documents`.
    """
    if not collection and (path / "chroma.sqlite3").is_file():
        collection = only_collection(path) or COLLECTION
    collection = collection or COLLECTION
    try:
        store = open_chroma(path, embeddings, collection)
        with indexing_bar(console) as told:
            report = fill(
                store,
                to_index(read),
                remove_missing=remove_missing,
                told=told,
                scope=scope,
            )
        chunks = _count(store)
    except ChromaError as error:
        message = f"Chroma cannot open or write {path}: {error}"
        raise OSError(message) from error
    except (IndexingError, InvalidOptionError) as error:
        error.message = in_options(error.message)
        raise
    tell_report(report, str(path))
    return Index(store, chunks, report, path, collection)


def to_index(read: FilesRead) -> list[Any]:
    """Return files as `index_documents` takes them, those that are no text as well."""
    given: list[Any] = as_documents(read.texts)
    given += [Document("", metadata={"source": name}) for name in read.empty]
    given += [
        SkippedFile(error.path, error)
        for error in read.skipped
        if error.path not in read.empty
    ]
    return given


def as_documents(texts: Sequence[FileText]) -> list[Document]:
    """Return the texts as LangChain's documents, one per page."""
    return [Document(each.text, metadata=each.metadata) for each in texts]
