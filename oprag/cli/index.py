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
from typing import Any, NamedTuple

from chromadb.config import Settings
from chromadb.errors import ChromaError
from langchain_chroma import Chroma
from langchain_core.documents import Document
from rich.console import Console

from langchain_oprag import OffsetSentenceSplitter
from oprag.cli.embedding_models import SentenceTransformerEmbeddings
from oprag.cli.progress import progress_bar, working
from oprag.evaluation.files import FileText
from oprag.evaluation.safe_files import write_whole

_FORMAT = 1
"""Raised when the way an index is made changes, so that old ones are made anew."""

_COLLECTION = "oprag"
_BATCH = 64
"""Chunks embedded between two reports of progress."""

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
    reused: bool
    """Whether it was there already."""


def open_index(
    label: str,
    chunks: Sequence[Document],
    embeddings: SentenceTransformerEmbeddings,
    *,
    folder: Path,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Index:
    """Open the index of these chunks, or make it.

    An index is used again while the chunks' texts and metadata, the model's name and
    what the model computes are the same, and the index is whole. Otherwise it is made
    anew in a folder of its own; the small file that says which folder counts is
    written last and at once. So a process that is killed leaves no index that is
    half used, and one that still reads the old index is not disturbed.

    Args:
        label: Tells indexes in one folder apart; letters, digits and hyphens.
        chunks: With `doc_key`, `chunk_index` and so on in the metadata, and an id
            each, as oprag's splitters make them.
        embeddings: The model.
        folder: Created where it is missing.
        on_progress: Called with the number of chunks embedded so far, from 0 on,
            when an index is made.

    Raises:
        OSError: The folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / f"{label}.json"
    fingerprint = _fingerprint(chunks, embeddings.name)
    probe = embeddings.embed_query(_PROBE)
    known = _read(manifest)
    if known.get("fingerprint") == fingerprint and _alike(known.get("probe"), probe):
        store = _open(folder / str(known.get("store")), embeddings, len(chunks))
        if store is not None:
            return Index(store, len(chunks), reused=True)
    _remove_abandoned(folder)
    path = Path(tempfile.mkdtemp(prefix=f"{label}-", suffix=".chroma", dir=folder))
    try:
        store = _build(path, chunks, embeddings, on_progress)
        facts = {"fingerprint": fingerprint, "probe": probe, "store": path.name}
        write_whole(manifest, json.dumps(facts).encode("ascii"), shared=True)
    except ChromaError as error:
        shutil.rmtree(path, ignore_errors=True)
        message = f"The index cannot be written to {folder}: {error}"
        raise OSError(message) from error
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return Index(store, len(chunks), reused=False)


def _fingerprint(chunks: Sequence[Document], model: str) -> str:
    """One hash of everything that the index is made of."""
    content = [[chunk.id, chunk.page_content, chunk.metadata] for chunk in chunks]
    facts = json.dumps([_FORMAT, model, content], sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()


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


def _open(
    path: Path, embeddings: SentenceTransformerEmbeddings, chunks: int
) -> Chroma | None:
    """The store at a path, or None if it is gone, damaged or not complete."""
    if not path.is_dir():
        return None
    try:
        store = _chroma(path, embeddings, create_collection_if_not_exists=False)
        whole = len(store.get(include=[])["ids"]) == chunks
    except ChromaError:
        return None
    return store if whole else None


def _build(
    path: Path,
    chunks: Sequence[Document],
    embeddings: SentenceTransformerEmbeddings,
    on_progress: Callable[[int], None],
) -> Chroma:
    store = _chroma(path, embeddings, collection_metadata={"hnsw:space": "cosine"})
    on_progress(0)
    for start in range(0, len(chunks), _BATCH):
        batch = list(chunks[start : start + _BATCH])
        store.add_documents(batch)
        on_progress(start + len(batch))
    return store


def _chroma(
    path: Path, embeddings: SentenceTransformerEmbeddings, **how: Any
) -> Chroma:
    return Chroma(
        _COLLECTION,
        embeddings,
        persist_directory=str(path),
        client_settings=Settings(anonymized_telemetry=False),
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
    """Split texts into whole sentences of at most 100 tokens and index them.

    Raises:
        OSError: The folder cannot be written to.
    """
    documents = [Document(each.text, metadata=each.metadata) for each in texts]
    with working(console, "Splitting the text …"):
        chunks = OffsetSentenceSplitter().split_documents(documents)
    with progress_bar(console, "Indexing", len(chunks)) as report:
        index = open_index(label, chunks, embeddings, folder=folder, on_progress=report)
    how = "used again from" if index.reused else "now kept in"
    console.print(f"Index: {index.chunks:,} chunks, {how} {folder}", soft_wrap=True)
    return index
