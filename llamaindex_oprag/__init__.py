"""Order-preserving RAG for LlamaIndex.

A postprocessor and a retriever that hand the retrieved nodes on in the order of
their documents, within a token budget; two node parsers whose offsets are exact; a
query engine that reads the full documents when the nodes do not hold the answer; a
retriever of long units, and a synthesizer that reads them in two calls; a tool for
agents that search several times.
All methods are in `oprag`; here they only meet LlamaIndex's classes.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from oprag.optional import require as _require
from oprag.optional import require_version as _require_version

_require_version(
    _require(
        "llama_index.core", extra="llamaindex", purpose="llamaindex_oprag"
    ).__version__,
    "0.14.18",
    framework="llama-index-core",
    extra="llamaindex",
)

# ruff: noqa: E402 -- the modules below import the framework that is checked above
from llamaindex_oprag.postprocessors import OrderPreservingPostprocessor
from llamaindex_oprag.retrievers import OrderPreservingRetriever

if _TYPE_CHECKING:
    from llamaindex_oprag.annotator import PositionAnnotator
    from llamaindex_oprag.citations import cited
    from llamaindex_oprag.diagnosis import diagnose
    from llamaindex_oprag.documents import document_source
    from llamaindex_oprag.indexing import aindex_documents, index_documents
    from llamaindex_oprag.long_reader import LongReaderSynthesizer
    from llamaindex_oprag.long_units import LongUnitRetriever
    from llamaindex_oprag.node_parsers import (
        OffsetSentenceNodeParser,
        OffsetTokenNodeParser,
    )
    from llamaindex_oprag.reading_tools import create_reading_tools
    from llamaindex_oprag.results import as_nodes, as_passages, format_nodes
    from llamaindex_oprag.self_route import SelfRouteQueryEngine
    from llamaindex_oprag.stores import chunk_store
    from llamaindex_oprag.tools import OrderPreservingRetrieverTool

__all__ = [
    "LongReaderSynthesizer",
    "LongUnitRetriever",
    "OffsetSentenceNodeParser",
    "OffsetTokenNodeParser",
    "OrderPreservingPostprocessor",
    "OrderPreservingRetriever",
    "OrderPreservingRetrieverTool",
    "PositionAnnotator",
    "SelfRouteQueryEngine",
    "aindex_documents",
    "as_nodes",
    "as_passages",
    "chunk_store",
    "cited",
    "create_reading_tools",
    "diagnose",
    "document_source",
    "format_nodes",
    "index_documents",
]

_NAMES = {
    "annotator": ("PositionAnnotator",),
    "citations": ("cited",),
    "diagnosis": ("diagnose",),
    "documents": ("document_source",),
    "indexing": ("aindex_documents", "index_documents"),
    "long_reader": ("LongReaderSynthesizer",),
    "long_units": ("LongUnitRetriever",),
    "node_parsers": ("OffsetSentenceNodeParser", "OffsetTokenNodeParser"),
    "reading_tools": ("create_reading_tools",),
    "results": ("as_nodes", "as_passages", "format_nodes"),
    "self_route": ("SelfRouteQueryEngine",),
    "stores": ("chunk_store",),
    "tools": ("OrderPreservingRetrieverTool",),
}


def __getattr__(name: str) -> _Any:
    """Import some names when they are used: all of them together take a while."""
    for module, names in _NAMES.items():
        if name in names:
            return getattr(_importlib.import_module(f"{__name__}.{module}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
