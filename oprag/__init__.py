"""Order-preserving RAG: retrieved chunks, back in the order the author wrote them.

The framework-free core. `langchain_oprag` and `llamaindex_oprag` fit it into
LangChain and LlamaIndex. Start reading at `oprag/ordering.py`.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys

TYPE_CHECKING = False  # importing `typing` takes longer than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from oprag.calls import Price
    from oprag.chunk import Chunk, Passage, Span
    from oprag.context import order_context, render
    from oprag.diagnosing import diagnose, plan_repair
    from oprag.documents import StoreSource, document_source
    from oprag.errors import OpragError
    from oprag.locating import locate
    from oprag.ordering import document_order
    from oprag.positions import Place, place_of
    from oprag.splitting import split_sentences, split_tokens
    from oprag.stores import ChunkStore, StoredChunk
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


def _lazy(
    package: str, **modules: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package.

    Its names are given by module, and are imported when they are used.
    """

    def find(name: str) -> Any:
        for module, names in modules.items():
            if name in names:
                return getattr(_importlib.import_module(f"{package}.{module}"), name)
        message = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(message)

    def list_names() -> list[str]:
        there = vars(_sys.modules[package])
        return sorted({*there, *there["__all__"]})

    return find, list_names


# A program waits only for the rooms that it needs.
__getattr__, __dir__ = _lazy(
    __name__,
    calls=("Price",),
    chunk=("Chunk", "Passage", "Span"),
    context=("order_context", "render"),
    diagnosing=("diagnose", "plan_repair"),
    documents=("StoreSource", "document_source"),
    errors=("OpragError",),
    locating=("locate",),
    ordering=("document_order",),
    positions=("Place", "place_of"),
    splitting=("split_sentences", "split_tokens"),
    stores=("ChunkStore", "StoredChunk"),
    tokens=("NamedTokenCounter",),
    units=("group_documents",),
)
