"""Order-preserving RAG: retrieved chunks, back in the order the author wrote them.

The framework-free core. `langchain_oprag` and `llamaindex_oprag` fit it into
LangChain and LlamaIndex. Start reading at `oprag/ordering.py`.
"""

from oprag.chunk import Chunk, Passage, Span
from oprag.context import order_context, render
from oprag.errors import OpragError
from oprag.ordering import document_order

__all__ = [
    "Chunk",
    "OpragError",
    "Passage",
    "Span",
    "document_order",
    "order_context",
    "render",
]
