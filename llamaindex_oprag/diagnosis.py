"""Examines a LlamaIndex index or store, or nodes that were retrieved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from llama_index.core.schema import BaseNode, NodeWithScore

from llamaindex_oprag._convert import make_hits
from llamaindex_oprag.documents import SourceLike, source_or_none
from llamaindex_oprag.stores import StoreLike, chunk_store
from oprag.chunk import Hit
from oprag.diagnosing import Diagnosis
from oprag.diagnosing import diagnose as diagnose_chunks
from oprag.positions import DocumentKey, PositionKeys
from oprag.stores import StoredChunk


def diagnose(
    index_or_store: StoreLike | Sequence[BaseNode | NodeWithScore],
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
        index_or_store: An index or a store that `llamaindex_oprag.chunk_store` takes,
            or nodes that a retriever returned or a node parser made.
        documents: The full texts, to prove every position; see `document_source`.
        sample: How many of the first chunks to look at; None for all.
        position_keys: As `OrderPreservingPostprocessor` takes them.
        document_key: As `OrderPreservingPostprocessor` takes it.

    Returns:
        The diagnosis, see `oprag.diagnosing.Diagnosis`.

    Raises:
        InvalidOptionError: The store's chunks cannot be read, or an option has no
            such value.
    """
    chunks: Iterable[StoredChunk | Hit]
    total: Callable[[], int | None] | None = None
    if isinstance(index_or_store, Sequence) and not isinstance(index_or_store, str):
        chunks = make_hits(index_or_store, BaseNode)
    else:
        store = chunk_store(index_or_store)
        chunks, total = store.read(), store.count
    return diagnose_chunks(
        chunks,
        documents=source_or_none(documents),
        sample=sample,
        total=total,
        position_keys=position_keys,
        document_key=document_key,
    )
