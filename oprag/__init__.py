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
    from oprag.positions import Place, place_of
    from oprag.splitting import split_sentences, split_tokens
    from oprag.tokens import NamedTokenCounter
    from oprag.units import group_documents

__all__ = [
    "Chunk",
    "ChunkStore",
    "NamedTokenCounter",
    "OpragError",
    "Passage",
    "Place",
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
    "place_of",
    "plan_repair",
    "render",
    "split_sentences",
    "split_tokens",
]

_NAMES = {
    "calls": ("Price",),
    "chunk": ("Chunk", "Passage", "Span"),
    "context": ("order_context", "render"),
    "diagnosing": ("diagnose", "plan_repair"),
    "documents": ("ChunkStore", "StoreSource", "StoredChunk", "document_source"),
    "errors": ("OpragError",),
    "locating": ("locate",),
    "ordering": ("document_order",),
    "positions": ("Place", "place_of"),
    "splitting": ("split_sentences", "split_tokens"),
    "tokens": ("NamedTokenCounter",),
    "units": ("group_documents",),
}


def __getattr__(name: str) -> Any:
    """Import a name when it is used: a program waits only for the rooms it needs."""
    for module, names in _NAMES.items():
        if name in names:
            return getattr(_importlib.import_module(f"{__name__}.{module}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
