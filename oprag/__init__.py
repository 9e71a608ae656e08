"""Order-preserving RAG: retrieved chunks, back in the order the author wrote them.

The framework-free core. `langchain_oprag` and `llamaindex_oprag` fit it into
LangChain and LlamaIndex. Start reading at `oprag/ordering.py`.
"""

from __future__ import annotations

import importlib as _importlib

TYPE_CHECKING = False  # `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from oprag.calls import Price
    from oprag.chunk import Chunk, Passage, Span
    from oprag.context import order_context, render
    from oprag.diagnosing import diagnose, plan_repair
    from oprag.documents import ChunkStore, StoredChunk, StoreSource, document_source
    from oprag.errors import OpragError
    from oprag.locating import locate
    from oprag.ordering import document_order
    from oprag.splitting import split_sentences, split_tokens
    from oprag.tokens import NamedTokenCounter
    from oprag.units import group_documents

__all__ = [
    "Chunk",
    "ChunkStore",
    "NamedTokenCounter",
    "OpragError",
    "Passage",
    "Price",
    "Span",
    "StoreSource",
    "StoredChunk",
    "diagnose",
    "document_order",
    "document_source",
    "group_documents",
    "locate",
    "order_context",
    "plan_repair",
    "render",
    "split_sentences",
    "split_tokens",
]

_LAZY = {
    "Chunk": "chunk",
    "ChunkStore": "documents",
    "NamedTokenCounter": "tokens",
    "OpragError": "errors",
    "Passage": "chunk",
    "Price": "calls",
    "Span": "chunk",
    "StoreSource": "documents",
    "StoredChunk": "documents",
    "diagnose": "diagnosing",
    "document_order": "ordering",
    "document_source": "documents",
    "group_documents": "units",
    "locate": "locating",
    "order_context": "context",
    "plan_repair": "diagnosing",
    "render": "context",
    "split_sentences": "splitting",
    "split_tokens": "splitting",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is used: whoever needs one room waits for no other."""
    if name not in _LAZY:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(_importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    globals()[name] = value  # so that this is asked once
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
