"""Examines a LangChain vector store, or documents that were retrieved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from langchain_oprag._convert import make_hits
from langchain_oprag.documents import SourceLike, document_source
from langchain_oprag.stores import chunk_store
from oprag.chunk import Hit
from oprag.diagnosing import Diagnosis
from oprag.diagnosing import diagnose as diagnose_chunks
from oprag.positions import DocumentKey, PositionKeys
from oprag.stores import ChunkStore, StoredChunk


def diagnose(
    vectorstore: VectorStore | ChunkStore | Sequence[Document],
    *,
    documents: SourceLike | None = None,
    sample: int | None = None,
    position_keys: PositionKeys | None = None,
    document_key: DocumentKey | None = None,
) -> Diagnosis:
    """Say whether an index can be put in document order, and list its problems.

    Nothing is written. To repair a Chroma index: `oprag doctor --repair`; others are
    indexed again, or written to with `oprag.diagnosing.plan_repair`.

    Args:
        vectorstore: A vector store whose chunks can be read (see
            `langchain_oprag.chunk_store`), or documents that a retriever returned or a
            splitter made.
        documents: The full texts, to prove every position; see `document_source`.
        sample: How many of the first chunks to look at; None for all.
        position_keys: As `OrderPreservingRetriever` takes them.
        document_key: As `OrderPreservingRetriever` takes it.

    Returns:
        The diagnosis, see `oprag.diagnosing.Diagnosis`.

    Raises:
        InvalidOptionError: The store's chunks cannot be read, or an option has no
            such value.
    """
    chunks: Iterable[StoredChunk | Hit]
    total: Callable[[], int | None] | None = None
    if isinstance(vectorstore, Sequence) and not isinstance(vectorstore, str):
        chunks = make_hits(vectorstore)
    else:
        store = chunk_store(vectorstore)
        chunks, total = store.read(), store.count
    return diagnose_chunks(
        chunks,
        documents=None if documents is None else document_source(documents),
        sample=sample,
        total=total,
        position_keys=position_keys,
        document_key=document_key,
    )
