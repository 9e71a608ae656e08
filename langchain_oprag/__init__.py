"""Order-preserving retrieval for LangChain.

Wrap a retriever or a vector store in `OrderPreservingRetriever`, or put
`OrderPreservingCompressor` after any retriever: the model then reads the chunks in
the order the author wrote them. The methods are in `oprag`; here is no algorithm.
"""

from typing import TYPE_CHECKING, Any

from oprag.optional import require as _require

_require("langchain_core", extra="langchain", purpose="langchain_oprag")

# ruff: noqa: E402 -- the modules below import the framework that is checked above
from langchain_oprag.annotating import annotate_positions
from langchain_oprag.compressors import OrderPreservingCompressor
from langchain_oprag.retrievers import OrderPreservingRetriever

if TYPE_CHECKING:
    from langchain_oprag.splitters import OffsetSentenceSplitter, OffsetTokenSplitter

__all__ = [
    "OffsetSentenceSplitter",
    "OffsetTokenSplitter",
    "OrderPreservingCompressor",
    "OrderPreservingRetriever",
    "annotate_positions",
]

_SPLITTERS = ("OffsetSentenceSplitter", "OffsetTokenSplitter")


def __getattr__(name: str) -> Any:
    """Import the splitters when they are used: only they need text-splitters."""
    if name not in _SPLITTERS:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from langchain_oprag import splitters

    return getattr(splitters, name)
