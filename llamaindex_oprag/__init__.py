"""Order-preserving RAG for LlamaIndex.

A postprocessor and a retriever that hand the retrieved nodes on in the order of
their documents, within a token budget; two node parsers whose offsets are exact; a
query engine that reads the full documents when the nodes do not hold the answer; a
retriever of long units, and a synthesizer that reads them in two calls; a tool for
agents that search several times.
All algorithms are in `oprag`; this package only adapts them to LlamaIndex's classes.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from oprag import _lazy
from oprag.optional import require as _require

_require(
    "llama_index.core",
    extra="llamaindex",
    purpose="llamaindex_oprag",
    at_least="0.14.18",
)

# ruff: noqa: E402 -- the modules below import the framework that is checked above
from llamaindex_oprag.postprocessors import OrderPreservingPostprocessor, order_nodes
from llamaindex_oprag.retrievers import OrderPreservingRetriever

if _TYPE_CHECKING:
    from llamaindex_oprag.annotator import PositionAnnotator
    from llamaindex_oprag.citations import acited, cited
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
    "acited",
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
    "order_nodes",
]

# Importing all of them takes a while.
__getattr__, __dir__ = _lazy(
    __name__,
    annotator=("PositionAnnotator",),
    citations=("acited", "cited"),
    diagnosis=("diagnose",),
    documents=("document_source",),
    indexing=("aindex_documents", "index_documents"),
    long_reader=("LongReaderSynthesizer",),
    long_units=("LongUnitRetriever",),
    node_parsers=("OffsetSentenceNodeParser", "OffsetTokenNodeParser"),
    reading_tools=("create_reading_tools",),
    results=("as_nodes", "as_passages", "format_nodes"),
    self_route=("SelfRouteQueryEngine",),
    stores=("chunk_store",),
    tools=("OrderPreservingRetrieverTool",),
)
