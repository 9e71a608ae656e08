"""Models loaded and documents indexed, with progress told on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.documents import Document
from rich.console import Console

from langchain_oprag import OffsetSentenceSplitter
from oprag.cli.embedding_models import (
    SentenceTransformerEmbeddings,
    load_embedding_model,
    packaged_weights,
)
from oprag.cli.index import Index, open_index
from oprag.cli.progress import progress_bar, working


def load_model(name: str, console: Console) -> SentenceTransformerEmbeddings:
    """Load an embedding model by name and tell where it came from.

    Args:
        name: See `load_embedding_model`, as for the errors.
        console: Where that is told.
    """
    with working(console, "Loading the embedding model …"):
        embeddings = load_embedding_model(name, packaged=packaged_weights())
    console.print(f"Embedding model: {name}, from {embeddings.origin}", soft_wrap=True)
    return embeddings


def index_documents(
    documents: Sequence[Document],
    embeddings: SentenceTransformerEmbeddings,
    *,
    label: str,
    folder: Path,
    console: Console,
) -> Index:
    """Split documents into whole sentences of at most 100 tokens and index them.

    Args:
        documents: With their names in the metadata (`source`).
        embeddings: The model.
        label: Tells indexes in one folder apart; letters, digits and hyphens.
        folder: Where the index is kept; see `open_index`.
        console: Where progress is told.

    Raises:
        OSError: The folder cannot be written to.
        SentenceDataError: No trained sentence model is installed.
    """
    with working(console, "Splitting the text …"):
        chunks = OffsetSentenceSplitter().split_documents(documents)
    with progress_bar(console, "Indexing", len(chunks)) as report:
        index = open_index(label, chunks, embeddings, folder=folder, on_progress=report)
    how = "used again from" if index.reused else "now kept in"
    console.print(f"Index: {index.chunks:,} chunks, {how} {folder}", soft_wrap=True)
    return index
